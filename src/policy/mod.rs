//! On what terms callers may use the runtime: policies, and the permission that comes of them.
//!
//! What comes after can only be done with a [`Permit`] or a [`PolicyPermit`]: forgetting to ask for
//! permission does not compile.

mod number;
mod permit;
mod policies;
mod rule;
mod store;

pub use self::number::{NotANumber, PolicyNumber};
pub use self::permit::{NotAllowed, Permit, PolicyPermit, authorize};
pub use self::policies::{Policies, Unresolved};
pub use self::rule::{FailureMode, KeyOwnership, Policy, Status, UnprotectNotAvailable, Verdict};

//! On what terms callers may use the runtime: policies, and the permission that comes of them.
//!
//! What comes after can only be done with a [`Permit`] or a [`PolicyPermit`]: forgetting to ask for
//! permission does not compile.

mod permit;
mod policies;
mod rule;
mod store;

pub use self::permit::{NotAllowed, Permit, PolicyPermit, authorize};
pub use self::policies::{Policies, Unresolved};
pub use self::rule::{
    FailureMode, KeyOwnership, NotANumber, Policy, PolicyNumber, Status, UnprotectNotAvailable,
    Verdict,
};
pub use self::store::PolicyRow;

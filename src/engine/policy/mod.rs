//! Policies, and the permits that callers get under them.
//!
//! Choosing a key and every use of it take a [`Permit`] or a [`PolicyPermit`], and only
//! [`authorize`] makes one: a handler that forgets to authorize does not compile.
//!
//! ```
//! use sealward_engine::policy::{NotAllowed, Permit, authorize, to};
//!
//! fn permit(caller: &sealward_engine::auth::Application) -> Result<Permit<to::Sign>, NotAllowed> {
//!     authorize(caller)
//! }
//! ```
//!
//! A permit has private fields:
//!
//! ```compile_fail,E0451
//! use std::marker::PhantomData;
//! use sealward_engine::policy::{Permit, to};
//!
//! fn permit(caller: sealward_engine::auth::Application) -> Permit<to::Sign> {
//!     Permit { application: caller, operation: PhantomData }
//! }
//! ```
//!
//! A permit for one operation is no permit for another:
//!
//! ```compile_fail,E0308
//! use sealward_engine::policy::{Permit, to};
//!
//! fn permit(permit: Permit<to::Verify>) -> Permit<to::Sign> {
//!     permit
//! }
//! ```

#![deny(clippy::wildcard_enum_match_arm)]

mod again;
mod allowed_services;
mod envelope_policy;
mod grounds;
mod headers;
mod opening;
mod operations;
mod permit;
mod policies;
mod rewrapping;
mod rule;
mod store;

pub use self::allowed_services::AllowedServices;
pub(crate) use self::grounds::Grounds;
pub use self::headers::EnvelopeHeaders;
pub use self::opening::OpeningPermit;
pub(crate) use self::permit::may_protect;
pub use self::permit::{NotAllowed, Permit, Permittable, PolicyPermit, authorize, to};
pub(crate) use self::policies::NotPermitted;
pub use self::policies::{Policies, Unresolved};
pub use self::rewrapping::RewrapPermit;
pub use self::rule::{
    FailureMode, KeyOwnership, Policy, PolicyRequest, PolicyStatus, UnprotectNotAvailable, Verdict,
};
pub(crate) use self::store::select_named;
pub use crate::policy_number::{NotANumber, PolicyName, PolicyNumber};

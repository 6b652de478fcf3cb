//! Who calls: from the credential in a request to a [`Caller`].
//!
//! A live API key exists in memory only while its request is being authenticated; what is kept is
//! its digest. Why a credential was refused is told to the log, never to whoever sent it.

mod authenticator;
mod caller;
mod credential;
mod identity;
mod kind;
mod last_use;
mod rate;
pub mod store;

pub use self::authenticator::{Authenticator, Denied};
pub use self::caller::{Administrator, Application, Caller, WrongKind};
pub use self::credential::{AtRest, LiveKey, Malformed};
pub use self::identity::{Identity, Refusal};
pub use self::kind::Kind;
pub use self::last_use::LastUse;
pub use self::rate::{RateLimit, Tier};

//! Authentication: from the credential in a request to a [`Caller`].
//!
//! A live API key or token is in memory only while its request is authenticated; afterwards only its
//! digest is kept, and the claims of a token. The reason for a refusal is logged and never sent to the client.

#![deny(clippy::wildcard_enum_match_arm)]

mod administrator;
mod admission;
mod authenticator;
mod caller;
mod caller_id;
mod certificates;
mod credential;
mod credentials;
mod denied;
mod directory;
mod frozen;
mod identity;
mod kind;
mod last_use;
mod matching;
pub mod oidc;
pub(crate) mod people;
mod rate;
mod rivals;
mod role;
mod sessions;
mod store;
mod stored;
mod workloads;

pub use self::administrator::Administrator;
pub use self::admission::Admission;
pub use self::authenticator::Authenticator;
pub use self::caller::{Application, Caller, Lifetime, WrongKind};
pub use self::caller_id::CallerId;
pub use self::credential::{ApiKeyDigest, ApiKeySecret, Malformed};
pub use self::credentials::{Authorization, Credentials, KeptCredentials};
pub use self::denied::Denied;
pub(crate) use self::frozen::FrozenServices;
pub use self::frozen::{EmergencySwitch, Frozen};
pub use self::identity::{CredentialRefused, Identity};
pub use self::kind::ApiKeyType;
pub use self::last_use::LastUse;
pub use self::matching::{Match, TokenRule};
pub use self::people::{ApiKeyIds, LastSeen, Person, PersonStatus, Profile, TokenKind};
pub use self::rate::{RateLimit, Tier};
pub(crate) use self::rivals::GivenUpMatch;
pub use self::role::{Role, Roles};
pub use self::sessions::{
    Check, NewSession, Resumed, SessionDigest, SessionStart, Sessions, Visit,
};
pub(crate) use self::sessions::{Session, end_of_person};
pub(crate) use self::stored::UNKNOWN_POLICY;
pub use self::stored::{
    ApiKey, ApiKeyRequest, ApiKeyStatus, BoundPolicy, Emergency, Hint, IdentityRequest,
    IdentityStatus, Limit, Networks, RateLimitRequest, Service, ServiceRequest, ServiceStatus,
    WorkloadIdentity,
};
pub use self::workloads::{Unusable, Workloads, issuer};

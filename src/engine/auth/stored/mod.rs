//! The rows of services and of the credentials that authenticate as them.

mod api_key;
mod bound_policy;
mod emergency;
mod identity;
mod networks;
mod service;
mod store;

pub use self::api_key::{ApiKey, ApiKeyRequest, ApiKeyStatus, Hint};
pub use self::bound_policy::BoundPolicy;
pub(crate) use self::bound_policy::UNKNOWN_POLICY;
pub use self::emergency::Emergency;
pub use self::identity::{IdentityRequest, IdentityStatus, WorkloadIdentity};
pub use self::networks::Networks;
pub use self::service::{Limit, RateLimitRequest, Service, ServiceRequest, ServiceStatus};

//! The runtime API.

mod batch;
mod data_key;
mod lookups;
#[cfg(test)]
mod members;
mod operations;
mod protect;
mod rewrap;
mod unprotect;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

pub use self::data_key::{DataKey, DataKeyAlgorithm};
pub use self::lookups::{
    Caller, CallerCredential, EnvelopeHeaders, Health, HealthAudit, HealthChecks, HealthDatabase,
    HealthHsm, HealthPart, HealthStatus, HealthToken, JwkSet, PolicySummary, PolicySummaryStatus,
    PublishedJwk, RateLimit,
};
#[cfg(test)]
pub(crate) use self::members::members;
pub use self::operations::{
    Cipher, Ciphertext, Data, Digest, Encrypt, HashAlgorithm, Sign, Signature, SignatureAlgorithm,
    SignatureFormat,
};
pub use self::protect::{Protected, Protection};
pub use self::rewrap::Target;
pub use self::unprotect::{Sealed, Unprotected};

/// A member that is present, `null` included.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

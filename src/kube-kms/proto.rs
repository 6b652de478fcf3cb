//! The messages and the service of the Kubernetes KMS API, generated from `kms.proto`.

use std::fmt;

#[allow(
    clippy::allow_attributes_without_reason,
    missing_debug_implementations,
    unreachable_pub,
    unused_qualifications,
    reason = "generated code"
)]
mod generated {
    tonic::include_proto!("v2");
}

pub use self::generated::*;

impl fmt::Debug for EncryptRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("EncryptRequest").field("uid", &self.uid).finish_non_exhaustive()
    }
}

impl fmt::Debug for DecryptResponse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DecryptResponse").finish_non_exhaustive()
    }
}

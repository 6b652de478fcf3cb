//! The operations: their paths, their limits, and their errors.

use engine::audit::Endpoint;
use engine::protection::VersionRefused;
use engine::settings::Limits;

/// An operation of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Encrypt,
    Decrypt,
    Rewrap,
    DataKey,
    Sign,
    Verify,
    Hmac,
    Hash,
}

impl Operation {
    pub(crate) const ALL: [Self; 8] = [
        Self::Encrypt,
        Self::Decrypt,
        Self::Rewrap,
        Self::DataKey,
        Self::Sign,
        Self::Verify,
        Self::Hmac,
        Self::Hash,
    ];

    /// The operation with this name in paths.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Rewrap => "rewrap",
            Self::DataKey => "datakey",
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::Hmac => "hmac",
            Self::Hash => "hash",
        }
    }

    /// The path as a template.
    pub(crate) const fn template(self) -> &'static str {
        match self {
            Self::Encrypt => "/v1/{mount}/encrypt/{name}",
            Self::Decrypt => "/v1/{mount}/decrypt/{name}",
            Self::Rewrap => "/v1/{mount}/rewrap/{name}",
            Self::DataKey => "/v1/{mount}/datakey/{form}/{name}",
            Self::Sign => "/v1/{mount}/sign/{name}",
            Self::Verify => "/v1/{mount}/verify/{name}",
            Self::Hmac => "/v1/{mount}/hmac/{name}",
            Self::Hash => "/v1/{mount}/hash",
        }
    }

    /// The endpoint in audit records.
    pub(crate) const fn endpoint(self) -> Endpoint {
        match self {
            Self::Encrypt => Endpoint::TransitEncrypt,
            Self::Decrypt => Endpoint::TransitDecrypt,
            Self::Rewrap => Endpoint::TransitRewrap,
            Self::DataKey => Endpoint::TransitDataKey,
            Self::Sign => Endpoint::TransitSign,
            Self::Verify => Endpoint::TransitVerify,
            Self::Hmac => Endpoint::TransitHmac,
            Self::Hash => Endpoint::TransitHash,
        }
    }

    /// Whether it opens or verifies what another operation made.
    const fn is_opening(self) -> bool {
        match self {
            Self::Decrypt | Self::Rewrap | Self::Verify => true,
            Self::Encrypt | Self::DataKey | Self::Sign | Self::Hmac | Self::Hash => false,
        }
    }

    /// The maximum size of a body, with several operations or one.
    pub(crate) fn longest_body(self, limits: &Limits) -> usize {
        let several = match self.is_opening() {
            true => limits.opening_batch_bytes(),
            false => limits.max_batch_bytes,
        };
        several.max(self.longest_item(limits))
    }

    /// The maximum size of one operation in a body.
    pub(crate) fn longest_item(self, limits: &Limits) -> usize {
        if self.is_opening() { limits.envelope_bytes() } else { limits.max_body_bytes }
    }

    /// Whether a failed item of several fails the request.
    pub(crate) const fn fails_with_items(self) -> bool {
        matches!(self, Self::Encrypt | Self::Decrypt)
    }

    pub(crate) const fn key_not_found(self) -> &'static str {
        match self {
            Self::Encrypt | Self::Decrypt | Self::Rewrap | Self::DataKey | Self::Hmac => {
                "encryption key not found"
            }
            Self::Sign => "signing key not found",
            Self::Verify => "signature verification key not found",
            Self::Hash => "key not found",
        }
    }

    /// The error of a key of this type.
    pub(crate) fn unsupported(self, key_type: &str) -> String {
        match self {
            Self::Encrypt | Self::DataKey => {
                format!("message encryption not supported for key type {key_type}")
            }
            Self::Decrypt | Self::Rewrap => {
                format!("message decryption not supported for key type {key_type}")
            }
            Self::Sign => format!("key type {key_type} does not support signing"),
            Self::Verify => format!("key type {key_type} does not support verification"),
            Self::Hmac | Self::Hash => format!("key type {key_type} does not support HMAC"),
        }
    }

    /// The error of a version of its key.
    pub(crate) const fn version_refused(self, version: VersionRefused) -> &'static str {
        match version {
            VersionRefused::TooNew => self.too_new(),
            VersionRefused::TooOld => self.too_old(),
        }
    }

    const fn too_new(self) -> &'static str {
        match self {
            Self::Encrypt | Self::DataKey => {
                "requested version for encryption is higher than the latest key version"
            }
            Self::Sign | Self::Hmac | Self::Hash => {
                "requested version for signing is higher than the latest key version"
            }
            Self::Decrypt | Self::Rewrap => "invalid ciphertext: version is too new",
            Self::Verify => "invalid signature: version is too new",
        }
    }

    const fn too_old(self) -> &'static str {
        match self {
            Self::Encrypt | Self::DataKey => {
                "requested version for encryption is less than the minimum encryption key version"
            }
            Self::Sign | Self::Hmac | Self::Hash => {
                "requested version for signing is less than the minimum encryption key version"
            }
            Self::Decrypt | Self::Rewrap | Self::Verify => {
                "ciphertext or signature version is disallowed by policy (too old)"
            }
        }
    }
}

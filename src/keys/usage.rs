//! What a key is for, and which kinds of key can be.

use std::str::FromStr;

use hsm::Purpose;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::material::{Algorithm, Family};

/// What a key is for; the member `use` of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type, ToSchema)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
#[schema(as = KeyUse)]
pub enum Usage {
    /// Envelopes.
    Enc,
    /// Signing and verifying.
    Sig,
    /// Encrypting and decrypting data with a chosen algorithm.
    Data,
}

/// The text names no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a use of a key")]
pub struct UnknownUsage;

impl Usage {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Enc, Self::Sig, Self::Data];

    /// The use of a key of `algorithm` where nothing else is said.
    #[must_use]
    pub const fn likely_of(algorithm: Algorithm) -> Self {
        match algorithm.family() {
            Family::Rsa | Family::Ec => Self::Enc,
            Family::Aes => Self::Data,
            Family::Ed25519 | Family::Hmac => Self::Sig,
        }
    }

    /// What is generated for this use where nothing else is said.
    #[must_use]
    pub const fn likely_algorithm(self) -> Algorithm {
        match self {
            Self::Enc | Self::Sig => Algorithm::Rsa3072,
            Self::Data => Algorithm::Aes256,
        }
    }

    /// Whether a key of `algorithm` can be used so.
    #[must_use]
    pub const fn allows(self, algorithm: Algorithm) -> bool {
        match self {
            Self::Enc => matches!(algorithm.family(), Family::Rsa | Family::Ec),
            Self::Sig => !matches!(algorithm.family(), Family::Aes),
            Self::Data => matches!(algorithm.family(), Family::Aes),
        }
    }

    /// The name in the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enc => "enc",
            Self::Sig => "sig",
            Self::Data => "data",
        }
    }

    /// What the token is told.
    pub(super) const fn purpose(self) -> Purpose {
        match self {
            Self::Enc => Purpose::Envelope,
            Self::Sig => Purpose::Sign,
            Self::Data => Purpose::Data,
        }
    }
}

impl FromStr for Usage {
    type Err = UnknownUsage;

    fn from_str(name: &str) -> Result<Self, UnknownUsage> {
        Self::ALL
            .into_iter()
            .find(|usage| usage.name() == name)
            .ok_or(UnknownUsage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_likely_is_allowed() {
        for algorithm in Algorithm::ALL {
            assert!(Usage::likely_of(algorithm).allows(algorithm), "{algorithm}");
        }
        for usage in Usage::ALL {
            assert!(usage.allows(usage.likely_algorithm()), "{usage:?}");
        }
    }
}

//! The algorithms an envelope may name.

use aws_lc_rs::rsa::{OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OaepAlgorithm};

use crate::algorithms::{Family, OaepHash};
use crate::closed_set;

closed_set! {
    /// The key wrapping algorithm: `alg` of the header (RFC 7518, section 4).
    #[derive(Default)]
    pub enum Alg: "KeyWrappingAlgorithm" {
        /// RSA-OAEP with SHA-256.
        #[default]
        RsaOaep256 = "RSA-OAEP-256",
        /// RSA-OAEP with SHA-1.
        RsaOaep = "RSA-OAEP",
        /// ECDH-ES, then AES-256 key wrap.
        EcdhEsA256Kw = "ECDH-ES+A256KW",
        /// ECDH-ES, then AES-128 key wrap.
        EcdhEsA128Kw = "ECDH-ES+A128KW",
    }
}

closed_set! {
    /// The content encryption algorithm: `enc` of the header (RFC 7518, section 5).
    #[derive(Default)]
    pub enum Enc: "ContentEncryptionAlgorithm" {
        /// AES-256 in GCM.
        #[default]
        A256GCM = "A256GCM",
        /// AES-128 in GCM.
        A128GCM = "A128GCM",
    }
}

impl Alg {
    /// The keys it works with.
    #[must_use]
    pub fn family(self) -> Family {
        match self {
            Self::RsaOaep256 | Self::RsaOaep => Family::Rsa,
            Self::EcdhEsA256Kw | Self::EcdhEsA128Kw => Family::Ec,
        }
    }
}

impl Enc {
    /// The length of the content key in bytes.
    #[must_use]
    pub fn key_len(self) -> usize {
        match self {
            Self::A256GCM => 32,
            Self::A128GCM => 16,
        }
    }
}

/// The implementation of RSA-OAEP with this hash.
pub(super) fn oaep(hash: OaepHash) -> &'static OaepAlgorithm {
    match hash {
        OaepHash::Sha1 => &OAEP_SHA1_MGF1SHA1,
        OaepHash::Sha256 => &OAEP_SHA256_MGF1SHA256,
    }
}

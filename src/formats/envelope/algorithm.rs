//! The algorithms an envelope may name.

use aws_lc_rs::rsa::{OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OaepAlgorithm};

use crate::algorithms::strength::{of_secret, strongest};
use crate::algorithms::{Algorithm, Family, Kem, OaepHash};
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
        /// HPKE with ML-KEM-768 and P-256, SHAKE256 and AES-256-GCM.
        Hpke8Ke = "HPKE-8-KE",
        /// HPKE with ML-KEM-768, SHAKE256 and AES-256-GCM.
        Hpke12Ke = "HPKE-12-KE",
        /// HPKE with ML-KEM-1024, SHAKE256 and AES-256-GCM.
        Hpke13Ke = "HPKE-13-KE",
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

closed_set! {
    /// The Internet-Draft that an HPKE envelope follows. Each key records its own, so that its envelopes
    /// stay readable when a later draft changes.
    pub enum HpkeRevision: "HpkeRevision" {
        /// The second draft of the working group, with draft-ietf-jose-hpke-encrypt-20.
        Pqt01 = "draft-ietf-jose-hpke-pq-pqt-01",
    }
}

impl HpkeRevision {
    /// The draft of a new key with this algorithm; none for keys without HPKE.
    pub fn of_new(algorithm: Algorithm) -> Option<Self> {
        algorithm.kem().map(|_| Self::Pqt01)
    }
}

impl Alg {
    /// The keys it works with.
    pub fn family(self) -> Family {
        match self {
            Self::RsaOaep256 | Self::RsaOaep => Family::Rsa,
            Self::EcdhEsA256Kw | Self::EcdhEsA128Kw => Family::Ec,
            Self::Hpke8Ke => Family::P256MlKem768,
            Self::Hpke12Ke => Family::MlKem768,
            Self::Hpke13Ke => Family::MlKem1024,
        }
    }

    /// The key encapsulation of HPKE; none for other algorithms.
    pub fn encapsulation(self) -> Option<Kem> {
        match self {
            Self::Hpke8Ke => Some(Kem::P256MlKem768),
            Self::Hpke12Ke => Some(Kem::MlKem768),
            Self::Hpke13Ke => Some(Kem::MlKem1024),
            Self::RsaOaep256 | Self::RsaOaep | Self::EcdhEsA256Kw | Self::EcdhEsA128Kw => None,
        }
    }

    /// The strength in bits with the strongest key.
    pub fn strength(self) -> usize {
        let keys: Vec<_> =
            Algorithm::ALL.into_iter().filter(|key| key.family() == self.family()).collect();
        let key = strongest(&keys);
        match self {
            Self::EcdhEsA128Kw => key.min(of_secret(16)),
            Self::EcdhEsA256Kw | Self::Hpke8Ke | Self::Hpke12Ke | Self::Hpke13Ke => {
                key.min(of_secret(32))
            }
            // OAEP does not rely on hashes without collisions.
            Self::RsaOaep256 | Self::RsaOaep => key,
        }
    }

    /// The algorithms that work with keys of `family`.
    pub fn of(family: Family) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |alg| alg.family() == family)
    }
}

impl Enc {
    /// The strength in bits.
    pub fn strength(self) -> usize {
        of_secret(self.key_len())
    }

    /// The length of the content key in bytes.
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

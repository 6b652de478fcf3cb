//! The numbers of public keys.

use super::{Curve, Kem, MlDsa, SignatureScheme};

/// The public half of a key pair as numbers, which nobody has checked yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PublicParts {
    /// RSA: both numbers big-endian, without leading zeros.
    Rsa {
        /// The modulus `n`.
        modulus: Vec<u8>,
        /// The public exponent `e`.
        exponent: Vec<u8>,
    },
    /// A key on a NIST curve.
    Ec {
        /// The curve of the point.
        curve: Curve,
        /// The uncompressed point of SEC 1: 04, x, y.
        point: Vec<u8>,
    },
    /// An Ed25519 key.
    Ed25519 {
        /// The 32 bytes of RFC 8032.
        point: Vec<u8>,
    },
    /// An ML-DSA key.
    MlDsa {
        /// The parameter set.
        set: MlDsa,
        /// The encoded key of FIPS 204.
        key: Vec<u8>,
    },
    /// A key for key encapsulation.
    Kem {
        /// The key encapsulation.
        kem: Kem,
        /// The encapsulation key of FIPS 203, followed by the uncompressed point of the EC key if there is
        /// one.
        key: Vec<u8>,
    },
}

impl PublicParts {
    /// The scheme that proves possession of the private half by a signature; none for keys that do not
    /// sign.
    #[must_use]
    pub fn signature_scheme(&self) -> Option<SignatureScheme> {
        Some(match self {
            Self::Rsa { .. } => SignatureScheme::RsaSha256,
            Self::Ec { curve, .. } => match curve {
                Curve::P256 => SignatureScheme::EcdsaSha256,
                Curve::P384 => SignatureScheme::EcdsaSha384,
                Curve::P521 => SignatureScheme::EcdsaSha512,
            },
            Self::Ed25519 { .. } => SignatureScheme::Ed25519,
            Self::MlDsa { set, .. } => set.scheme(),
            Self::Kem { .. } => return None,
        })
    }
}

//! The numbers of public keys.

use super::{Algorithm, Curve, Kem, MlDsa, SignatureScheme};

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

    /// The public halves of the keys in a token that form the key, in the order of [`Algorithm::parts`].
    pub fn parts(&self) -> Vec<Self> {
        if let Self::Kem { kem, key } = self
            && let Some(curve) = kem.curve()
            && let Some((encapsulation, point)) = kem.split_public(key)
        {
            return vec![
                Self::Kem { kem: kem.ml_kem().alone(), key: encapsulation.to_vec() },
                Self::Ec { curve, point: point.to_vec() },
            ];
        }
        vec![self.clone()]
    }

    /// The public half of a key of `algorithm` with these parts.
    pub fn joined(algorithm: Algorithm, parts: Vec<Self>) -> Option<Self> {
        match (algorithm.kem(), parts.as_slice()) {
            (Some(kem), [Self::Kem { key, .. }, Self::Ec { point, .. }]) => {
                Some(Self::Kem { kem, key: [key.as_slice(), point].concat() })
            }
            _ => parts.into_iter().next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_public_key_form_it() {
        for kem in Kem::ALL {
            let public =
                PublicParts::Kem { kem, key: (0..=255).cycle().take(kem.public_len()).collect() };
            let parts = public.parts();
            assert_eq!(parts.len(), kem.algorithm().parts().len());
            assert_eq!(PublicParts::joined(kem.algorithm(), parts), Some(public));
            assert_eq!(kem.split_public(&[0; 7]), None);
            assert_eq!(kem.split_ciphertext(&vec![0; kem.public_len() + 1]), None);
        }
    }
}

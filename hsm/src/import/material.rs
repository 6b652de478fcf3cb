//! Key material from this process, as a token takes it.

use std::ops::RangeInclusive;

use cryptoki::object::Attribute;
use zeroize::Zeroize;

use super::{ImportError, KeyMaterial};
use crate::{Curve, KeyAlgorithm, PublicKey};

/// Shorter than the hash, an HMAC key weakens it (RFC 2104); none is ever this long.
pub(super) const HMAC_LENGTHS: RangeInclusive<usize> = 32..=1024;

impl KeyMaterial {
    /// The public half; none for secret keys.
    pub(super) fn public(&self, algorithm: KeyAlgorithm) -> Option<PublicKey> {
        match self {
            Self::Rsa(rsa) => Some(PublicKey::Rsa {
                modulus: rsa.modulus.clone(),
                exponent: rsa.public_exponent.clone(),
            }),
            Self::Ec { point, .. } => curve(algorithm).map(|curve| PublicKey::Ec {
                curve,
                point: point.clone(),
            }),
            Self::Ed25519 { point, .. } => Some(PublicKey::Ed25519 {
                point: point.clone(),
            }),
            Self::Secret(_) => None,
        }
    }

    /// Whether it is material of such a key, of the length it has.
    pub(super) fn fits(&self, algorithm: KeyAlgorithm) -> Result<(), ImportError> {
        use KeyAlgorithm as A;
        let fits = match (self, algorithm) {
            (Self::Rsa(rsa), A::Rsa2048) => rsa.modulus.len() == 256,
            (Self::Rsa(rsa), A::Rsa3072) => rsa.modulus.len() == 384,
            (Self::Rsa(rsa), A::Rsa4096) => rsa.modulus.len() == 512,
            (Self::Ec { scalar, point }, A::P256 | A::P384 | A::P521) => curve(algorithm)
                .is_some_and(|curve| {
                    scalar.len() == curve.coordinate_len() && point.len() == curve.point_len()
                }),
            (Self::Ed25519 { seed, point }, A::Ed25519) => seed.len() == 32 && point.len() == 32,
            (Self::Secret(value), A::Aes128) => value.len() == 16,
            (Self::Secret(value), A::Aes256) => value.len() == 32,
            (Self::Secret(value), A::HmacSha256) => HMAC_LENGTHS.contains(&value.len()),
            (
                Self::Rsa(_) | Self::Ec { .. } | Self::Ed25519 { .. } | Self::Secret(_),
                A::Rsa2048
                | A::Rsa3072
                | A::Rsa4096
                | A::P256
                | A::P384
                | A::P521
                | A::Ed25519
                | A::Aes128
                | A::Aes256
                | A::HmacSha256,
            ) => false,
        };
        if fits {
            Ok(())
        } else {
            Err(ImportError::Malformed(
                "the material is not that of such a key",
            ))
        }
    }

    /// The attributes that make up the key. Tokens have two names for the curve of Ed25519.
    pub(super) fn attributes(&self, algorithm: KeyAlgorithm, edwards: &[u8]) -> Wiped {
        Wiped(match self {
            Self::Rsa(rsa) => vec![
                Attribute::Modulus(rsa.modulus.clone()),
                Attribute::PublicExponent(rsa.public_exponent.clone()),
                Attribute::PrivateExponent(rsa.private_exponent.to_vec()),
                Attribute::Prime1(rsa.prime1.to_vec()),
                Attribute::Prime2(rsa.prime2.to_vec()),
                Attribute::Exponent1(rsa.exponent1.to_vec()),
                Attribute::Exponent2(rsa.exponent2.to_vec()),
                Attribute::Coefficient(rsa.coefficient.to_vec()),
            ],
            Self::Ec { scalar, .. } => {
                let params = curve(algorithm).map(|curve| curve.params().to_vec());
                let params = params.unwrap_or_default();
                vec![
                    Attribute::EcParams(params),
                    Attribute::Value(scalar.to_vec()),
                ]
            }
            Self::Ed25519 { seed, .. } => vec![
                Attribute::EcParams(edwards.to_vec()),
                Attribute::Value(seed.to_vec()),
            ],
            Self::Secret(value) => vec![Attribute::Value(value.to_vec())],
        })
    }
}

/// Attributes with a key in them.
pub(super) struct Wiped(Vec<Attribute>);

impl Wiped {
    /// These attributes behind others.
    pub(super) fn behind(mut self, others: &[Attribute]) -> Self {
        self.0.splice(0..0, others.iter().cloned());
        self
    }

    pub(super) fn as_slice(&self) -> &[Attribute] {
        &self.0
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        for attribute in &mut self.0 {
            match attribute {
                Attribute::PrivateExponent(secret)
                | Attribute::Prime1(secret)
                | Attribute::Prime2(secret)
                | Attribute::Exponent1(secret)
                | Attribute::Exponent2(secret)
                | Attribute::Coefficient(secret)
                | Attribute::Value(secret) => secret.zeroize(),
                _ => {}
            }
        }
    }
}

fn curve(algorithm: KeyAlgorithm) -> Option<Curve> {
    match algorithm {
        KeyAlgorithm::P256 => Some(Curve::P256),
        KeyAlgorithm::P384 => Some(Curve::P384),
        KeyAlgorithm::P521 => Some(Curve::P521),
        KeyAlgorithm::Rsa2048
        | KeyAlgorithm::Rsa3072
        | KeyAlgorithm::Rsa4096
        | KeyAlgorithm::Ed25519
        | KeyAlgorithm::Aes128
        | KeyAlgorithm::Aes256
        | KeyAlgorithm::HmacSha256 => None,
    }
}

//! Key material from this process as PKCS#11 attributes.

use std::ops::RangeInclusive;

use cryptoki::object::Attribute;
use zeroize::Zeroize;

use super::request::KeyMaterial;
use crate::attribute_values;
use formats::algorithms::{Algorithm, Family, PublicParts};

/// An HMAC key that is shorter than the hash weakens it (RFC 2104).
pub(super) const HMAC_LENGTHS: RangeInclusive<usize> = 32..=1024;

impl KeyMaterial {
    /// The public half; none for secret keys.
    pub(super) fn public(&self, algorithm: Algorithm) -> Option<PublicParts> {
        match self {
            Self::Rsa(rsa) => Some(PublicParts::Rsa {
                modulus: rsa.modulus.clone(),
                exponent: rsa.exponent.clone(),
            }),
            Self::Ec { point, .. } => {
                algorithm.curve().map(|curve| PublicParts::Ec { curve, point: point.clone() })
            }
            Self::Ed25519 { point, .. } => Some(PublicParts::Ed25519 { point: point.clone() }),
            Self::Secret(_) => None,
        }
    }

    /// Whether it is material of such a key and has its length.
    pub(super) fn fits(&self, algorithm: Algorithm) -> bool {
        match (self, algorithm.family()) {
            (Self::Rsa(rsa), Family::Rsa) => algorithm.modulus_len() == Some(rsa.modulus.len()),
            (Self::Ec { scalar, point }, Family::Ec) => algorithm.curve().is_some_and(|curve| {
                scalar.len() == curve.coordinate_len() && point.len() == curve.point_len()
            }),
            (Self::Ed25519 { seed, point }, Family::Ed25519) => {
                seed.len() == 32 && point.len() == 32
            }
            (Self::Secret(value), Family::Aes) => algorithm.secret_len() == Some(value.len()),
            (Self::Secret(value), Family::Hmac) => HMAC_LENGTHS.contains(&value.len()),
            (
                Self::Rsa(_) | Self::Ec { .. } | Self::Ed25519 { .. } | Self::Secret(_),
                Family::Rsa
                | Family::Ec
                | Family::Ed25519
                | Family::MlDsa
                | Family::MlKem768
                | Family::MlKem1024
                | Family::P256MlKem768
                | Family::Aes
                | Family::Hmac,
            ) => false,
        }
    }

    /// The attributes of the key's value. `edwards` is the token's name for the Ed25519 curve.
    pub(super) fn attributes(&self, algorithm: Algorithm, edwards: &[u8]) -> Wiped {
        Wiped(match self {
            Self::Rsa(rsa) => vec![
                Attribute::Modulus(rsa.modulus.clone()),
                Attribute::PublicExponent(rsa.exponent.clone()),
                Attribute::PrivateExponent(rsa.private_exponent.to_vec()),
                Attribute::Prime1(rsa.prime1.to_vec()),
                Attribute::Prime2(rsa.prime2.to_vec()),
                Attribute::Exponent1(rsa.exponent1.to_vec()),
                Attribute::Exponent2(rsa.exponent2.to_vec()),
                Attribute::Coefficient(rsa.coefficient.to_vec()),
            ],
            Self::Ec { scalar, .. } => {
                let params =
                    algorithm.curve().map(|curve| attribute_values::ec_params(curve).to_vec());
                vec![
                    Attribute::EcParams(params.unwrap_or_default()),
                    Attribute::Value(scalar.to_vec()),
                ]
            }
            Self::Ed25519 { seed, .. } => {
                vec![Attribute::EcParams(edwards.to_vec()), Attribute::Value(seed.to_vec())]
            }
            Self::Secret(value) => vec![Attribute::Value(value.to_vec())],
        })
    }
}

/// Attributes that contain a key. They are wiped when dropped.
pub(super) struct Wiped(Vec<Attribute>);

impl Wiped {
    /// Adds other attributes before these.
    pub(super) fn behind(mut self, others: &[Attribute]) -> Self {
        self.0.splice(0..0, others.iter().cloned());
        self
    }

    pub(super) fn as_slice(&self) -> &[Attribute] {
        &self.0
    }
}

impl Drop for Wiped {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "few of the attributes of PKCS#11 are secret"
    )]
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

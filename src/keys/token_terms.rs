//! Conversions between the types of this crate and those of `hsm`.

use hsm::{KeyMaterial, RsaMaterial};

use crate::material::{Algorithm, Curve, PrivateKey, PrivateParts, PublicKey, PublicParts};
use crate::problem::Problem;

/// The algorithm of a key.
pub(super) const fn algorithm(algorithm: Algorithm) -> hsm::Algorithm {
    match algorithm {
        Algorithm::Rsa2048 => hsm::Algorithm::Rsa2048,
        Algorithm::Rsa3072 => hsm::Algorithm::Rsa3072,
        Algorithm::Rsa4096 => hsm::Algorithm::Rsa4096,
        Algorithm::P256 => hsm::Algorithm::P256,
        Algorithm::P384 => hsm::Algorithm::P384,
        Algorithm::P521 => hsm::Algorithm::P521,
        Algorithm::Ed25519 => hsm::Algorithm::Ed25519,
        Algorithm::Aes256 => hsm::Algorithm::Aes256,
        Algorithm::Aes128 => hsm::Algorithm::Aes128,
        Algorithm::HmacSha256 => hsm::Algorithm::HmacSha256,
    }
}

/// The algorithm that the token reports.
pub(super) const fn algorithm_of(algorithm: hsm::Algorithm) -> Algorithm {
    match algorithm {
        hsm::Algorithm::Rsa2048 => Algorithm::Rsa2048,
        hsm::Algorithm::Rsa3072 => Algorithm::Rsa3072,
        hsm::Algorithm::Rsa4096 => Algorithm::Rsa4096,
        hsm::Algorithm::P256 => Algorithm::P256,
        hsm::Algorithm::P384 => Algorithm::P384,
        hsm::Algorithm::P521 => Algorithm::P521,
        hsm::Algorithm::Ed25519 => Algorithm::Ed25519,
        hsm::Algorithm::Aes256 => Algorithm::Aes256,
        hsm::Algorithm::Aes128 => Algorithm::Aes128,
        hsm::Algorithm::HmacSha256 => Algorithm::HmacSha256,
    }
}

/// The public key, for the token.
pub(super) fn public(key: &PublicKey) -> hsm::PublicKey {
    match key.parts().clone() {
        PublicParts::Rsa { modulus, exponent } => hsm::PublicKey::Rsa { modulus, exponent },
        PublicParts::Ec { curve, point } => {
            let curve = match curve {
                Curve::P256 => hsm::Curve::P256,
                Curve::P384 => hsm::Curve::P384,
                Curve::P521 => hsm::Curve::P521,
            };
            hsm::PublicKey::Ec { curve, point }
        }
        PublicParts::Ed25519 { point } => hsm::PublicKey::Ed25519 { point },
    }
}

/// The public key that the token reports, checked like any other.
pub(super) fn public_of(key: hsm::PublicKey) -> Result<PublicKey, Problem> {
    PublicKey::new(match key {
        hsm::PublicKey::Rsa { modulus, exponent } => PublicParts::Rsa { modulus, exponent },
        hsm::PublicKey::Ec { curve, point } => {
            let curve = match curve {
                hsm::Curve::P256 => Curve::P256,
                hsm::Curve::P384 => Curve::P384,
                hsm::Curve::P521 => Curve::P521,
            };
            PublicParts::Ec { curve, point }
        }
        hsm::PublicKey::Ed25519 { point } => PublicParts::Ed25519 { point },
    })
}

/// A private key in plaintext, for the token.
pub(super) fn material(key: &PrivateKey) -> KeyMaterial {
    let point = match key.public().parts() {
        PublicParts::Ec { point, .. } | PublicParts::Ed25519 { point } => point.clone(),
        PublicParts::Rsa { .. } => Vec::new(),
    };
    match key.parts().clone() {
        PrivateParts::Rsa(numbers) => KeyMaterial::Rsa(RsaMaterial {
            modulus: numbers.modulus,
            public_exponent: numbers.exponent,
            private_exponent: numbers.private_exponent,
            prime1: numbers.prime1,
            prime2: numbers.prime2,
            exponent1: numbers.exponent1,
            exponent2: numbers.exponent2,
            coefficient: numbers.coefficient,
        }),
        PrivateParts::Ec { scalar, .. } => KeyMaterial::Ec { scalar, point },
        PrivateParts::Ed25519 { seed } => KeyMaterial::Ed25519 { seed, point },
    }
}

//! Keys that are generated in this process to test whether a token imports such keys.

use aws_lc_rs::encoding::{AsBigEndian, AsDer, Curve25519SeedBin, EcPrivateKeyBin, Pkcs8V1Der};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::rand;
use aws_lc_rs::rsa::{self, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING,
    ECDSA_P521_SHA512_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair,
};
use zeroize::Zeroizing;

use super::request::KeyMaterial;
use crate::HsmError;
use crate::keys::inspect::trimmed;
use formats::algorithms::{Algorithm, RsaParts};

/// A fresh key in both forms of import.
pub(super) struct Sample {
    /// The bytes that are wrapped: PKCS#8, or the bare bytes of a secret key.
    pub(super) bytes: Zeroizing<Vec<u8>>,
    pub(super) material: KeyMaterial,
}

impl Sample {
    pub(super) fn of(algorithm: Algorithm) -> Result<Self, HsmError> {
        let made = match algorithm {
            Algorithm::P256 => ec(&ECDSA_P256_SHA256_FIXED_SIGNING),
            Algorithm::P384 => ec(&ECDSA_P384_SHA384_FIXED_SIGNING),
            Algorithm::P521 => ec(&ECDSA_P521_SHA512_FIXED_SIGNING),
            Algorithm::Ed25519 => ed25519(),
            Algorithm::Rsa2048 => rsa(KeySize::Rsa2048),
            Algorithm::Rsa3072 => rsa(KeySize::Rsa3072),
            Algorithm::Rsa4096 => rsa(KeySize::Rsa4096),
            Algorithm::Aes128 => secret(16),
            Algorithm::Aes256 | Algorithm::HmacSha256 => secret(32),
            // Such keys are not imported.
            Algorithm::MlDsa44
            | Algorithm::MlDsa65
            | Algorithm::MlDsa87
            | Algorithm::MlKem768
            | Algorithm::MlKem1024
            | Algorithm::P256MlKem768 => Err(Unspecified),
        };
        made.map_err(|_| HsmError::refused("no sample key could be generated"))
    }
}

fn ec(algorithm: &'static EcdsaSigningAlgorithm) -> Result<Sample, Unspecified> {
    let pair = EcdsaKeyPair::generate(algorithm)?;
    let scalar: EcPrivateKeyBin<'_> = pair.private_key().as_be_bytes()?;
    Ok(Sample {
        bytes: Zeroizing::new(pair.to_pkcs8v1()?.as_ref().to_vec()),
        material: KeyMaterial::Ec {
            scalar: Zeroizing::new(scalar.as_ref().to_vec()),
            point: pair.public_key().as_ref().to_vec(),
        },
    })
}

fn ed25519() -> Result<Sample, Unspecified> {
    let pair = Ed25519KeyPair::generate()?;
    let seed: Curve25519SeedBin<'_> = pair.seed()?.as_be_bytes()?;
    Ok(Sample {
        bytes: Zeroizing::new(pair.to_pkcs8v1()?.as_ref().to_vec()),
        material: KeyMaterial::Ed25519 {
            seed: Zeroizing::new(seed.as_ref().to_vec()),
            point: pair.public_key().as_ref().to_vec(),
        },
    })
}

fn rsa(size: KeySize) -> Result<Sample, Unspecified> {
    let pair = rsa::KeyPair::generate(size)?;
    let pkcs8: Pkcs8V1Der<'_> = pair.as_der()?;
    let mut numbers = Vec::new();
    integers(pkcs8.as_ref(), &mut numbers);
    // The first two numbers are the versions of PKCS#8 and of the key inside.
    let [_, _, n, e, d, p, q, dp, dq, qi] = numbers.as_slice() else {
        return Err(Unspecified);
    };
    let wiped = |number: &[u8]| Zeroizing::new(number.to_vec());
    Ok(Sample {
        bytes: wiped(pkcs8.as_ref()),
        material: KeyMaterial::Rsa(RsaParts {
            modulus: n.to_vec(),
            exponent: e.to_vec(),
            private_exponent: wiped(d),
            prime1: wiped(p),
            prime2: wiped(q),
            exponent1: wiped(dp),
            exponent2: wiped(dq),
            coefficient: wiped(qi),
        }),
    })
}

fn secret(length: usize) -> Result<Sample, Unspecified> {
    let mut bytes = Zeroizing::new(vec![0; length]);
    rand::fill(&mut bytes)?;
    Ok(Sample { material: KeyMaterial::Secret(bytes.clone()), bytes })
}

/// Every integer in a DER structure, without leading zeros. The structure is from this
/// process, so this reads only the DER that it contains.
fn integers<'a>(mut der: &'a [u8], found: &mut Vec<&'a [u8]>) {
    while let Some((tag, content, rest)) = element(der) {
        match tag {
            INTEGER => found.push(trimmed(content)),
            SEQUENCE | OCTET_STRING => integers(content, found),
            _ => {}
        }
        der = rest;
    }
}

const INTEGER: u8 = 2;
const OCTET_STRING: u8 = 4;
const SEQUENCE: u8 = 0x30;

/// The first element: its tag, its content and the rest.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first.checked_sub(0x80) {
        None => (usize::from(*first), rest),
        Some(digits) => {
            let (digits, rest) = rest.split_at_checked(usize::from(digits))?;
            let length =
                digits.iter().fold(0_usize, |length, digit| (length << 8) | usize::from(*digit));
            (length, rest)
        }
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

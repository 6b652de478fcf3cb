//! Signatures with a key in the token.
//!
//! Messages are hashed in this process, because not every token hashes for ECDSA and because
//! transfers to the token stay short. Ed25519 and HMAC take the message itself.

use aws_lc_rs::digest::{self, SHA256, SHA384, SHA512};
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use zeroize::Zeroizing;

use crate::session::{Key, Session};
use crate::{HsmError, SignatureScheme};

/// The hash of a scheme.
#[derive(Debug, Clone, Copy)]
enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

/// The input of the token's signature operation.
pub(crate) fn prepare(scheme: SignatureScheme, message: &[u8]) -> Zeroizing<Vec<u8>> {
    use SignatureScheme as S;
    Zeroizing::new(match scheme {
        S::RsaSha256 => digest_info(Hash::Sha256, message),
        S::RsaSha384 => digest_info(Hash::Sha384, message),
        S::RsaSha512 => digest_info(Hash::Sha512, message),
        S::RsaPssSha256 | S::EcdsaSha256 => Hash::Sha256.of(message),
        S::RsaPssSha384 | S::EcdsaSha384 => Hash::Sha384.of(message),
        S::RsaPssSha512 | S::EcdsaSha512 => Hash::Sha512.of(message),
        S::Ed25519 | S::HmacSha256 => message.to_vec(),
    })
}

pub(crate) fn sign<'k>(
    session: &Session,
    key: impl Into<Key<'k>>,
    scheme: SignatureScheme,
    prepared: &[u8],
) -> Result<Vec<u8>, HsmError> {
    let signature = session.with_key(key, |handle| {
        session.sign(&mechanism(scheme), handle, prepared)
    })?;
    match length(scheme) {
        Some(length) if length != signature.len() => Err(HsmError::refused(format!(
            "the key does not fit {scheme}: its signatures have {} bytes",
            signature.len()
        ))),
        _ => Ok(signature),
    }
}

fn mechanism(scheme: SignatureScheme) -> Mechanism<'static> {
    use SignatureScheme as S;
    match scheme {
        S::RsaSha256 | S::RsaSha384 | S::RsaSha512 => Mechanism::RsaPkcs,
        S::RsaPssSha256 => pss(MechanismType::SHA256, PkcsMgfType::MGF1_SHA256, 32),
        S::RsaPssSha384 => pss(MechanismType::SHA384, PkcsMgfType::MGF1_SHA384, 48),
        S::RsaPssSha512 => pss(MechanismType::SHA512, PkcsMgfType::MGF1_SHA512, 64),
        S::EcdsaSha256 | S::EcdsaSha384 | S::EcdsaSha512 => Mechanism::Ecdsa,
        S::Ed25519 => Mechanism::Eddsa(EddsaParams::new(EddsaSignatureScheme::Pure)),
        S::HmacSha256 => Mechanism::Sha256Hmac,
    }
}

/// The salt is as long as the hash, as in JOSE.
fn pss(hash_alg: MechanismType, mgf: PkcsMgfType, salt: u64) -> Mechanism<'static> {
    Mechanism::RsaPkcsPss(PkcsPssParams {
        hash_alg,
        mgf,
        s_len: salt.into(),
    })
}

/// The length of every signature of a scheme; none where it depends on the key.
fn length(scheme: SignatureScheme) -> Option<usize> {
    use SignatureScheme as S;
    match scheme {
        S::EcdsaSha256 | S::Ed25519 => Some(64),
        S::EcdsaSha384 => Some(96),
        S::EcdsaSha512 => Some(132),
        S::HmacSha256 => Some(32),
        S::RsaSha256
        | S::RsaSha384
        | S::RsaSha512
        | S::RsaPssSha256
        | S::RsaPssSha384
        | S::RsaPssSha512 => None,
    }
}

/// DER of `DigestInfo` (RFC 8017, section 9.2, note 1).
fn digest_info(hash: Hash, message: &[u8]) -> Vec<u8> {
    let (last, length) = match hash {
        Hash::Sha256 => (1, 32),
        Hash::Sha384 => (2, 48),
        Hash::Sha512 => (3, 64),
    };
    let mut info = vec![0x30, 17 + length, 0x30, 0x0d, 0x06, 0x09];
    info.extend([
        0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, last, 0x05, 0x00, 0x04, length,
    ]);
    info.extend(hash.of(message));
    info
}

impl Hash {
    fn of(self, message: &[u8]) -> Vec<u8> {
        let algorithm = match self {
            Self::Sha256 => &SHA256,
            Self::Sha384 => &SHA384,
            Self::Sha512 => &SHA512,
        };
        digest::digest(algorithm, message).as_ref().to_vec()
    }
}

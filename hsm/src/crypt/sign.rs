//! Signatures with a key in the token.
//!
//! Messages are hashed in this process, because not every token hashes for ECDSA and because
//! transfers to the token stay short. Ed25519, ML-DSA and HMAC take the message itself. With PKCS#1 v1.5 padding
//! some tokens, such as TPMs, sign only what they have hashed themselves.

use aws_lc_rs::digest::{self, Algorithm, SHA256, SHA384, SHA512};
use cryptoki::mechanism::dsa::{HedgeType, SignAdditionalContext};
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use zeroize::Zeroizing;

use crate::session::{Key, Session};
use crate::{ErrorKind, HsmError};
use formats::algorithms::{MlDsa, SignatureScheme};

/// What a token is to sign.
#[derive(Clone)]
pub(crate) struct Prepared {
    scheme: SignatureScheme,
    input: Zeroizing<Vec<u8>>,
    /// The message, for tokens that hash it themselves. None where all tokens take the input, or the message is
    /// not known.
    message: Option<Zeroizing<Vec<u8>>>,
}

/// Prepares the signature of `message`.
pub(crate) fn prepare(scheme: SignatureScheme, message: &[u8]) -> Prepared {
    let own = || Zeroizing::new(message.to_vec());
    let input = match hash(scheme) {
        Some(hash) => encode(scheme, digest::digest(hash, message).as_ref()),
        None => own(),
    };
    Prepared { scheme, input, message: hashing(scheme).map(|_| own()) }
}

/// Prepares the signature of a message with this digest.
pub(crate) fn prepare_digest(scheme: SignatureScheme, digest: &[u8]) -> Result<Prepared, HsmError> {
    if scheme.digest_len() != Some(digest.len()) {
        return Err(HsmError::bad_input("the digest has the wrong length"));
    }
    Ok(Prepared { scheme, input: encode(scheme, digest), message: None })
}

pub(crate) fn sign<'k>(
    session: &Session,
    key: impl Into<Key<'k>>,
    prepared: &Prepared,
) -> Result<Vec<u8>, HsmError> {
    let (token, scheme) = (session.raw(), prepared.scheme);
    let signature = session.with_key(key, |handle| {
        let signed = token.sign(&mechanism(scheme), handle, &prepared.input);
        signed.or_else(|error| match (hashing(scheme), &prepared.message) {
            (Some(by), Some(message)) if error.lacks_mechanism() => {
                token.sign(&by, handle, message)
            }
            // The token would sign the message, which the caller did not send.
            (Some(_), None) if error.lacks_mechanism() => Err(error.with_kind(ErrorKind::BadInput)),
            _ => Err(error),
        })
    })?;
    match length(scheme) {
        Some(length) if length != signature.len() => Err(HsmError::refused(format!(
            "the key does not fit {scheme}: its signatures have {} bytes",
            signature.len()
        ))),
        _ => Ok(signature),
    }
}

/// Every mechanism that can make signatures of a scheme.
pub(crate) fn mechanisms(scheme: SignatureScheme) -> Vec<MechanismType> {
    let mechanisms = [Some(mechanism(scheme)), hashing(scheme)].into_iter().flatten();
    mechanisms.map(|mechanism| mechanism.mechanism_type()).collect()
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
        // Without parameters: an empty context, and hedged where the token supports that.
        S::MlDsa44 | S::MlDsa65 | S::MlDsa87 => {
            Mechanism::MlDsa(SignAdditionalContext::new(HedgeType::Preferred, None))
        }
        S::HmacSha256 => Mechanism::Sha256Hmac,
    }
}

/// The mechanism that hashes the message and makes the same signature; none where all tokens sign digests.
fn hashing(scheme: SignatureScheme) -> Option<Mechanism<'static>> {
    use SignatureScheme as S;
    match scheme {
        S::RsaSha256 => Some(Mechanism::Sha256RsaPkcs),
        S::RsaSha384 => Some(Mechanism::Sha384RsaPkcs),
        S::RsaSha512 => Some(Mechanism::Sha512RsaPkcs),
        S::RsaPssSha256
        | S::RsaPssSha384
        | S::RsaPssSha512
        | S::EcdsaSha256
        | S::EcdsaSha384
        | S::EcdsaSha512
        | S::Ed25519
        | S::MlDsa44
        | S::MlDsa65
        | S::MlDsa87
        | S::HmacSha256 => None,
    }
}

/// The salt is as long as the hash, as in JOSE.
fn pss(hash_alg: MechanismType, mgf: PkcsMgfType, salt: u64) -> Mechanism<'static> {
    Mechanism::RsaPkcsPss(PkcsPssParams { hash_alg, mgf, s_len: salt.into() })
}

/// The length of every signature of a scheme; none where it depends on the key.
fn length(scheme: SignatureScheme) -> Option<usize> {
    use SignatureScheme as S;
    match scheme {
        S::EcdsaSha256 | S::Ed25519 => Some(64),
        S::EcdsaSha384 => Some(96),
        S::EcdsaSha512 => Some(132),
        S::MlDsa44 => Some(MlDsa::MlDsa44.signature_len()),
        S::MlDsa65 => Some(MlDsa::MlDsa65.signature_len()),
        S::MlDsa87 => Some(MlDsa::MlDsa87.signature_len()),
        S::HmacSha256 => Some(32),
        S::RsaSha256
        | S::RsaSha384
        | S::RsaSha512
        | S::RsaPssSha256
        | S::RsaPssSha384
        | S::RsaPssSha512 => None,
    }
}

/// The hash of a scheme; none where the token signs the message itself.
fn hash(scheme: SignatureScheme) -> Option<&'static Algorithm> {
    use SignatureScheme as S;
    match scheme {
        S::RsaSha256 | S::RsaPssSha256 | S::EcdsaSha256 => Some(&SHA256),
        S::RsaSha384 | S::RsaPssSha384 | S::EcdsaSha384 => Some(&SHA384),
        S::RsaSha512 | S::RsaPssSha512 | S::EcdsaSha512 => Some(&SHA512),
        S::Ed25519 | S::MlDsa44 | S::MlDsa65 | S::MlDsa87 | S::HmacSha256 => None,
    }
}

fn encode(scheme: SignatureScheme, digest: &[u8]) -> Zeroizing<Vec<u8>> {
    use SignatureScheme as S;
    Zeroizing::new(match scheme {
        S::RsaSha256 => digest_info(1, 32, digest),
        S::RsaSha384 => digest_info(2, 48, digest),
        S::RsaSha512 => digest_info(3, 64, digest),
        S::RsaPssSha256
        | S::RsaPssSha384
        | S::RsaPssSha512
        | S::EcdsaSha256
        | S::EcdsaSha384
        | S::EcdsaSha512
        | S::Ed25519
        | S::MlDsa44
        | S::MlDsa65
        | S::MlDsa87
        | S::HmacSha256 => digest.to_vec(),
    })
}

/// DER of `DigestInfo` (RFC 8017, section 9.2, note 1). `last` ends the identifier of the hash.
fn digest_info(last: u8, length: u8, digest: &[u8]) -> Vec<u8> {
    let mut info = vec![0x30, 17 + length, 0x30, 0x0d, 0x06, 0x09];
    info.extend([0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, last, 0x05, 0x00, 0x04, length]);
    info.extend(digest);
    info
}

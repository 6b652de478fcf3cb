//! A secret that a token derives from a key: the result of an operation on an input that never changes.

use cryptoki::mechanism::{Mechanism, MechanismType};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::sign;
use crate::HsmError;
use crate::pkcs11::ObjectHandle;
use crate::session::Session;
use formats::algorithms::SignatureScheme;

/// The start of the input, as long as a block of AES.
const DOMAIN: [u8; 16] = *b"sealward row key";
const IV: [u8; 16] = [0; 16];

/// How a token derives a secret from an internal key, in order of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecretMethod {
    /// HMAC-SHA-256.
    Hmac,
    /// AES-256 in CBC mode: two blocks of ciphertext.
    AesCbc,
    /// A signature of an RSA-3072 or RSA-2048 key with PKCS#1 v1.5 padding and SHA-256.
    RsaSignature,
}

impl SecretMethod {
    pub(crate) const ALL: [Self; 3] = [Self::Hmac, Self::AesCbc, Self::RsaSignature];

    /// The mechanisms of the operation.
    pub(crate) fn mechanisms(self) -> Vec<MechanismType> {
        match self {
            Self::Hmac => sign::mechanisms(SignatureScheme::HmacSha256),
            Self::AesCbc => vec![MechanismType::AES_CBC],
            Self::RsaSignature => sign::mechanisms(SignatureScheme::RsaSha256),
        }
    }

    /// The lengths that a secret can have.
    const fn lengths(self) -> &'static [usize] {
        match self {
            Self::Hmac | Self::AesCbc => &[32],
            Self::RsaSignature => &[384, 256],
        }
    }
}

/// Derives the secret of a generation twice. It is refused if the results differ.
pub(crate) fn derive(
    session: &Session,
    key: ObjectHandle,
    method: SecretMethod,
    generation: u32,
) -> Result<Zeroizing<Vec<u8>>, HsmError> {
    let first = derive_once(session, key, method, generation)?;
    let again = derive_once(session, key, method, generation)?;
    match bool::from(first.ct_eq(&again)) {
        true => Ok(first),
        false => Err(HsmError::refused(format!("{method:?} returns another secret each time"))),
    }
}

fn derive_once(
    session: &Session,
    key: ObjectHandle,
    method: SecretMethod,
    generation: u32,
) -> Result<Zeroizing<Vec<u8>>, HsmError> {
    let input = input(generation);
    let signed = |scheme| sign::sign(session, key, &sign::prepare(scheme, &input));
    let secret = Zeroizing::new(match method {
        SecretMethod::Hmac => signed(SignatureScheme::HmacSha256)?,
        SecretMethod::AesCbc => session.raw().encrypt(&Mechanism::AesCbc(IV), key, &input)?,
        SecretMethod::RsaSignature => signed(SignatureScheme::RsaSha256)?,
    });
    match method.lengths().contains(&secret.len()) {
        true => Ok(secret),
        false => Err(HsmError::refused(format!("{method:?} returns {} bytes", secret.len()))),
    }
}

/// The input of every method: the domain, the generation as a big-endian number, and zeros.
fn input(generation: u32) -> [u8; 32] {
    let mut input = [0; 32];
    let bytes = DOMAIN.into_iter().chain(generation.to_be_bytes());
    input.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    input
}

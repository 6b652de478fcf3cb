//! Key encapsulation: decapsulation with private keys in the token.

use aws_lc_rs::kem::{EncapsulationKey, SharedSecret};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, KeyType, ObjectClass};
use zeroize::Zeroizing;

use super::ecdh;
use crate::session::{Key, Session, Temporary};
use crate::{HsmError, KeyRef};
use formats::algorithms::{Kem, MlKem};

/// The ciphertext and the secret for the private half of `public`.
pub(crate) fn encapsulate(set: MlKem, public: &[u8]) -> Result<(Vec<u8>, SharedSecret), HsmError> {
    let refused = || HsmError::bad_input("the ML-KEM key does not encapsulate");
    let key = EncapsulationKey::new(set.encapsulation(), public).map_err(|_| refused())?;
    let (ciphertext, secret) = key.encapsulate().map_err(|_| refused())?;
    Ok((ciphertext.as_ref().to_vec(), secret))
}

/// The shared secrets of every part of a key, one after the other. Each part answers, also if another one
/// fails, so that failures take as long as successes.
pub(crate) fn secrets(
    session: &Session,
    key: &KeyRef,
    kem: Kem,
    ciphertext: &[u8],
) -> Result<Zeroizing<Vec<u8>>, HsmError> {
    let wrong = || HsmError::bad_input("the length of the ciphertext is wrong");
    let (ciphertext, point) = kem.split_ciphertext(ciphertext).ok_or_else(wrong)?;
    let parts = key.parts();
    let answers: Vec<_> = parts
        .iter()
        .enumerate()
        .map(|(index, part)| match kem.curve() {
            Some(curve) if index > 0 => ecdh::derive(session, part, curve, point),
            _ => decapsulate(session, part, kem.ml_kem(), ciphertext),
        })
        .collect();
    let mut secrets = Zeroizing::new(Vec::with_capacity(kem.secrets_len()));
    for answer in answers {
        secrets.extend_from_slice(&answer?);
    }
    if secrets.len() == kem.secrets_len() {
        return Ok(secrets);
    }
    Err(HsmError::refused("the key is not one of this encapsulation"))
}

/// The shared secret of one key. A ciphertext of the right length always has one (implicit rejection).
pub(crate) fn decapsulate<'k>(
    session: &Session,
    key: impl Into<Key<'k>>,
    set: MlKem,
    ciphertext: &[u8],
) -> Result<Zeroizing<Vec<u8>>, HsmError> {
    if ciphertext.len() != set.ciphertext_len() {
        return Err(HsmError::bad_input("the length of the ciphertext is wrong"));
    }
    // Tokens decapsulate into an object and not into bytes, so this object is short-lived and readable.
    let template = [
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(KeyType::GENERIC_SECRET),
        Attribute::Token(false),
        Attribute::Sensitive(false),
        Attribute::Extractable(true),
        Attribute::ValueLen(MlKem::SECRET_LEN.try_into()?),
    ];
    let secret = session.with_key(key, |handle| {
        let token = session.raw();
        let decapsulated = token.decapsulate_key(&Mechanism::MlKem, handle, ciphertext, &template);
        decapsulated.map_err(HsmError::blaming_input)
    })?;
    let secret = Temporary::new(session, secret);
    let value = session.raw().read_value(secret.handle(), MlKem::SECRET_LEN)?;
    if value.len() == MlKem::SECRET_LEN {
        return Ok(value);
    }
    Err(HsmError::bad_input("the length of the shared secret is wrong"))
}

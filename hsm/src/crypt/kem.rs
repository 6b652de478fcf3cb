//! ML-KEM: decapsulation with a private key in the token.

use aws_lc_rs::kem::{EncapsulationKey, SharedSecret};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, KeyType, ObjectClass};
use zeroize::Zeroizing;

use crate::session::{Key, Session, Temporary};
use crate::{HsmError, MlKem};

/// The ciphertext and the secret for the private half of `public`.
pub(crate) fn encapsulate(set: MlKem, public: &[u8]) -> Result<(Vec<u8>, SharedSecret), HsmError> {
    let refused = || HsmError::bad_input("the ML-KEM key does not encapsulate");
    let key = EncapsulationKey::new(set.encapsulation(), public).map_err(|_| refused())?;
    let (ciphertext, secret) = key.encapsulate().map_err(|_| refused())?;
    Ok((ciphertext.as_ref().to_vec(), secret))
}

/// The shared secret. A ciphertext of the right length always has one (implicit rejection).
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
        let decapsulated = token.decapsulate_key(&Mechanism::MlKem, handle, &template, ciphertext);
        decapsulated.map_err(|error| HsmError::from(error).blaming_input())
    })?;
    let secret = Temporary::new(session, secret);
    let value = session.read_value(secret.handle(), MlKem::SECRET_LEN)?;
    if value.len() == MlKem::SECRET_LEN {
        return Ok(value);
    }
    Err(HsmError::bad_input(
        "the length of the shared secret is wrong",
    ))
}

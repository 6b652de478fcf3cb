//! RSA-OAEP: decryption by the method that the trial has shown, encryption in this process.

use aws_lc_rs::rsa::{
    OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OaepPublicEncryptingKey, PublicEncryptingKey,
};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsOaepParams, PkcsOaepSource};
use cryptoki::mechanism::{Mechanism, MechanismType};
use zeroize::Zeroizing;

use super::padding;
use crate::session::{Key, Session};
use crate::{ErrorKind, HsmError, OaepMethod};
use formats::algorithms::OaepHash;

/// The parameters of OAEP with an empty label.
pub(crate) fn params(hash: OaepHash) -> PkcsOaepParams<'static> {
    let (hash, mask) = match hash {
        OaepHash::Sha1 => (MechanismType::SHA1, PkcsMgfType::MGF1_SHA1),
        OaepHash::Sha256 => (MechanismType::SHA256, PkcsMgfType::MGF1_SHA256),
    };
    PkcsOaepParams::new(hash, mask, PkcsOaepSource::empty())
}

/// Decrypts by the method that the trial has shown for this token.
pub(crate) fn decrypt<'k>(
    session: &Session,
    key: impl Into<Key<'k>>,
    hash: OaepHash,
    wrapped: &[u8],
) -> Result<Zeroizing<Vec<u8>>, HsmError> {
    let method = session.connection().oaep().of(hash);
    decrypt_by(method, session, key, hash, wrapped)
}

/// Decrypts by this method. A token that lacks the hash is not asked, because its answer would be
/// taken for a bad ciphertext.
pub(crate) fn decrypt_by<'k>(
    method: OaepMethod,
    session: &Session,
    key: impl Into<Key<'k>>,
    hash: OaepHash,
    wrapped: &[u8],
) -> Result<Zeroizing<Vec<u8>>, HsmError> {
    let by = match method {
        OaepMethod::InToken | OaepMethod::Untried => Mechanism::RsaPkcsOaep(params(hash)),
        OaepMethod::RawRsa => Mechanism::RsaX509,
        OaepMethod::Unsupported => return Err(unsupported(session, hash)),
    };
    let decrypted = session.with_key(key, |handle| {
        let decrypted = session.raw().decrypt(&by, handle, wrapped);
        decrypted.map_err(HsmError::blaming_input)
    })?;
    if method != OaepMethod::RawRsa {
        return Ok(decrypted);
    }
    // The ciphertext and the block are as long as the modulus.
    padding::remove(hash, wrapped.len(), &decrypted)
        .map_err(|_| HsmError::bad_input("the padding of the raw block is wrong"))
}

/// Encrypts in this process with an empty label; none for a key that does not fit.
pub(crate) fn encrypt(
    public_key: impl TryInto<PublicEncryptingKey>,
    hash: OaepHash,
    message: &[u8],
) -> Option<Vec<u8>> {
    let key = OaepPublicEncryptingKey::new(public_key.try_into().ok()?).ok()?;
    let algorithm = match hash {
        OaepHash::Sha1 => &OAEP_SHA1_MGF1SHA1,
        OaepHash::Sha256 => &OAEP_SHA256_MGF1SHA256,
    };
    let mut ciphertext = vec![0; key.ciphertext_size()];
    key.encrypt(algorithm, message, &mut ciphertext, None).ok()?;
    Some(ciphertext)
}

fn unsupported(session: &Session, hash: OaepHash) -> HsmError {
    let reason = if session.connection().limits.allow_raw_rsa {
        "raw RSA does not decrypt it either"
    } else {
        "hsm.allow_raw_rsa is not set"
    };
    HsmError::new(ErrorKind::Unusable, format!("the token lacks {hash}, and {reason}"))
}

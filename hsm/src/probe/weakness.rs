//! In what a token is weaker than one would wish, each in a sentence for whoever decides on it.

use cryptoki::error::RvError;
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::Attribute;
use cryptoki::slot::TokenInfo;

use super::operations::{MATERIAL, oaep};
use super::{Probed, Works, max_sessions};
use crate::keys::{self, inspect};
use crate::proof;
use crate::session::Session;
use crate::{HsmError, KeyAlgorithm, OaepHash, Purpose, Usages};

/// The sessions that so many workers need: one each, the anchor and the canary.
pub(super) fn sessions_for(workers: usize) -> u64 {
    u64::try_from(workers).unwrap_or(u64::MAX).saturating_add(2)
}

/// What the token says of itself.
pub(super) fn of_token(info: &TokenInfo, workers: usize) -> Vec<String> {
    let mut weaknesses = Vec::new();
    if let Some(most) = max_sessions(info)
        && most < 2 * sessions_for(workers)
    {
        weaknesses.push(format!(
            "it allows {most} sessions only: few other programs can use it at the same time"
        ));
    }
    for (set, weakness) in [
        (
            !info.login_required(),
            "it asks for no login: whoever reaches it may use its keys",
        ),
        (!info.rng(), "it has no random generator of its own"),
        (
            info.user_pin_to_be_changed(),
            "its user PIN is a default one that has not been changed",
        ),
        (
            info.user_pin_count_low(),
            "a wrong user PIN was given since the last login",
        ),
        (
            info.so_pin_to_be_changed(),
            "its security officer's PIN is a default one that has not been changed",
        ),
        (info.error_state(), "it says that it failed its self-test"),
    ] {
        if set {
            weaknesses.push(weakness.to_owned());
        }
    }
    weaknesses
}

/// What it does with keys when it is not told.
pub(super) fn of_keys(session: &Session) -> Result<Vec<String>, HsmError> {
    let mut weaknesses = Vec::new();
    if let Some(defaults) = generated_defaults(session)? {
        weaknesses.push(format!(
            "keys that other tools make in it without saying how are by default {defaults}; Sealward sets every attribute"
        ));
    }
    match bond(session)? {
        Bond::Kept => {}
        Bond::Broken => weaknesses.push(
            "it takes CKA_ALLOWED_MECHANISMS and does not keep to it: a decryption key does raw RSA"
                .to_owned(),
        ),
        Bond::Unknown => weaknesses.push(
            "it does not take CKA_ALLOWED_MECHANISMS: keys are bound to usages only".to_owned(),
        ),
    }
    Ok(weaknesses)
}

/// What follows from the table.
pub(super) fn of_operations(
    session: &Session,
    operations: &[Probed],
    imports: &[Probed],
) -> Vec<String> {
    let mut weaknesses = Vec::new();
    let sha256 = operations
        .iter()
        .find(|probed| probed.algorithm == oaep(OaepHash::Sha256));
    if sha256.is_some_and(|probed| probed.works != Works::Yes) {
        weaknesses.push("its RSA-OAEP has SHA-1 only".to_owned());
    }
    if session.device().bounds.allow_raw_rsa {
        weaknesses.push(
            "hsm.allow_raw_rsa is set: decryption keys are made so that they also do raw RSA"
                .to_owned(),
        );
    }
    let wrapped = |probed: &&Probed| probed.operation != MATERIAL;
    if !imports
        .iter()
        .filter(wrapped)
        .any(|probed| probed.works.at_all())
    {
        weaknesses.push("no wrapped key can be imported".to_owned());
    }
    weaknesses
}

/// What an AES key is like that was made with nothing but its length.
fn generated_defaults(session: &Session) -> Result<Option<String>, HsmError> {
    let template = [Attribute::Token(false), Attribute::ValueLen(32.into())];
    let Ok(key) = session.raw().generate_key(&Mechanism::AesKeyGen, &template) else {
        // It wants to be told, which is best.
        return Ok(None);
    };
    let key = session.temporary(key);
    let facts = inspect::facts(session, key.handle())?;
    let everything = Usages {
        encrypt: true,
        decrypt: true,
        ..Usages::default()
    };
    let weaknesses: Vec<_> = facts
        .weaknesses(everything)
        .iter()
        .map(|weakness| format!("{weakness:?}"))
        .collect();
    Ok((!weaknesses.is_empty()).then(|| weaknesses.join(", ")))
}

/// What a token makes of the mechanisms a key is bound to.
enum Bond {
    Kept,
    Broken,
    Unknown,
}

/// Tries raw RSA with a key that is bound to OAEP.
fn bond(session: &Session) -> Result<Bond, HsmError> {
    let allowed = [MechanismType::RSA_PKCS_OAEP];
    let key = keys::temporary_bound(session, KeyAlgorithm::Rsa2048, Purpose::Envelope, &allowed);
    let key = match key {
        Ok(key) => key,
        Err(_) => return Ok(Bond::Unknown),
    };
    let Some(public) = &key.public else {
        return Ok(Bond::Unknown);
    };
    let ciphertext = proof::encrypt(public, OaepHash::Sha1, b"bond")?;
    let raw = session.decrypt(&Mechanism::RsaX509, key.guarded.handle(), &ciphertext);
    Ok(match raw {
        Ok(_) => Bond::Broken,
        Err(error) if error.code() == Some(RvError::KeyHandleInvalid) => Bond::Unknown,
        Err(_) => Bond::Kept,
    })
}

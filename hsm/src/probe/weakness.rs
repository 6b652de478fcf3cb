//! The weaknesses of a token, each as a sentence for the operator.

use cryptoki::error::RvError;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, AttributeType};
use cryptoki_sys::{
    CKF_ERROR_STATE, CKF_LOGIN_REQUIRED, CKF_RNG, CKF_SO_PIN_TO_BE_CHANGED, CKF_USER_PIN_COUNT_LOW,
    CKF_USER_PIN_TO_BE_CHANGED,
};

use super::operations::MATERIAL;
use super::report::{Probed, Works};
use crate::crypt::proof;
use crate::keys::{self, inspect};
use crate::pkcs11::TokenInfo;
use crate::session::{Session, Temporary};
use crate::{HsmError, Purpose, Usages};
use formats::algorithms::{Algorithm, OaepHash};

/// How many sessions these workers need, with the anchor and the monitor.
pub(super) fn sessions_for(workers: usize) -> u64 {
    u64::try_from(workers).unwrap_or(u64::MAX).saturating_add(2)
}

/// The weaknesses that the token information shows.
pub(super) fn of_token(info: &TokenInfo, workers: usize) -> Vec<String> {
    let mut weaknesses = Vec::new();
    if let Some(most) = info.max_sessions
        && most < 2 * sessions_for(workers)
    {
        weaknesses.push(format!(
            "it allows only {most} sessions: few other programs can use it at the same time"
        ));
    }
    for (set, weakness) in [
        (
            !info.has(CKF_LOGIN_REQUIRED),
            "it requires no login: every process that reaches it can use its keys",
        ),
        (!info.has(CKF_RNG), "it has no random number generator"),
        (info.has(CKF_USER_PIN_TO_BE_CHANGED), "its user PIN is still the default"),
        (info.has(CKF_USER_PIN_COUNT_LOW), "a wrong user PIN was tried since the last login"),
        (info.has(CKF_SO_PIN_TO_BE_CHANGED), "its security officer's PIN is still the default"),
        (info.has(CKF_ERROR_STATE), "it reports a failed self-test"),
    ] {
        if set {
            weaknesses.push(weakness.to_owned());
        }
    }
    weaknesses
}

/// The weaknesses of keys made with the token's defaults, and of those that Sealward makes.
pub(super) fn of_keys(session: &Session) -> Vec<String> {
    let mut weaknesses = Vec::new();
    if let Some(defaults) = generated_defaults(session).unwrap_or_default() {
        weaknesses.push(format!(
            "keys that other tools generate with default attributes are {defaults}; Sealward sets every attribute"
        ));
    }
    match binding(session).unwrap_or(Binding::Unknown) {
        Binding::Enforced | Binding::Unknown => {}
        Binding::Ignored => weaknesses.push(
            "it accepts CKA_ALLOWED_MECHANISMS without enforcing it: a decryption key does raw RSA"
                .to_owned(),
        ),
        Binding::Unsupported => weaknesses.push(
            "it does not support CKA_ALLOWED_MECHANISMS: keys are bound to usages only".to_owned(),
        ),
    }
    let mut refused = session.connection().refused.names();
    // What a key is bound to was examined above.
    refused.remove(&AttributeType::AllowedMechanisms.to_string());
    for attribute in refused {
        weaknesses.push(format!(
            "it does not accept {attribute} of every key: such keys are made without it"
        ));
    }
    weaknesses
}

/// The weaknesses that the table of operations shows.
pub(super) fn of_operations(
    session: &Session,
    operations: &[Probed],
    imports: &[Probed],
) -> Vec<String> {
    let mut weaknesses = Vec::new();
    let sha256 = operations.iter().find(|probed| probed.algorithm == OaepHash::Sha256.name());
    if sha256.is_some_and(|probed| probed.works != Works::Yes) {
        weaknesses.push("its RSA-OAEP has SHA-1 only".to_owned());
    }
    if session.connection().limits.allow_raw_rsa {
        weaknesses.push("hsm.allow_raw_rsa is set: decryption keys can also do raw RSA".to_owned());
    }
    let wrapped = |probed: &&Probed| probed.operation != MATERIAL;
    if !imports.iter().filter(wrapped).any(|probed| probed.works.at_all()) {
        weaknesses.push("no wrapped key can be imported".to_owned());
    }
    weaknesses
}

/// The weaknesses of an AES key that is generated with only a length.
fn generated_defaults(session: &Session) -> Result<Option<String>, HsmError> {
    let template = [Attribute::Token(false), Attribute::ValueLen(32.into())];
    let Ok(key) = session.raw().generate_key(&Mechanism::AesKeyGen, &template) else {
        // The token requires more attributes, which is best.
        return Ok(None);
    };
    let key = Temporary::new(session, key);
    let facts = inspect::facts(session, key.handle())?;
    let everything = Usages { encrypt: true, decrypt: true, ..Usages::default() };
    let weaknesses: Vec<_> =
        facts.weaknesses(everything).iter().map(|weakness| format!("{weakness:?}")).collect();
    Ok((!weaknesses.is_empty()).then(|| weaknesses.join(", ")))
}

/// Whether a token enforces the mechanisms that a key is bound to.
enum Binding {
    Enforced,
    Ignored,
    Unsupported,
    /// It makes no RSA keys.
    Unknown,
}

/// Reads the mechanisms of a key that was bound to OAEP, and tries raw RSA with it.
fn binding(session: &Session) -> Result<Binding, HsmError> {
    let key = keys::temporary(session, Algorithm::Rsa2048, Purpose::Envelope)?;
    let Some(public) = &key.public else {
        return Ok(Binding::Unknown);
    };
    let handle = key.guarded.handle();
    let bond = inspect::read(session, handle, AttributeType::AllowedMechanisms)?;
    if !matches!(bond, Some(Attribute::AllowedMechanisms(bond)) if !bond.is_empty()) {
        return Ok(Binding::Unsupported);
    }
    if session.connection().limits.allow_raw_rsa {
        return Ok(Binding::Unknown);
    }
    let ciphertext = proof::encrypt(public, OaepHash::Sha1, b"binding")?;
    Ok(match session.raw().decrypt(&Mechanism::RsaX509, handle, &ciphertext) {
        Ok(_) => Binding::Ignored,
        Err(error) if error.code() == Some(RvError::KeyHandleInvalid) => Binding::Unsupported,
        Err(_) => Binding::Enforced,
    })
}

//! Taking over a key that the vendor's own tools put into the token.

use super::{
    KeyAlgorithm, KeyClass, KeyKind, KeyName, KeyRef, PublicKey, Purpose, Usages, inspect, public,
};
use crate::canary::INTERNAL;
use crate::proof;
use crate::session::{Session, search};
use crate::{ErrorKind, HsmError};

/// A key that was there already and may be used from now on.
#[derive(Debug, Clone)]
pub struct Adopted {
    /// How it is named from now on: by its id, where it has one to itself.
    pub key: KeyRef,
    /// What kind of key it is.
    pub algorithm: KeyAlgorithm,
    /// None where the token has no public half, or the key is secret.
    pub public: Option<PublicKey>,
    /// What the token lets it do.
    pub usages: Usages,
    /// In what the key is weaker than one that is made here.
    pub weaknesses: Vec<Weakness>,
}

/// In what an adopted key is weaker than a generated one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Weakness {
    /// `CKA_SENSITIVE` is false.
    #[error("the token reveals its value (CKA_SENSITIVE is false)")]
    NotSensitive,
    /// `CKA_EXTRACTABLE` is true.
    #[error("it can be wrapped out of the token (CKA_EXTRACTABLE is true)")]
    Extractable,
    /// `CKA_NEVER_EXTRACTABLE` is false.
    #[error("it has been outside a token, or could have been (CKA_NEVER_EXTRACTABLE is false)")]
    WasExtractable,
    /// `CKA_PRIVATE` is false.
    #[error("it is visible without login (CKA_PRIVATE is false)")]
    NotPrivate,
    /// It has usages beside those of its purpose.
    #[error("it may do more than its purpose needs")]
    WideUsage,
    /// It is an AES key without `CKA_VALUE_LEN`.
    #[error("the token does not tell its length, which is taken on trust")]
    UntoldLength,
}

/// Why a key was not adopted.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// There is none.
    #[error("the token holds no private or secret key of this name")]
    Missing,
    /// There are several.
    #[error("the token holds {0} keys of this name")]
    Ambiguous(usize),
    /// It is the canary's, or that of the trial.
    #[error("this key is one that the service keeps for itself")]
    Internal,
    /// The token tells another kind than was said.
    #[error("the key is another one than was said: {0:?}")]
    Unlike(KeyAlgorithm),
    /// Nobody knows whether it is AES-128 or AES-256.
    #[error("the token does not tell how long this AES key is: say which it is")]
    UntoldLength,
    /// Its kind or its usages are not those that are needed.
    #[error("the token does not let this key serve its purpose: {0}")]
    Unfit(String),
    /// The token did not answer.
    #[error(transparent)]
    Token(#[from] HsmError),
}

/// Looks at the key of this name on one token.
pub(crate) fn adopt(
    session: &Session,
    name: &KeyName,
    purpose: Purpose,
    said: Option<KeyAlgorithm>,
) -> Result<Result<Adopted, AdoptError>, HsmError> {
    let key = |class| KeyRef {
        name: name.clone(),
        class,
    };
    let (private, secret) = (key(KeyClass::Private), key(KeyClass::Secret));
    let privates = session.find_proven(&search(&private))?;
    let secrets = session.find_proven(&search(&secret))?;
    let (handle, key) = match (privates.as_slice(), secrets.as_slice()) {
        ([handle], []) => (*handle, private),
        ([], [handle]) => (*handle, secret),
        ([], []) => return Err(HsmError::new(ErrorKind::KeyMissing, "not found")),
        (privates, secrets) => {
            return Ok(Err(AdoptError::Ambiguous(privates.len() + secrets.len())));
        }
    };
    let facts = inspect::facts(session, handle)?;
    if facts.label.starts_with(INTERNAL) {
        return Ok(Err(AdoptError::Internal));
    }
    let unfit = |why: String| Ok(Err(AdoptError::Unfit(why)));
    let untold = facts.kind == KeyKind::AesOfUntoldLength;
    let algorithm = match (facts.kind, said) {
        (KeyKind::Known(told), Some(said)) if told != said => {
            return Ok(Err(AdoptError::Unlike(told)));
        }
        (KeyKind::Known(told), _) => told,
        (
            KeyKind::AesOfUntoldLength,
            Some(said @ (KeyAlgorithm::Aes128 | KeyAlgorithm::Aes256)),
        ) => said,
        (KeyKind::AesOfUntoldLength, Some(_)) => return unfit("it is an AES key".to_owned()),
        (KeyKind::AesOfUntoldLength, None) => return Ok(Err(AdoptError::UntoldLength)),
        (KeyKind::Other, _) => {
            return unfit("it is of a kind or size that is not used here".to_owned());
        }
    };
    let Some(needed) = Usages::of(algorithm, purpose) else {
        return unfit(format!("{algorithm:?} keys cannot serve {purpose:?}"));
    };
    if !facts.usages.covers(needed) {
        return unfit(format!(
            "it is allowed {:?}, needed is {needed:?}",
            facts.usages
        ));
    }
    // Some tokens hold AES keys of lengths that AES does not have.
    if untold && !proof::opens_what_it_sealed(session, handle).unwrap_or(false) {
        session.prove()?;
        return unfit("it does not open what it sealed".to_owned());
    }
    let mut weaknesses = facts.weaknesses(needed);
    weaknesses.extend(untold.then_some(Weakness::UntoldLength));
    // A key with an id is named by it from now on: ids are what keys are found by.
    let by_id = KeyRef {
        name: KeyName::Id(facts.id.clone()),
        class: key.class,
    };
    let key = match session.find(&search(&by_id))?.as_slice() {
        [only] if !facts.id.is_empty() && *only == handle => by_id,
        _ => key,
    };
    let public = match key.class {
        KeyClass::Private => public::of_private(session, handle, &key.name)?,
        KeyClass::Secret => None,
    };
    Ok(Ok(Adopted {
        key,
        algorithm,
        public,
        usages: facts.usages,
        weaknesses,
    }))
}

//! Adopting a key that the vendor's own tools have put into the token.

use cryptoki::object::Attribute;

use super::inspect::{KeyKind, Weakness};
use super::usages::Usages;
use super::{inspect, public};
use crate::crypt::proof;
use crate::key::INTERNAL;
use crate::pkcs11::ObjectHandle;
use crate::session::{Session, named, search};
use crate::{HsmError, KeyClass, KeyName, KeyRef, Purpose};
use formats::algorithms::{Algorithm, Family, Kem, PublicParts};

/// An adopted key.
#[derive(Debug, Clone)]
pub struct Adopted {
    /// The name of the key: by its id, if that is unique.
    pub key: KeyRef,
    /// The kind of key.
    pub algorithm: Algorithm,
    /// None where the token has no public half, or the key is secret.
    pub public: Option<PublicParts>,
    /// What the token lets the key do.
    pub usages: Usages,
    /// The attributes in which the key is weaker than a generated one.
    pub weaknesses: Vec<Weakness>,
}

impl Adopted {
    /// The key of this name on two tokens: with the weaknesses of both.
    pub(crate) fn merge(mut self, other: Self, requested: &KeyName) -> Result<Self, AdoptError> {
        let is_other = |(one, other)| one != other;
        if self.algorithm != other.algorithm
            || self.key.class != other.key.class
            || self.public.as_ref().zip(other.public.as_ref()).is_some_and(is_other)
        {
            let why = "the tokens hold different keys of this name".to_owned();
            return Err(AdoptError::Unfit(why));
        }
        // Only the requested name is known to select one key on both tokens.
        if self.key != other.key {
            self.key.name = requested.clone();
        }
        let weaknesses = other.weaknesses.into_iter();
        let new: Vec<_> = weaknesses.filter(|it| !self.weaknesses.contains(it)).collect();
        self.weaknesses.extend(new);
        self.public = self.public.or(other.public);
        Ok(self)
    }
}

/// Why a key was not adopted.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// No key has this name.
    #[error("the token holds no private or secret key of this name")]
    Missing,
    /// Several keys have this name.
    #[error("the token holds {0} keys of this name")]
    Ambiguous(usize),
    /// The public object of its name is that of another key.
    #[error("the public object of this name belongs to another key")]
    OtherPublicKey,
    /// Only Sealward uses it, such as the canary key.
    #[error("this key is for internal use of Sealward")]
    Internal,
    /// The token reports another algorithm than the caller.
    #[error("the key is of another algorithm: {0}")]
    OtherAlgorithm(Algorithm),
    /// The caller did not name the length, which the token does not report.
    #[error("the token does not report the length of this AES key: name the algorithm")]
    UnknownLength,
    /// Its kind or its usages do not fit the purpose.
    #[error("the token does not allow this use of the key: {0}")]
    Unfit(String),
    /// The token failed.
    #[error(transparent)]
    Token(#[from] HsmError),
}

/// Examines the key with this name on one token. `expected` is the algorithm that the caller
/// named, if any.
pub(crate) fn adopt(
    session: &Session,
    name: &KeyName,
    purpose: Purpose,
    expected: Option<Algorithm>,
) -> Result<Result<Adopted, AdoptError>, HsmError> {
    let key = |class| KeyRef { name: name.clone(), class };
    let (private, secret) = (key(KeyClass::Private), key(KeyClass::Secret));
    let privates = session.find_proven(&search(&private))?;
    let secrets = session.find_proven(&search(&secret))?;
    match (privates.as_slice(), secrets.as_slice()) {
        ([handle], []) => adopt_one(session, *handle, private, purpose, expected),
        ([], [handle]) => adopt_one(session, *handle, secret, purpose, expected),
        ([], []) if is_visible(session, name)? => {
            let why = "it is visible without a login, so that everybody can have made it";
            Ok(Err(AdoptError::Unfit(why.to_owned())))
        }
        ([], []) => Err(HsmError::key_missing()),
        (privates, secrets) => match hybrid_of(session, privates, expected)? {
            Some(kem) if secrets.is_empty() => {
                adopt_parts(session, key(KeyClass::Hybrid(kem)), kem, purpose)
            }
            _ => Ok(Err(AdoptError::Ambiguous(privates.len() + secrets.len()))),
        },
    }
}

/// Whether an object with this name is visible without a login.
fn is_visible(session: &Session, name: &KeyName) -> Result<bool, HsmError> {
    let visible = [Attribute::Token(true), Attribute::Private(false), named(name)];
    for class in [KeyClass::Private, KeyClass::Secret] {
        let class = Attribute::Class(class.object_class());
        if !session.find(&[&visible[..], &[class]].concat())?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The encapsulation whose parts are exactly these keys, unless another algorithm is expected.
fn hybrid_of(
    session: &Session,
    privates: &[ObjectHandle],
    expected: Option<Algorithm>,
) -> Result<Option<Kem>, HsmError> {
    let mut kinds = Vec::new();
    for handle in privates {
        kinds.push(inspect::kind(session, *handle)?);
    }
    let is_made_of = |kem: &Kem| {
        let parts = kem.algorithm().parts();
        let mut wanted = parts.iter().map(|part| KeyKind::Known(*part));
        parts.len() == kinds.len() && wanted.all(|part| kinds.contains(&part))
    };
    let fits = |kem: &Kem| expected.is_none_or(|expected| expected == kem.algorithm());
    Ok(Kem::ALL.into_iter().find(|kem| is_made_of(kem) && fits(kem)))
}

/// Examines every part of a hybrid key.
fn adopt_parts(
    session: &Session,
    key: KeyRef,
    kem: Kem,
    purpose: Purpose,
) -> Result<Result<Adopted, AdoptError>, HsmError> {
    let algorithm = kem.algorithm();
    let (mut usages, mut weaknesses) = (Usages::default(), Vec::new());
    let (mut names, mut publics) = (Vec::new(), Vec::new());
    for (part, algorithm) in key.parts().into_iter().zip(algorithm.parts()) {
        let found = session.find_proven(&search(&part))?;
        let [handle] = found.as_slice() else {
            return Err(HsmError::ambiguous_name(found.len(), &part.name));
        };
        let adopted = match adopt_one(session, *handle, part, purpose, Some(algorithm))? {
            Ok(adopted) => adopted,
            Err(error) => return Ok(Err(error)),
        };
        usages = usages.or(adopted.usages);
        weaknesses.extend(adopted.weaknesses);
        names.push(adopted.key.name);
        publics.extend(adopted.public);
    }
    weaknesses.dedup();
    let is_complete = publics.len() == names.len();
    let public = PublicParts::joined(algorithm, publics).filter(|_| is_complete);
    // The parts have the requested name in common, and perhaps the id.
    let name = match names.split_first() {
        Some((first, rest)) if rest.iter().all(|name| name == first) => first.clone(),
        _ => key.name,
    };
    Ok(Ok(Adopted {
        key: KeyRef { name, class: key.class },
        algorithm,
        public,
        usages,
        weaknesses,
    }))
}

/// Examines one key in the token.
fn adopt_one(
    session: &Session,
    handle: ObjectHandle,
    key: KeyRef,
    purpose: Purpose,
    expected: Option<Algorithm>,
) -> Result<Result<Adopted, AdoptError>, HsmError> {
    let facts = inspect::facts(session, handle)?;
    if facts.label.starts_with(INTERNAL) {
        return Ok(Err(AdoptError::Internal));
    }
    let unfit = |why: String| Ok(Err(AdoptError::Unfit(why)));
    let unknown_length = facts.kind == KeyKind::AesOfUnknownLength;
    let algorithm = match (facts.kind, expected) {
        (KeyKind::Known(found), Some(expected)) if found != expected => {
            return Ok(Err(AdoptError::OtherAlgorithm(found)));
        }
        (KeyKind::Known(found), _) => found,
        (KeyKind::AesOfUnknownLength, Some(expected)) if expected.family() == Family::Aes => {
            expected
        }
        (KeyKind::AesOfUnknownLength, Some(_)) => return unfit("it is an AES key".to_owned()),
        (KeyKind::AesOfUnknownLength, None) => return Ok(Err(AdoptError::UnknownLength)),
        (KeyKind::Other, _) => return unfit("its kind or size is not supported".to_owned()),
    };
    let Some(needed) = Usages::of(algorithm, purpose) else {
        return unfit(format!("{algorithm} keys cannot serve {purpose:?}"));
    };
    if !facts.usages.covers(needed) {
        return unfit(format!("it allows {:?}, the purpose needs {needed:?}", facts.usages));
    }
    if inspect::is_short_hmac(session, handle, algorithm)? {
        return unfit("it is shorter than its hash".to_owned());
    }
    // Some tokens hold AES keys of lengths that AES does not have.
    if unknown_length && !proof::decrypts_own_ciphertext(session, handle).unwrap_or(false) {
        session.prove()?;
        return unfit("it does not decrypt its own ciphertext".to_owned());
    }
    let mut weaknesses = facts.weaknesses(needed);
    weaknesses.extend(unknown_length.then_some(Weakness::UnknownLength));
    // A key with a unique id is named by it.
    let by_id = KeyRef { name: KeyName::Id(facts.id.clone()), ..key.clone() };
    let key = match session.find(&search(&by_id))?.as_slice() {
        [only] if !facts.id.is_empty() && *only == handle => by_id,
        _ => key,
    };
    let public = match key.class {
        KeyClass::Private | KeyClass::Hybrid(_) | KeyClass::Part(_) => {
            public::of_private(session, handle, &key.name)?
        }
        KeyClass::Secret => None,
    };
    // A public object can be replaced without the PIN.
    if let Some(public) = &public
        && !proof::may_be_half(session, handle, public, purpose)?
    {
        return Ok(Err(AdoptError::OtherPublicKey));
    }
    Ok(Ok(Adopted { key, algorithm, public, usages: facts.usages, weaknesses }))
}

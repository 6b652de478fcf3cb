//! The internal keys from which a token derives secrets, one a generation.

use std::fmt;

use cryptoki::object::{Attribute, AttributeType, ObjectClass};
use zeroize::Zeroizing;

use super::draft::Draft;
use super::generate::refuse_weaker;
use super::inspect::{self, KeyKind, Weakness};
use super::usages::Usages;
use crate::crypt::{SecretMethod, secret};
use crate::pkcs11::ObjectHandle;
use crate::session::Session;
use crate::{ErrorKind, HsmError, NewKey, Purpose};
use formats::algorithms::Algorithm;

/// The label of the keys of all generations.
const LABEL: &str = "sealward-internal rows";
/// The start of `CKA_ID`. The generation follows as four bytes, big-endian.
const ID: &[u8] = b"sealward row";

/// The secret that a token derives from its internal key of one generation.
pub struct InternalSecret {
    /// The number of the internal key.
    pub generation: u32,
    /// The operation that derives the secret.
    pub method: SecretMethod,
    /// The secret. Its length depends on the method.
    pub bytes: Zeroizing<Vec<u8>>,
}

/// An internal key in the token.
struct InternalKey {
    generation: u32,
    method: SecretMethod,
    handle: ObjectHandle,
}

/// The progress of making an internal key, which outlasts the session that began it.
#[derive(Debug, Clone)]
pub(crate) struct NewSecret {
    generation: u32,
    /// Whether a former attempt may have left objects.
    begun: bool,
    /// The methods that the token lacks.
    failures: Vec<(SecretMethod, HsmError)>,
}

/// Derives the secrets of all generations. Two keys of one generation are an error, because each derives
/// another secret.
pub(crate) fn internal_secrets(session: &Session) -> Result<Vec<InternalSecret>, HsmError> {
    let mut keys = find(session)?;
    keys.sort_by_key(|key| key.generation);
    let mut pairs = keys.iter().zip(keys.iter().skip(1));
    if let Some((key, _)) = pairs.find(|(key, next)| key.generation == next.generation) {
        let generation = key.generation;
        let detail = format!("several internal keys have the generation {generation}");
        return Err(HsmError::refused(detail));
    }
    keys.iter().map(|key| key.derive(session)).collect()
}

/// Fails if the token holds an internal key of this generation.
pub(crate) fn check_is_absent(session: &Session, generation: u32) -> Result<(), HsmError> {
    if find(session)?.iter().any(|key| key.generation == generation) {
        let detail = format!("an internal key of generation {generation} exists");
        return Err(HsmError::refused(detail));
    }
    Ok(())
}

/// Destroys every internal key of this generation, and the public halves.
pub(crate) fn destroy_internal_secret(session: &Session, generation: u32) -> Result<(), HsmError> {
    match destroy(session, generation)? {
        0 => Err(HsmError::key_missing()),
        _ => Ok(()),
    }
}

impl NewSecret {
    pub(crate) fn new(generation: u32) -> Self {
        Self { generation, begun: false, failures: Vec::new() }
    }

    /// Makes the internal key by the first method that the token supports.
    pub(crate) fn make(&mut self, session: &Session) -> Result<InternalSecret, HsmError> {
        if !self.begun {
            check_is_absent(session, self.generation)?;
        }
        for method in SecretMethod::ALL {
            if self.failures.iter().any(|(failed, _)| *failed == method) {
                continue;
            }
            match self.make_by(session, method) {
                Err(error) if shows_absence(&error) => {
                    tracing::info!(?method, ?error, "the token does not derive secrets this way");
                    self.failures.push((method, error));
                    // The failure of a broken token shows nothing.
                    session.prove()?;
                }
                outcome => return outcome,
            }
        }
        let failures = &self.failures;
        Err(HsmError::refused(format!("the token derives no secrets: {failures:?}")))
    }

    /// Makes the internal key by one method, or leaves none.
    fn make_by(
        &mut self,
        session: &Session,
        method: SecretMethod,
    ) -> Result<InternalSecret, HsmError> {
        self.generate(session, method).and_then(|key| key.derive(session)).inspect_err(|_| {
            if let Err(error) = destroy(session, self.generation) {
                tracing::error!(?error, "a refused internal key can remain in the token");
            }
        })
    }

    fn generate(
        &mut self,
        session: &Session,
        method: SecretMethod,
    ) -> Result<InternalKey, HsmError> {
        let (longest, shorter) = method.algorithms();
        self.generate_of(session, method, longest).or_else(|error| match shorter {
            Some(shorter) if error.lacks_ability() => self.generate_of(session, method, shorter),
            _ => Err(error),
        })
    }

    fn generate_of(
        &mut self,
        session: &Session,
        method: SecretMethod,
        algorithm: Algorithm,
    ) -> Result<InternalKey, HsmError> {
        let (generation, purpose) = (self.generation, method.purpose());
        let key = NewKey { id: id_of(generation), label: LABEL.to_owned(), algorithm, purpose };
        let draft = Draft::with_usages(&key, method.usages(), true);
        if self.begun {
            destroy(session, generation)?;
        }
        self.begun = true;
        let objects = draft.generate_bound_to(session, &method.mechanisms(), &[])?;
        refuse_weaker(session, algorithm, method.usages(), objects.guarded)?;
        Ok(InternalKey { generation, method, handle: objects.guarded })
    }
}

impl InternalKey {
    fn derive(&self, session: &Session) -> Result<InternalSecret, HsmError> {
        let Self { generation, method, handle } = *self;
        let bytes = secret::derive(session, handle, method, generation)?;
        Ok(InternalSecret { generation, method, bytes })
    }
}

impl SecretMethod {
    /// The algorithm of the key, and a shorter one for tokens that lack it: many TPMs have RSA-2048 only.
    fn algorithms(self) -> (Algorithm, Option<Algorithm>) {
        match self {
            Self::Hmac => (Algorithm::HmacSha256, None),
            Self::AesCbc => (Algorithm::Aes256, None),
            Self::RsaSignature => (Algorithm::Rsa3072, Some(Algorithm::Rsa2048)),
        }
    }

    /// The purpose of such keys, which may have more usages than the key of a secret needs.
    fn purpose(self) -> Purpose {
        match self {
            Self::Hmac | Self::RsaSignature => Purpose::Sign,
            Self::AesCbc => Purpose::Data,
        }
    }

    fn usages(self) -> Usages {
        match self {
            Self::Hmac | Self::RsaSignature => Usages { sign: true, ..Usages::default() },
            Self::AesCbc => Usages { encrypt: true, ..Usages::default() },
        }
    }

    /// The method of a key of this class and kind.
    fn of(class: ObjectClass, kind: KeyKind) -> Option<Self> {
        match (class, kind) {
            (ObjectClass::SECRET_KEY, KeyKind::Known(Algorithm::HmacSha256)) => Some(Self::Hmac),
            (
                ObjectClass::SECRET_KEY,
                KeyKind::Known(Algorithm::Aes256) | KeyKind::AesOfUnknownLength,
            ) => Some(Self::AesCbc),
            (ObjectClass::PRIVATE_KEY, KeyKind::Known(Algorithm::Rsa3072 | Algorithm::Rsa2048)) => {
                Some(Self::RsaSignature)
            }
            _ => None,
        }
    }
}

/// Whether a failure may mean that the token lacks a method, and not that it is out at the moment.
fn shows_absence(error: &HsmError) -> bool {
    let kind_shows = match error.kind() {
        ErrorKind::Refused | ErrorKind::Unusable | ErrorKind::BadInput | ErrorKind::KeyMissing => {
            true
        }
        ErrorKind::TokenOut | ErrorKind::Busy | ErrorKind::Late => false,
    };
    kind_shows && !error.ends_session()
}

/// Finds the internal keys of all generations. An object that is not private is none of them: it can be
/// made without the PIN.
fn find(session: &Session) -> Result<Vec<InternalKey>, HsmError> {
    let mut keys = Vec::new();
    let template = [Attribute::Token(true), Attribute::Private(true), label()];
    for handle in session.find_proven(&template)? {
        let Some(Attribute::Class(class)) = inspect::read(session, handle, AttributeType::Class)?
        else {
            return Err(HsmError::refused("the token does not report the class of an object"));
        };
        // Some tokens make the public half private.
        if class != ObjectClass::PUBLIC_KEY {
            keys.push(examine(session, handle, class)?);
        }
    }
    Ok(keys)
}

/// The generation and the method of an internal key.
fn examine(
    session: &Session,
    handle: ObjectHandle,
    class: ObjectClass,
) -> Result<InternalKey, HsmError> {
    let facts = inspect::facts(session, handle)?;
    let refused = |why: String| HsmError::refused(format!("an internal key {why}"));
    let generation = generation_of(&facts.id)
        .ok_or_else(|| refused(format!("has an unknown id: {:02x?}", facts.id)))?;
    let method = SecretMethod::of(class, facts.kind)
        .ok_or_else(|| refused(format!("is of an unknown kind: {class}, {:?}", facts.kind)))?;
    // A copy was outside of this token.
    let is_weak = |weakness: &Weakness| *weakness != Weakness::WasExtractable;
    match facts.weaknesses(method.usages()).into_iter().find(is_weak) {
        Some(weakness) => Err(refused(format!("of generation {generation} is weak: {weakness}"))),
        None => Ok(InternalKey { generation, method, handle }),
    }
}

/// Destroys the keys of a generation with their public halves. Returns the number of keys.
fn destroy(session: &Session, generation: u32) -> Result<usize, HsmError> {
    let named = [Attribute::Token(true), Attribute::Id(id_of(generation)), label()];
    let half = Attribute::Class(ObjectClass::PUBLIC_KEY);
    // The keys come last: while one exists, a second attempt finds its public half too.
    for half in session.find(&[&named[..], &[half]].concat())? {
        session.discard(half);
    }
    let keys = session.find_proven(&[&named[..], &[Attribute::Private(true)]].concat())?;
    for key in &keys {
        session.raw().destroy_object(*key)?;
    }
    Ok(keys.len())
}

fn label() -> Attribute {
    Attribute::Label(LABEL.as_bytes().to_vec())
}

fn id_of(generation: u32) -> Vec<u8> {
    [ID, &generation.to_be_bytes()].concat()
}

fn generation_of(id: &[u8]) -> Option<u32> {
    let generation = id.strip_prefix(ID)?.try_into().ok()?;
    Some(u32::from_be_bytes(generation))
}

impl fmt::Debug for InternalSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InternalSecret")
            .field("generation", &self.generation)
            .field("method", &self.method)
            .field("bytes", &"[redacted]")
            .finish()
    }
}

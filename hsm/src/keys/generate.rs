//! Generating keys in a token.

use cryptoki::error::RvError;

use super::draft::{Draft, Objects, destroy_same_id, same_id};
use super::usages::Usages;
use super::{inspect, public};
use crate::crypt::proof;
use crate::pkcs11::ObjectHandle;
use crate::session::{LastSearch, Session};
use crate::{ErrorKind, HsmError, KeyKind, KeyRef, NewKey};
use formats::algorithms::{Algorithm, PublicParts};

/// A key that the token has just generated.
#[derive(Debug, Clone)]
pub struct Generated {
    /// The name of the key.
    pub key: KeyRef,
    /// The public half; none for secret keys.
    pub public: Option<PublicParts>,
    /// The label of the token. Other tokens hold the key once the vendor's tools copy it.
    pub token: String,
}

/// Generates a key. `begun` is whether a former attempt may have left objects.
pub(crate) fn generate(
    session: &Session,
    key: &NewKey,
    begun: &mut bool,
) -> Result<Generated, HsmError> {
    let parts = key.parts();
    let drafts: Vec<_> = parts.iter().map(|part| Draft::new(part, true)).collect();
    let drafts = drafts.into_iter().collect::<Result<Vec<_>, _>>()?;
    if key.id.is_empty() {
        return Err(HsmError::refused("the id of a key must not be empty"));
    }
    if !*begun && !same_id(session, &key.id)?.is_empty() {
        return Err(HsmError::refused("the token holds an object with this id"));
    }
    if *begun {
        destroy_same_id(session, &key.id, &[])?;
    }
    *begun = true;
    let objects = generate_parts(session, &drafts).or_else(|error| {
        // Some tokens report so that they do not make such keys. One that works otherwise does not.
        match error.may_reject_attribute() {
            true => session.prove().and(Err(error.with_kind(ErrorKind::Unusable))),
            false => Err(error),
        }
    })?;
    let name = key.key_ref();
    let finished: Result<Vec<_>, _> = (name.parts().iter().zip(&parts).zip(&objects))
        .map(|((name, part), objects)| finish(session, name, part, objects))
        .collect();
    let publics = finished.inspect_err(|_| discard(session, &objects))?;
    let proven = prove(session, key, &objects, &publics).or_else(|error| {
        // Some tokens make keys for which they have no memory or no operation.
        match error.may_reject_attribute() || error.code() == Some(RvError::HostMemory) {
            true => session.prove().and(Err(error.with_kind(ErrorKind::Unusable))),
            false => Err(error),
        }
    });
    proven.inspect_err(|_| discard(session, &objects))?;
    Ok(Generated {
        key: name,
        public: PublicParts::joined(key.algorithm, publics.into_iter().flatten().collect()),
        token: session.connection().label().to_owned(),
    })
}

/// Generates every part of a key, or none.
fn generate_parts(session: &Session, drafts: &[Draft<'_>]) -> Result<Vec<Objects>, HsmError> {
    let mut generated: Vec<Objects> = Vec::new();
    for draft in drafts {
        let kept: Vec<_> = generated.iter().flat_map(Objects::each).collect();
        match draft.generate_bound(session, &kept) {
            Ok(objects) => generated.push(objects),
            Err(error) => {
                discard(session, &generated);
                return Err(error);
            }
        }
    }
    Ok(generated)
}

fn discard(session: &Session, generated: &[Objects]) {
    for object in generated.iter().flat_map(Objects::each) {
        if let Err(error) = session.raw().destroy_object(object) {
            tracing::error!(?error, "a refused key remains in the token");
        }
    }
}

/// Generates a permanent key for this crate itself, not bound to mechanisms.
pub(crate) fn generate_internal(session: &Session, key: &NewKey) -> Result<ObjectHandle, HsmError> {
    let draft = Draft::new(key, true)?;
    Ok(draft.generate_bound_to(session, &[], &[])?.guarded)
}

/// Reads a part of a key back and refuses it if it is weaker than requested. Returns its public half.
fn finish(
    session: &Session,
    name: &KeyRef,
    key: &NewKey,
    objects: &Objects,
) -> Result<Option<PublicParts>, HsmError> {
    let usages = Usages::needed(key.algorithm, key.purpose)?;
    refuse_weaker(session, key.algorithm, usages, objects.guarded)?;
    let public = objects.public.map(|half| public::of_object(session, half)).transpose()?;
    session.connection().handles.forget(name);
    session.cache(name, LastSearch::Held(objects.guarded));
    Ok(public)
}

/// Proves that the token uses each part for its purpose. Envelopes for another key could not be opened, and
/// some tokens make keys for which they have no operation.
fn prove(
    session: &Session,
    key: &NewKey,
    objects: &[Objects],
    publics: &[Option<PublicParts>],
) -> Result<(), HsmError> {
    for (objects, public) in objects.iter().zip(publics) {
        let works = match public {
            Some(public) => proof::may_be_half(session, objects.guarded, public, key.purpose)?,
            None => proof::secret_works(session, objects.guarded, key.algorithm)?,
        };
        if !works {
            let detail = "the token does not use the key that it made as its purpose needs";
            return Err(HsmError::refused(detail));
        }
    }
    Ok(())
}

/// Reads a new key back and refuses it if it is weaker or of another kind than requested.
pub(super) fn refuse_weaker(
    session: &Session,
    algorithm: Algorithm,
    usages: Usages,
    object: ObjectHandle,
) -> Result<(), HsmError> {
    let facts = inspect::facts(session, object)?;
    let problem = if let Some(weakness) = facts.weaknesses(usages).first() {
        format!("weaker than requested: {weakness}")
    } else if !facts.usages.covers(usages) {
        format!("without the requested usages: {:?}", facts.usages)
    } else if facts.kind != KeyKind::Known(algorithm) {
        format!("of another kind than requested: {:?}", facts.kind)
    } else {
        return Ok(());
    };
    Err(HsmError::refused(format!("the token made a key {problem}")))
}

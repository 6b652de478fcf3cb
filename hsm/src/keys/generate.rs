//! Generating keys in a token.

use cryptoki::object::Attribute;

use super::draft::{Draft, Objects};
use super::usages::Usages;
use super::{inspect, public};
use crate::crypt::proof;
use crate::pkcs11::ObjectHandle;
use crate::session::{LastSearch, Session};
use crate::{HsmError, KeyKind, KeyRef, NewKey, Purpose};
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
    let mut attempt = || {
        if *begun {
            for object in same_id(session, &key.id)? {
                session.raw().destroy_object(object)?;
            }
        }
        *begun = true;
        generate_parts(session, &drafts)
    };
    // Retried once, because tokens fail now and then while they write.
    let objects = attempt().or_else(|error| match error.is_ambiguous() {
        true => attempt(),
        false => Err(error),
    })?;
    let name = key.key_ref();
    let finished: Result<Vec<_>, _> = (name.parts().iter().zip(&parts).zip(&objects))
        .map(|((name, part), objects)| finish(session, name, part, objects))
        .collect();
    let publics = finished.inspect_err(|_| discard(session, &objects))?;
    prove(session, key.purpose, &objects, &publics).inspect_err(|_| discard(session, &objects))?;
    Ok(Generated {
        key: name,
        public: PublicParts::joined(key.algorithm, publics.into_iter().flatten().collect()),
        token: session.connection().label().to_owned(),
    })
}

/// Generates every part of a key, or none.
fn generate_parts(session: &Session, drafts: &[Draft<'_>]) -> Result<Vec<Objects>, HsmError> {
    let mut generated = Vec::new();
    for draft in drafts {
        match draft.generate_bound(session) {
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

/// Generates a permanent key for this crate itself, not bound to mechanisms. Retried once.
pub(crate) fn generate_internal(session: &Session, key: &NewKey) -> Result<ObjectHandle, HsmError> {
    let draft = Draft::new(key, true)?;
    let generate = || draft.generate(session, &[]);
    Ok(generate().or_else(|_| generate())?.guarded)
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

/// Proves that the token uses each part for its purpose. Envelopes for another key could not be opened.
fn prove(
    session: &Session,
    purpose: Purpose,
    objects: &[Objects],
    publics: &[Option<PublicParts>],
) -> Result<(), HsmError> {
    for (objects, public) in objects.iter().zip(publics) {
        if let Some(public) = public
            && !proof::may_be_half(session, objects.guarded, public, purpose)?
        {
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

/// Every object with this id, of any class.
pub(crate) fn same_id(session: &Session, id: &[u8]) -> Result<Vec<ObjectHandle>, HsmError> {
    let found = session.find(&[Attribute::Token(true), Attribute::Id(id.to_vec())])?;
    // Without a login private objects are not found.
    session.check_login()?;
    Ok(found)
}

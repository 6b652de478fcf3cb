//! Destroying a key and its public half.

use cryptoki::object::{Attribute, AttributeType, ObjectClass};

use super::{KeyKind, inspect, public};
use crate::crypt::proof;
use crate::key::INTERNAL;
use crate::pkcs11::ObjectHandle;
use crate::session::{LastSearch, Session, named, search};
use crate::{ErrorKind, HsmError, KeyClass, KeyName, KeyRef, RecordedKey};
use formats::algorithms::Family;

/// Destroys the objects of a key on one token, and its public half. Other objects with the same id
/// or label stay. If the token has only one part of a hybrid key, this part is destroyed. If one
/// object is not that of the recorded key, none is destroyed.
pub(crate) fn destroy(
    session: &Session,
    key: &KeyRef,
    recorded: Option<&RecordedKey>,
) -> Result<(), HsmError> {
    let mut records = recorded.map(RecordedKey::parts).unwrap_or_default().into_iter();
    let mut found = Vec::new();
    for part in key.parts() {
        let record = records.next();
        let handle = match find(session, &part) {
            Ok(handle) => handle,
            Err(error) if error.kind() == ErrorKind::KeyMissing => continue,
            Err(error) => return Err(error),
        };
        if let Some(record) = &record
            && !is_recorded(session, handle, record)?
        {
            let detail = format!("{:?} is not the recorded key", part.name);
            return Err(HsmError::refused(detail));
        }
        found.push((part, handle));
    }
    if found.is_empty() {
        return Err(HsmError::key_missing());
    }
    for (part, handle) in found {
        destroy_object(session, &part, handle)?;
    }
    Ok(())
}

/// The object that is to be destroyed, found now: a cached handle can be that of a key which had this
/// name before.
fn find(session: &Session, key: &KeyRef) -> Result<ObjectHandle, HsmError> {
    let known = session.known(key);
    let found = session.find_proven(&search(key))?;
    match (found.as_slice(), known) {
        ([only], _) => Ok(*only),
        ([], _) => {
            session.connection().handles.forget(key);
            Err(HsmError::key_missing())
        }
        (several, Some(LastSearch::Held(handle))) if several.contains(&handle) => Ok(handle),
        (several, _) => Err(HsmError::ambiguous_name(several.len(), &key.name)),
    }
}

/// Whether the object is the recorded key. Secret keys of one kind cannot be distinguished.
fn is_recorded(
    session: &Session,
    key: ObjectHandle,
    recorded: &RecordedKey,
) -> Result<bool, HsmError> {
    let is_same_kind = match inspect::facts(session, key)?.kind {
        KeyKind::Known(algorithm) => algorithm == recorded.algorithm,
        KeyKind::AesOfUnknownLength => recorded.algorithm.family() == Family::Aes,
        KeyKind::Other => false,
    };
    let Some(public) = recorded.public.as_ref().filter(|_| is_same_kind) else {
        return Ok(is_same_kind);
    };
    match proof::is_private_half(session, key, public, recorded.purpose) {
        Err(error) if error.kind() == ErrorKind::BadInput => Ok(false),
        proven => proven,
    }
}

fn destroy_object(session: &Session, key: &KeyRef, handle: ObjectHandle) -> Result<(), HsmError> {
    let facts = inspect::facts(session, handle)?;
    if facts.label.starts_with(INTERNAL) {
        return Err(HsmError::refused("this key is for internal use of Sealward"));
    }
    let half = match key.class {
        KeyClass::Private | KeyClass::Hybrid(_) | KeyClass::Part(_) => {
            public_half(session, handle, key, facts.id, &facts.label)?
        }
        KeyClass::Secret => None,
    };
    session.connection().handles.forget(key);
    // The private half comes last: while it exists, a second attempt finds both.
    for object in half.into_iter().chain([handle]) {
        session.raw().destroy_object(object).inspect_err(|error| {
            // A failed operation of another session may keep the key busy. It ends with its session, so that
            // the next attempt succeeds.
            if error.is_ambiguous() {
                session.connection().next_generation();
            }
        })?;
    }
    Ok(())
}

/// The public object of a private key: it shares the id, and its value or its label shows that it
/// belongs to this key if there are several.
fn public_half(
    session: &Session,
    private: ObjectHandle,
    key: &KeyRef,
    id: Vec<u8>,
    label: &str,
) -> Result<Option<ObjectHandle>, HsmError> {
    let name = match &key.name {
        KeyName::Label(_) if !id.is_empty() => Attribute::Id(id),
        name @ (KeyName::Id(_) | KeyName::Internal(_) | KeyName::Label(_)) => named(name),
    };
    let mut halves =
        session.find(&[Attribute::Class(ObjectClass::PUBLIC_KEY), Attribute::Token(true), name])?;
    let key_type = inspect::read(session, private, AttributeType::KeyType)?;
    let value = public::of_rsa(session, private)?;
    let belongs = |half: &ObjectHandle| -> Result<bool, HsmError> {
        Ok(match &value {
            Some(value) => public::of_object(session, *half).is_ok_and(|other| other == *value),
            None => inspect::read(session, *half, AttributeType::KeyType)? == key_type,
        })
    };
    let mut kept = Vec::new();
    for half in halves.drain(..) {
        if belongs(&half)? {
            kept.push(half);
        }
    }
    if kept.len() > 1 {
        let mut labelled = Vec::new();
        for half in kept {
            let other = inspect::read(session, half, AttributeType::Label)?;
            if other == Some(Attribute::Label(label.as_bytes().to_vec())) {
                labelled.push(half);
            }
        }
        kept = labelled;
    }
    match kept.as_slice() {
        [half] => Ok(Some(*half)),
        [] => Ok(None),
        several => {
            let count = several.len();
            tracing::warn!(?key, count, "several public halves match: none is destroyed");
            Ok(None)
        }
    }
}

//! Destroying a key and its public half.

use cryptoki::object::{Attribute, AttributeType, ObjectClass, ObjectHandle};

use super::{inspect, public};
use crate::key::INTERNAL;
use crate::session::{Known, Session, named, search};
use crate::{ErrorKind, HsmError, KeyClass, KeyName, KeyRef};

/// Destroys the objects of a key on one token, and its public half. Other objects with the same id
/// or label stay. If the token has only one part of a hybrid key, this part is destroyed.
pub(crate) fn destroy(session: &Session, key: &KeyRef) -> Result<(), HsmError> {
    let (mut destroyed, mut verdict) = (false, None);
    for part in key.parts() {
        match destroy_part(session, &part) {
            Ok(()) => destroyed = true,
            Err(error) if error.kind() == ErrorKind::KeyMissing => verdict = Some(error),
            Err(error) => return Err(error),
        }
    }
    match verdict {
        Some(missing) if !destroyed => Err(missing),
        _ => Ok(()),
    }
}

fn destroy_part(session: &Session, key: &KeyRef) -> Result<(), HsmError> {
    let known = session.known(key);
    let found = session.find_proven(&search(key))?;
    let handle = match (found.as_slice(), known) {
        ([only], _) => *only,
        ([], _) => {
            session.connection().handles.forget(key);
            return Err(HsmError::key_missing());
        }
        (several, Some(Known::Held(handle))) if several.contains(&handle) => handle,
        (several, _) => return Err(HsmError::ambiguous_name(several.len(), &key.name)),
    };
    let facts = inspect::facts(session, handle)?;
    if facts.label.starts_with(INTERNAL) {
        return Err(HsmError::refused(
            "this key is for internal use of Sealward",
        ));
    }
    let half = match key.class {
        KeyClass::Private | KeyClass::Hybrid(_) | KeyClass::Part(_) => {
            public_half(session, handle, key, facts.id, &facts.label)?
        }
        KeyClass::Secret => None,
    };
    session.connection().handles.forget(key);
    for object in [Some(handle), half].into_iter().flatten() {
        session.raw().destroy_object(object)?;
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
    let mut halves = session.find(&[
        Attribute::Class(ObjectClass::PUBLIC_KEY),
        Attribute::Token(true),
        name,
    ])?;
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
            tracing::warn!(
                ?key,
                count,
                "several public halves match: none is destroyed"
            );
            Ok(None)
        }
    }
}

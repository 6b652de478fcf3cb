//! Destroying a key and its public half.

use cryptoki::object::{Attribute, ObjectClass};

use super::{KeyName, KeyRef, inspect};
use crate::canary::INTERNAL;
use crate::session::{Session, named, search};
use crate::{ErrorKind, HsmError};

/// Destroys every object of this name on one token.
pub(crate) fn destroy(session: &Session, key: &KeyRef) -> Result<(), HsmError> {
    let guarded = session.find_proven(&search(key))?;
    session.device().handles.forget(key);
    let Some(first) = guarded.first() else {
        return Err(HsmError::new(ErrorKind::KeyMissing, "not found"));
    };
    let facts = inspect::facts(session, *first)?;
    if facts.label.starts_with(INTERNAL) {
        return Err(HsmError::refused(
            "this key is one the service keeps for itself",
        ));
    }
    if guarded.len() > 1 && matches!(key.name, KeyName::Label(_)) {
        return Err(HsmError::refused(
            "several keys have this label: which one is meant?",
        ));
    }
    // The public half goes by the id, which it shares with the private one.
    let half = match &key.name {
        KeyName::Label(_) if !facts.id.is_empty() => Attribute::Id(facts.id),
        name => named(name),
    };
    let public = [
        Attribute::Class(ObjectClass::PUBLIC_KEY),
        Attribute::Token(true),
        half,
    ];
    for object in guarded.into_iter().chain(session.find(&public)?) {
        session.raw().destroy_object(object)?;
    }
    Ok(())
}

//! The keys that a token holds.

use std::collections::HashMap;

use cryptoki::object::{Attribute, AttributeType};

use super::inspect::{self, KeyKind};
use super::usages::Usages;
use crate::key::INTERNAL;
use crate::pkcs11::ObjectHandle;
use crate::session::Session;
use crate::{HsmError, KeyClass, KeyName, KeyRef};

/// A key that was looked up.
#[derive(Debug, Clone)]
pub struct FoundKey {
    /// The name of the key.
    pub key: KeyRef,
    /// The kind of key that the token reports.
    pub kind: KeyKind,
    /// What the token lets the key do.
    pub usages: Usages,
    /// Which tokens hold the key.
    pub presence: Vec<Presence>,
}

/// Whether a token holds a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presence {
    /// The token's label.
    pub token: String,
    /// None while the token is out and has not been searched before.
    pub holds: Option<bool>,
}

/// One private or secret key object in a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenObject {
    /// The label of the token that holds it.
    pub token: String,
    /// By its id if it has one, otherwise by its label. One of several private keys with the same name is a
    /// part.
    pub key: KeyRef,
    /// Whether it is visible without a login, so that its creation requires none either. It is no key of
    /// Sealward.
    pub is_visible: bool,
    /// `CKA_LABEL`, possibly empty.
    pub label: String,
    /// Whether this crate keeps it for itself, such as the canary key.
    pub internal: bool,
}

/// Every private and secret key object of one token.
#[expect(clippy::wildcard_enum_match_arm, reason = "tokens return only the requested attributes")]
pub(crate) fn inventory(session: &Session) -> Result<Vec<TokenObject>, HsmError> {
    let mut objects = Vec::new();
    for class in [KeyClass::Private, KeyClass::Secret] {
        let template = [Attribute::Class(class.object_class()), Attribute::Token(true)];
        for handle in session.find_proven(&template)? {
            let wanted = [AttributeType::Id, AttributeType::Label, AttributeType::Private];
            let attributes = session.raw().attributes(handle, &wanted);
            let attributes = match attributes {
                // The key was destroyed after the search, if a second search in a token that works
                // does not find it. Tokens report this with different codes.
                Err(error) if session.find_proven(&template)?.contains(&handle) => {
                    return Err(error);
                }
                Err(_) => continue,
                Ok(attributes) => attributes,
            };
            let (mut id, mut label, mut is_visible) = (Vec::new(), String::new(), true);
            for attribute in attributes {
                match attribute {
                    Attribute::Id(value) => id = value,
                    Attribute::Label(value) => label = String::from_utf8_lossy(&value).into_owned(),
                    Attribute::Private(private) => is_visible = !private,
                    _ => {}
                }
            }
            let name = if id.is_empty() { KeyName::Label(label.clone()) } else { KeyName::Id(id) };
            let object = TokenObject {
                token: session.connection().label().to_owned(),
                key: KeyRef { name, class },
                is_visible,
                internal: !is_visible && label.starts_with(INTERNAL),
                label,
            };
            objects.push((handle, object));
        }
    }
    tell_apart(session, &mut objects)?;
    Ok(objects.into_iter().map(|(_, object)| object).collect())
}

/// Gives private keys with the same name the class of a part, so that each has a name of its own.
fn tell_apart(
    session: &Session,
    objects: &mut [(ObjectHandle, TokenObject)],
) -> Result<(), HsmError> {
    let mut counts = HashMap::new();
    for (_, object) in &*objects {
        *counts.entry(object.key.clone()).or_insert(0) += 1;
    }
    for (handle, object) in objects {
        if object.key.class == KeyClass::Private
            && counts.get(&object.key).is_some_and(|count| *count > 1)
            && let KeyKind::Known(algorithm) = inspect::kind(session, *handle)?
        {
            object.key.class = KeyClass::Part(algorithm);
        }
    }
    Ok(())
}

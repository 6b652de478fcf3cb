//! From the name of a key to its handle.

use std::time::Instant;

use cryptoki::error::RvError;
use cryptoki::object::{Attribute, AttributeType, ObjectClass};

use super::Session;
use super::handles::LastSearch;
use crate::attribute_values;
use crate::key::INTERNAL;
use crate::pkcs11::ObjectHandle;
use crate::{ErrorKind, HsmError, KeyClass, KeyName, KeyRef};

/// The key of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key<'a> {
    /// A key that is searched by its name, and searched again when its handle is dead.
    Named(&'a KeyRef),
    /// An object that was just created on this session.
    Object(ObjectHandle),
}

impl Session {
    /// Runs an operation with the cached handle of a key. A handle that the token reports as dead
    /// is searched again, once.
    pub(crate) fn with_key<'k, T>(
        &self,
        key: impl Into<Key<'k>>,
        mut operation: impl FnMut(ObjectHandle) -> Result<T, HsmError>,
    ) -> Result<T, HsmError> {
        let key = match key.into() {
            Key::Named(key) => key,
            Key::Object(handle) => return operation(handle),
        };
        let handle = match self.known(key) {
            Some(LastSearch::Held(handle)) => handle,
            Some(LastSearch::Absent(_)) => return Err(HsmError::key_missing()),
            None => self.look_up_to_use(key)?,
        };
        match operation(handle) {
            Err(error) if is_dead_handle(&error) => {
                self.connection.handles.forget(key);
                self.connection.canary.raise();
                let handle = self.look_up_to_use(key)?;
                operation(handle).map_err(|error| match is_dead_handle(&error) {
                    // The key was found this instant, so the token contradicts itself.
                    true => error.with_kind(ErrorKind::Refused),
                    false => error,
                })
            }
            result => result,
        }
    }

    /// Searches the token for a key. Keys for internal use are found by their own names only, because
    /// records of keys can name any object.
    fn look_up_to_use(&self, key: &KeyRef) -> Result<ObjectHandle, HsmError> {
        match self.search_one(key)? {
            (handle, true) => Ok(handle),
            (_, false) => Err(HsmError::key_missing()),
        }
    }

    /// Searches the token for a key to describe it.
    pub(crate) fn look_up(&self, key: &KeyRef) -> Result<ObjectHandle, HsmError> {
        self.search_one(key).map(|(handle, _)| handle)
    }

    /// The handle of a key, and whether operations may use it under this name. The handle is then cached.
    /// The key is only missing if the token proves to work: a token whose directory has gone finds
    /// nothing either.
    fn search_one(&self, key: &KeyRef) -> Result<(ObjectHandle, bool), HsmError> {
        let mut found = self.find(&search(key))?;
        if found.is_empty() {
            found = self.find_proven(&search(key))?;
        }
        match found.as_slice() {
            [handle] => {
                let is_internal = self.is_internal(*handle)?;
                let is_usable = is_internal == matches!(key.name, KeyName::Internal(_));
                if is_usable {
                    self.cache(key, LastSearch::Held(*handle));
                }
                Ok((*handle, is_usable))
            }
            [] => {
                self.cache(key, LastSearch::Absent(Instant::now()));
                Err(HsmError::key_missing())
            }
            several => Err(HsmError::ambiguous_name(several.len(), &key.name)),
        }
    }

    fn is_internal(&self, key: ObjectHandle) -> Result<bool, HsmError> {
        let attributes = self.raw().attributes(key, &[AttributeType::Label])?;
        let is_internal = |it: &Attribute| matches!(it, Attribute::Label(label) if label.starts_with(INTERNAL.as_bytes()));
        Ok(attributes.iter().any(is_internal))
    }

    /// The cached result of the last search.
    pub(crate) fn known(&self, key: &KeyRef) -> Option<LastSearch> {
        self.connection.handles.get(self.generation, key)
    }

    /// Caches the result of a search.
    pub(crate) fn cache(&self, key: &KeyRef, known: LastSearch) {
        self.connection.handles.keep(self.generation, key, known);
    }

    /// Searches a token that proves to work and whose login lasts all the while, because private
    /// objects are not found without one.
    pub(crate) fn find_proven(
        &self,
        template: &[Attribute],
    ) -> Result<Vec<ObjectHandle>, HsmError> {
        self.prove()?;
        let found = self.find(template)?;
        self.check_login()?;
        Ok(found)
    }
}

impl<'a> From<&'a KeyRef> for Key<'a> {
    fn from(key: &'a KeyRef) -> Self {
        Self::Named(key)
    }
}

impl From<ObjectHandle> for Key<'_> {
    fn from(handle: ObjectHandle) -> Self {
        Self::Object(handle)
    }
}

impl KeyClass {
    /// The PKCS#11 class.
    pub(crate) fn object_class(self) -> ObjectClass {
        match self {
            Self::Private | Self::Hybrid(_) | Self::Part(_) => ObjectClass::PRIVATE_KEY,
            Self::Secret => ObjectClass::SECRET_KEY,
        }
    }
}

/// The search template of a key that is one object. An object that is visible without a login can be made
/// without one, so it is never that key.
pub(crate) fn search(key: &KeyRef) -> Vec<Attribute> {
    let mut template = vec![
        Attribute::Class(key.class.object_class()),
        Attribute::Token(true),
        Attribute::Private(true),
        named(&key.name),
    ];
    if let KeyClass::Part(algorithm) = key.class {
        template.push(Attribute::KeyType(attribute_values::key_type(algorithm)));
    }
    template
}

/// The attribute that names an object.
pub(crate) fn named(name: &KeyName) -> Attribute {
    match name {
        KeyName::Id(id) | KeyName::Internal(id) => Attribute::Id(id.clone()),
        KeyName::Label(label) => Attribute::Label(label.clone().into_bytes()),
    }
}

/// Whether the object does not exist, any more or at all.
fn is_dead_handle(error: &HsmError) -> bool {
    matches!(error.code(), Some(RvError::ObjectHandleInvalid | RvError::KeyHandleInvalid))
}

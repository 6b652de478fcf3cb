//! A logged-in session, as operations see it. Every operation of this crate is a closure over
//! `&Session` that a worker runs, given to it by the pool.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::Instant;

use cryptoki::error::RvError;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, ObjectClass, ObjectHandle};
use cryptoki::session::Session as Pkcs11Session;
use zeroize::Zeroizing;

use crate::canary;
use crate::device::Device;
use crate::handles::Known;
use crate::module::OpenSession;
use crate::single::Calls;
use crate::{ErrorKind, HsmError, KeyClass, KeyName, KeyRef};

pub(crate) struct Session {
    open: OpenSession,
    device: Arc<Device>,
    generation: u64,
}

/// A session object that is destroyed when it goes out of scope: one that is left behind costs
/// the token memory and slows its searches until the session ends.
pub(crate) struct Temporary<'a> {
    session: &'a Session,
    handle: ObjectHandle,
}

/// The key an operation works with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key<'a> {
    /// One that is found by its name, and found again when its handle is dead.
    Named(&'a KeyRef),
    /// An object that was just made on this session.
    Object(ObjectHandle),
}

impl Session {
    pub(crate) fn new(open: OpenSession, device: Arc<Device>, generation: u64) -> Self {
        Self {
            open,
            device,
            generation,
        }
    }

    /// The session of the library, for all other calls.
    pub(crate) fn raw(&self) -> &Pkcs11Session {
        self.open.raw()
    }

    pub(crate) fn decrypt(
        &self,
        by: &Mechanism<'_>,
        key: ObjectHandle,
        ciphertext: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        self.calls().decrypt(self.raw(), by, key, ciphertext)
    }

    pub(crate) fn encrypt(
        &self,
        by: &Mechanism<'_>,
        key: ObjectHandle,
        plaintext: &[u8],
    ) -> Result<Vec<u8>, HsmError> {
        self.calls().encrypt(self.raw(), by, key, plaintext)
    }

    pub(crate) fn sign(
        &self,
        by: &Mechanism<'_>,
        key: ObjectHandle,
        message: &[u8],
    ) -> Result<Vec<u8>, HsmError> {
        self.calls().sign(self.raw(), by, key, message)
    }

    /// The value of a secret of at most so many bytes that may be read.
    pub(crate) fn read_value(
        &self,
        secret: ObjectHandle,
        room: usize,
    ) -> Result<Zeroizing<Vec<u8>>, HsmError> {
        self.calls().read_value(self.raw(), secret, room)
    }

    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The generation of sessions and handles this one belongs to.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether the token went out, or its login was renewed, since this session was opened.
    pub(crate) fn is_stale(&self) -> bool {
        self.generation != self.device.generation()
    }

    /// Runs an operation with the handle of a key, which is found once and kept. A handle that
    /// the token says is dead is found again, once.
    pub(crate) fn with_key<'k, T>(
        &self,
        key: impl Into<Key<'k>>,
        mut operation: impl FnMut(ObjectHandle) -> Result<T, HsmError>,
    ) -> Result<T, HsmError> {
        let key = match key.into() {
            Key::Named(key) => key,
            Key::Object(handle) => return operation(handle),
        };
        let known = self.device.handles.get(self.generation, key);
        let handle = match known {
            Some(Known::Held(handle)) => handle,
            Some(Known::Absent(_)) => return Err(missing()),
            None => self.look_up(key)?,
        };
        match operation(handle) {
            Err(error) if is_dead_handle(&error) => {
                self.device.handles.forget(key);
                self.device.ask_canary();
                let handle = self.look_up(key)?;
                operation(handle).map_err(|error| match is_dead_handle(&error) {
                    // It was found this instant: the key is there, and the token is not sane.
                    true => error.sorted(ErrorKind::Refused),
                    false => error,
                })
            }
            result => result,
        }
    }

    /// Looks for a key on the token and keeps what is found. "Missing" is only said by a token
    /// that proves to be there: one whose directory went away finds nothing either.
    pub(crate) fn look_up(&self, key: &KeyRef) -> Result<ObjectHandle, HsmError> {
        let mut found = self.find(&search(key))?;
        if found.is_empty() {
            found = self.find_proven(&search(key))?;
        }
        match found.as_slice() {
            [handle] => {
                self.device
                    .handles
                    .keep(self.generation, key, Known::Held(*handle));
                Ok(*handle)
            }
            [] => {
                let absent = Known::Absent(Instant::now());
                self.device.handles.keep(self.generation, key, absent);
                Err(missing())
            }
            several => Err(HsmError::refused(format!(
                "{} keys are called {:?}: which one is meant?",
                several.len(),
                key.name
            ))),
        }
    }

    /// Searches the token. Costs more with every object it holds.
    pub(crate) fn find(&self, template: &[Attribute]) -> Result<Vec<ObjectHandle>, HsmError> {
        self.device.tally.finds.one();
        Ok(self.raw().find_objects(template)?)
    }

    /// Makes an object, of what is known here. A failure that says nothing is followed by a second
    /// try, because tokens fail now and then while they write.
    pub(crate) fn create(&self, template: &[Attribute]) -> Result<ObjectHandle, HsmError> {
        let make = || self.raw().create_object(template).map_err(HsmError::from);
        make().or_else(|error| match error.is_ambiguous() {
            true => make(),
            false => Err(error),
        })
    }

    /// Takes care of a session object that was just made.
    pub(crate) fn temporary(&self, handle: ObjectHandle) -> Temporary<'_> {
        Temporary {
            session: self,
            handle,
        }
    }

    /// Searches a token that proves to be there, and whose login held all the while: private
    /// objects are not found without one, whether or not somebody renews it a moment later.
    pub(crate) fn find_proven(
        &self,
        template: &[Attribute],
    ) -> Result<Vec<ObjectHandle>, HsmError> {
        self.prove()?;
        let found = self.find(template)?;
        self.check_login()?;
        Ok(found)
    }

    /// Proves that the token is there and the user logged in.
    pub(crate) fn prove(&self) -> Result<(), HsmError> {
        self.check_login()?;
        canary::exercise(self).or_else(|error| {
            self.check_login()?;
            self.device.ask_canary();
            Err(error.sorted(ErrorKind::TokenOut))
        })
    }

    /// Refuses to go on where the login has not held since this session was opened.
    pub(crate) fn check_login(&self) -> Result<(), HsmError> {
        if self.has_kept_login()? {
            Ok(())
        } else {
            Err(HsmError::login_lost())
        }
    }

    /// Whether the login has held since this session was opened. A renewal is counted before it
    /// begins, so none goes unnoticed between two looks.
    pub(crate) fn has_kept_login(&self) -> Result<bool, HsmError> {
        let is_there = !self.device.needs_login() || self.open.is_logged_in()?;
        Ok(is_there && !self.is_stale())
    }
}

impl Session {
    fn calls(&self) -> &Calls {
        self.device.login.module().calls()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.device.session_closed();
    }
}

impl Temporary<'_> {
    pub(crate) fn handle(&self) -> ObjectHandle {
        self.handle
    }

    /// Lets the object stay.
    pub(crate) fn keep(self) -> ObjectHandle {
        ManuallyDrop::new(self).handle
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

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.session.raw().destroy_object(self.handle) {
            tracing::debug!(?error, "a session object stays until its session ends");
        }
    }
}

/// The attributes a key is searched by.
pub(crate) fn search(key: &KeyRef) -> Vec<Attribute> {
    let class = match key.class {
        KeyClass::Private => ObjectClass::PRIVATE_KEY,
        KeyClass::Secret => ObjectClass::SECRET_KEY,
    };
    vec![
        Attribute::Class(class),
        Attribute::Token(true),
        named(&key.name),
    ]
}

/// The attribute that names an object.
pub(crate) fn named(name: &KeyName) -> Attribute {
    match name {
        KeyName::Id(id) => Attribute::Id(id.clone()),
        KeyName::Label(label) => Attribute::Label(label.clone().into_bytes()),
    }
}

fn missing() -> HsmError {
    HsmError::new(ErrorKind::KeyMissing, "not found")
}

/// Whether there is no such object, any more or at all.
pub(crate) fn is_dead_handle(error: &HsmError) -> bool {
    matches!(
        error.code(),
        Some(RvError::ObjectHandleInvalid | RvError::KeyHandleInvalid)
    )
}

//! Session objects that live as long as a scope.

use std::mem::ManuallyDrop;

use super::Session;
use crate::pkcs11::ObjectHandle;

/// A session object that is destroyed when it goes out of scope: otherwise it would cost the token
/// memory and slow down searches until the session ends.
pub(crate) struct Temporary<'a> {
    session: &'a Session,
    handle: ObjectHandle,
}

impl<'a> Temporary<'a> {
    pub(crate) fn new(session: &'a Session, handle: ObjectHandle) -> Self {
        Self { session, handle }
    }

    pub(crate) fn handle(&self) -> ObjectHandle {
        self.handle
    }

    pub(crate) fn keep(self) -> ObjectHandle {
        ManuallyDrop::new(self).handle
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        self.session.discard(self.handle);
    }
}

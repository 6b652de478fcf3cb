//! A logged-in session on a token with the requirements of an operation. Every operation of this
//! crate is a function over [`Session`]; this folder knows nothing of queues and threads.

#![deny(clippy::wildcard_enum_match_arm)]

mod canary;
mod connection;
mod handles;
mod login;
mod lookup;
mod module;
mod refused;
mod signal;
mod temporary;
mod timed_lock;

use std::sync::Arc;

use cryptoki::object::Attribute;

use crate::HsmError;
use crate::pkcs11::{ObjectHandle, RawSession};
use module::OpenSession;

pub(crate) use canary::CanaryKey;
pub(crate) use connection::{TokenConnection, TokenIdentity};
pub(crate) use handles::LastSearch;
pub(crate) use login::ConnectError;
pub(crate) use lookup::{Key, named, search};
pub(crate) use module::Module;
pub(crate) use refused::{Circumstances, Origin, RefusedAttributes};
pub(crate) use temporary::Temporary;

pub(crate) struct Session {
    open: OpenSession,
    connection: Arc<TokenConnection>,
    generation: u64,
}

impl Session {
    /// Opens a session on the token and logs in where needed.
    pub(crate) fn open(connection: &Arc<TokenConnection>) -> Result<Self, ConnectError> {
        let (open, generation) = connection.open()?;
        Ok(Self { open, connection: Arc::clone(connection), generation })
    }

    pub(crate) fn connection(&self) -> &Arc<TokenConnection> {
        &self.connection
    }

    /// The session of the module.
    pub(crate) fn raw(&self) -> &RawSession {
        self.open.raw()
    }

    /// Searches the token. Costs more with every object that the token holds.
    pub(crate) fn find(&self, template: &[Attribute]) -> Result<Vec<ObjectHandle>, HsmError> {
        self.connection.counters.finds.increment();
        self.raw().find_objects(template)
    }

    /// Creates an object from values. An ambiguous failure is retried once, because tokens fail
    /// now and then while they write.
    pub(crate) fn create(&self, template: &[Attribute]) -> Result<ObjectHandle, HsmError> {
        let create = || self.raw().create_object(template);
        create().or_else(|error| match error.is_ambiguous() {
            true => create(),
            false => Err(error),
        })
    }

    /// Destroys an object and records a failure in the log only.
    pub(crate) fn discard(&self, object: ObjectHandle) {
        if let Err(error) = self.raw().destroy_object(object) {
            tracing::debug!(?error, "an object could not be destroyed");
        }
    }

    /// Whether the token went out, or the login was renewed, since this session was opened.
    pub(crate) fn is_stale(&self) -> bool {
        self.generation != self.connection.login.generation()
    }

    /// Whether the login has lasted since this session was opened. A renewal is counted before it
    /// begins, so none goes unnoticed between two checks.
    pub(crate) fn has_kept_login(&self) -> Result<bool, HsmError> {
        let is_logged_in = !self.connection.needs_login() || self.raw().is_logged_in()?;
        Ok(is_logged_in && !self.is_stale())
    }

    /// Fails where the login has not lasted since this session was opened.
    pub(crate) fn check_login(&self) -> Result<(), HsmError> {
        if self.has_kept_login()? { Ok(()) } else { Err(HsmError::login_lost()) }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.connection.session_closed();
    }
}

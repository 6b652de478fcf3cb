//! A session and the calls that concern its user and random numbers.

use std::cell::Cell;
use std::sync::Arc;

use cryptoki::context::Function;
use cryptoki_sys::{
    CK_SESSION_HANDLE, CK_SESSION_INFO, CK_ULONG, CKS_RO_USER_FUNCTIONS, CKS_RW_USER_FUNCTIONS,
    CKU_USER,
};
use secrecy::{ExposeSecret as _, SecretString};

use super::functions::{Functions, function};
use super::unfinished::Unfinished;
use crate::HsmError;

/// An open session. It is closed when it is dropped.
pub(crate) struct RawSession {
    pub(super) functions: Arc<Functions>,
    pub(super) handle: CK_SESSION_HANDLE,
    /// The operation that failed last. With it, a session belongs to one thread at a time.
    pub(super) unfinished: Cell<Option<Unfinished>>,
}

impl RawSession {
    pub(super) fn new(functions: Arc<Functions>, handle: CK_SESSION_HANDLE) -> Self {
        Self { functions, handle, unfinished: Cell::new(None) }
    }

    /// Whether the user is logged in. It fails if the session does not exist any more.
    pub(crate) fn is_logged_in(&self) -> Result<bool, HsmError> {
        let get = function!(self.functions, C_GetSessionInfo, GetSessionInfo)?;
        let mut info = CK_SESSION_INFO { slotID: 0, state: 0, flags: 0, ulDeviceError: 0 };
        let began = self.functions.begin();
        // SAFETY: the second argument has room for the structure.
        let code = unsafe { get(self.handle, &raw mut info) };
        self.functions.end(began, Function::GetSessionInfo, code, || {
            format!("session={} -> state={}", self.handle, info.state)
        })?;
        Ok([CKS_RO_USER_FUNCTIONS, CKS_RW_USER_FUNCTIONS].contains(&info.state))
    }

    /// Logs in as the user.
    pub(crate) fn login(&self, pin: &SecretString) -> Result<(), HsmError> {
        let login = function!(self.functions, C_Login, Login)?;
        let pin = pin.expose_secret().as_bytes();
        let length = length_of(pin)?;
        let began = self.functions.begin();
        // SAFETY: the PIN has this length and is only read.
        let code = unsafe { login(self.handle, CKU_USER, pin.as_ptr().cast_mut(), length) };
        let shape = || format!("session={} user=USER pin=[not shown]", self.handle);
        self.functions.end(began, Function::Login, code, shape)
    }

    /// Fills a buffer with random bytes of the token.
    pub(crate) fn fill_random(&self, bytes: &mut [u8]) -> Result<(), HsmError> {
        let generate = function!(self.functions, C_GenerateRandom, GenerateRandom)?;
        let length = length_of(bytes)?;
        let began = self.functions.begin();
        // SAFETY: the buffer has this length.
        let code = unsafe { generate(self.handle, bytes.as_mut_ptr(), length) };
        self.functions.end(began, Function::GenerateRandom, code, || {
            format!("session={} random[{length}]", self.handle)
        })
    }
}

impl Drop for RawSession {
    fn drop(&mut self) {
        if let Some(unfinished) = self.unfinished.take() {
            unfinished.end(&self.functions, self.handle);
        }
        let Ok(close) = function!(self.functions, C_CloseSession, CloseSession) else {
            return;
        };
        let began = self.functions.begin();
        // SAFETY: it takes any number.
        let code = unsafe { close(self.handle) };
        let shape = || format!("session={}", self.handle);
        if let Err(error) = self.functions.end(began, Function::CloseSession, code, shape) {
            tracing::debug!(?error, "a session could not be closed");
        }
    }
}

/// A length as PKCS#11 takes it.
pub(super) fn length_of<T>(elements: &[T]) -> Result<CK_ULONG, HsmError> {
    CK_ULONG::try_from(elements.len()).map_err(|_| HsmError::bad_input("too long for any token"))
}

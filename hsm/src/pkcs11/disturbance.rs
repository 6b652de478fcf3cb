//! Calls that the service never makes, for tests.

use cryptoki::context::Function;
use cryptoki::mechanism::Mechanism;
use cryptoki_sys::CK_MECHANISM;

use super::functions::function;
use super::objects::ObjectHandle;
use super::session::RawSession;
use crate::HsmError;

impl RawSession {
    pub(crate) fn logout(&self) -> Result<(), HsmError> {
        let logout = function!(self.functions, C_Logout, Logout)?;
        let began = self.functions.begin();
        // SAFETY: it takes any number.
        let code = unsafe { logout(self.handle) };
        self.functions.end(began, Function::Logout, code, String::new)
    }

    /// Begins a signature and does not finish it.
    pub(crate) fn begin_signature(
        &self,
        by: &Mechanism<'_>,
        key: ObjectHandle,
    ) -> Result<(), HsmError> {
        let begin = function!(self.functions, C_SignInit, SignInit)?;
        let mut mechanism = CK_MECHANISM::from(by);
        let began = self.functions.begin();
        // SAFETY: the mechanism points into `by`, which outlives the call.
        let code = unsafe { begin(self.handle, &raw mut mechanism, key.0) };
        self.functions.end(began, Function::SignInit, code, String::new)
    }
}

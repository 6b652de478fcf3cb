//! Operations that have failed and that a module has not ended.

use cryptoki::context::Function;
use cryptoki_sys::{CK_BYTE_PTR, CK_RV, CK_SESSION_HANDLE, CK_ULONG, CK_ULONG_PTR};
use zeroize::Zeroizing;

use super::functions::Functions;

/// More than the rest of any operation.
const ROOM: usize = 2048;

/// An operation that the module should have ended when it failed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unfinished {
    pub(super) name: Function,
    pub(super) end: Option<End>,
}

type End = unsafe extern "C" fn(CK_SESSION_HANDLE, CK_BYTE_PTR, CK_ULONG_PTR) -> CK_RV;

impl Unfinished {
    /// Ends the operation. Some modules keep its key busy until then, so that it cannot be destroyed. It is
    /// done when the session closes and not after the failure, because a failure must not cost more calls
    /// than a success.
    pub(super) fn end(self, functions: &Functions, session: CK_SESSION_HANDLE) {
        let Some(end) = self.end else { return };
        let mut rest = Zeroizing::new([0; ROOM]);
        let mut length = CK_ULONG::try_from(ROOM).unwrap_or_default();
        let began = functions.begin();
        // SAFETY: the buffer has the length that is passed.
        let code = unsafe { end(session, rest.as_mut_ptr(), &raw mut length) };
        let shape = || format!("session={session} -> [{length}]");
        if let Err(error) = functions.end(began, self.name, code, shape) {
            tracing::trace!(?error, "the module had ended the operation");
        }
    }
}

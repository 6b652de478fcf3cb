//! The module that receives the forwarded calls, and the token of each call.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use cryptoki_sys::{
    CK_C_GetFunctionList, CK_FUNCTION_LIST, CK_SESSION_HANDLE, CK_SLOT_ID, CK_TOKEN_INFO, CKR_OK,
};
use libloading::Library;

use crate::watch;

static LOADED: OnceLock<Option<Behind>> = OnceLock::new();

pub(crate) struct Behind {
    functions: &'static CK_FUNCTION_LIST,
    known: Mutex<Known>,
    /// Held by each active call. A hardware token can close sessions during a call; a library would
    /// crash, so sessions are closed only between calls.
    inside: RwLock<()>,
}

/// The token of a call, identified by its first argument.
#[derive(Default)]
struct Known {
    labels: HashMap<CK_SLOT_ID, String>,
    slots: HashMap<CK_SESSION_HANDLE, CK_SLOT_ID>,
}

impl Behind {
    /// The module named in the folder. It is loaded once and never unloaded.
    pub(crate) fn loaded() -> Option<&'static Self> {
        LOADED.get_or_init(Self::load).as_ref()
    }

    fn load() -> Option<Self> {
        let path = watch::folder()?.module()?;
        // SAFETY: a PKCS#11 module, whose initializers have no known unsound effects.
        let library = unsafe { Library::new(path) }.ok()?;
        let library = Box::leak(Box::new(library));
        // SAFETY: PKCS#11 defines this type for this function.
        let list = unsafe { library.get::<CK_C_GetFunctionList>(b"C_GetFunctionList\0") }.ok()?;
        let mut functions = ptr::null_mut();
        // SAFETY: the argument has room for a pointer.
        let code = unsafe { (*list)?(&raw mut functions) };
        // SAFETY: the table lives as long as the module.
        let functions = unsafe { functions.as_ref() }.filter(|_| code == CKR_OK)?;
        Some(Self { functions, known: Mutex::default(), inside: RwLock::default() })
    }

    pub(crate) fn functions(&self) -> &CK_FUNCTION_LIST {
        self.functions
    }

    /// The label of the token in a slot. It is cached while the token is unavailable.
    pub(crate) fn token_in(&self, slot: CK_SLOT_ID) -> Option<String> {
        if let Some(label) = self.known().labels.get(&slot) {
            return Some(label.clone());
        }
        let mut info = MaybeUninit::<CK_TOKEN_INFO>::uninit();
        // SAFETY: the argument has room for the result.
        let code = unsafe { self.functions.C_GetTokenInfo?(slot, info.as_mut_ptr()) };
        if code != CKR_OK {
            return None;
        }
        // SAFETY: the token has initialized it.
        let info = unsafe { info.assume_init() };
        let label = String::from_utf8_lossy(&info.label).trim_end().to_owned();
        self.known().labels.insert(slot, label.clone());
        Some(label)
    }

    /// The label of the token of a session.
    pub(crate) fn token_of(&self, session: CK_SESSION_HANDLE) -> Option<String> {
        let slot = self.slot_of(session)?;
        self.token_in(slot)
    }

    pub(crate) fn opened(&self, session: CK_SESSION_HANDLE, slot: CK_SLOT_ID) {
        self.known().slots.insert(session, slot);
    }

    pub(crate) fn closed(&self, session: CK_SESSION_HANDLE) {
        self.known().slots.remove(&session);
    }

    /// How many sessions are open.
    pub(crate) fn sessions(&self) -> usize {
        self.known().slots.len()
    }

    /// Clears the cached labels and sessions, because slots can contain other tokens.
    pub(crate) fn forget(&self) {
        self.known().labels.clear();
        self.known().slots.clear();
    }

    /// Held during a call.
    pub(crate) fn inside(&self) -> RwLockReadGuard<'_, ()> {
        self.inside.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes all sessions of this session's token when no call is active.
    pub(crate) fn drop_sessions(&self, session: CK_SESSION_HANDLE) {
        if let (Some(slot), Some(close)) =
            (self.slot_of(session), self.functions.C_CloseAllSessions)
        {
            let _alone = self.inside.write();
            // SAFETY: it takes any number.
            unsafe { close(slot) };
        }
    }

    /// Logs out of this session's token when no call is active.
    pub(crate) fn drop_login(&self, session: CK_SESSION_HANDLE) {
        if let Some(log_out) = self.functions.C_Logout {
            let _alone = self.inside.write();
            // SAFETY: it takes any number.
            unsafe { log_out(session) };
        }
    }

    fn slot_of(&self, session: CK_SESSION_HANDLE) -> Option<CK_SLOT_ID> {
        self.known().slots.get(&session).copied()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

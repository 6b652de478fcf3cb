//! The module behind this one, and which of its tokens a call is for.

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
    /// Held by each call that is inside. A device drops sessions by itself; in a module that is a
    /// library they would be taken from under the calls that use them.
    inside: RwLock<()>,
}

/// Which token a call is for, by what it names it with.
#[derive(Default)]
struct Known {
    labels: HashMap<CK_SLOT_ID, String>,
    slots: HashMap<CK_SESSION_HANDLE, CK_SLOT_ID>,
}

impl Behind {
    /// The module that the folder names, loaded once and never unloaded.
    pub(crate) fn loaded() -> Option<&'static Self> {
        LOADED.get_or_init(Self::load).as_ref()
    }

    fn load() -> Option<Self> {
        let path = watch::folder()?.module()?;
        // SAFETY: a PKCS#11 module, whose initializers do no harm as far as anybody knows.
        let library = unsafe { Library::new(path) }.ok()?;
        let library = Box::leak(Box::new(library));
        // SAFETY: PKCS#11 gives the function of this name this type.
        let list = unsafe { library.get::<CK_C_GetFunctionList>(b"C_GetFunctionList\0") }.ok()?;
        let mut functions = ptr::null_mut();
        // SAFETY: the argument is where a pointer fits.
        let code = unsafe { (*list)?(&raw mut functions) };
        // SAFETY: of what a module answers, the table lives for as long as the module.
        let functions = unsafe { functions.as_ref() }.filter(|_| code == CKR_OK)?;
        Some(Self {
            functions,
            known: Mutex::default(),
            inside: RwLock::default(),
        })
    }

    pub(crate) fn functions(&self) -> &CK_FUNCTION_LIST {
        self.functions
    }

    /// The label of the token in a slot; it keeps it while it is away.
    pub(crate) fn token_in(&self, slot: CK_SLOT_ID) -> Option<String> {
        if let Some(label) = self.known().labels.get(&slot) {
            return Some(label.clone());
        }
        let mut info = MaybeUninit::<CK_TOKEN_INFO>::uninit();
        // SAFETY: the argument is where the answer fits.
        let code = unsafe { self.functions.C_GetTokenInfo?(slot, info.as_mut_ptr()) };
        if code != CKR_OK {
            return None;
        }
        // SAFETY: the token has filled it in.
        let info = unsafe { info.assume_init() };
        let label = String::from_utf8_lossy(&info.label).trim_end().to_owned();
        self.known().labels.insert(slot, label.clone());
        Some(label)
    }

    /// The label of the token that a session is open on.
    pub(crate) fn token_of(&self, session: CK_SESSION_HANDLE) -> Option<String> {
        let slot = self.slot_of(session)?;
        self.token_in(slot)
    }

    pub(crate) fn opened(&self, session: CK_SESSION_HANDLE, slot: CK_SLOT_ID) {
        self.known().slots.insert(session, slot);
    }

    /// Slots may hold other tokens from now on.
    pub(crate) fn forget(&self) {
        self.known().labels.clear();
    }

    /// To be held while a call is inside.
    pub(crate) fn inside(&self) -> RwLockReadGuard<'_, ()> {
        self.inside.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes all sessions on the token that this one is open on, once no call is inside.
    pub(crate) fn drop_sessions(&self, session: CK_SESSION_HANDLE) {
        if let (Some(slot), Some(close)) =
            (self.slot_of(session), self.functions.C_CloseAllSessions)
        {
            let _alone = self.inside.write();
            // SAFETY: it takes any number.
            unsafe { close(slot) };
        }
    }

    /// Logs out of the token that this session is open on, once no call is inside.
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

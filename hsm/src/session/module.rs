//! One loaded PKCS#11 library. A process has one context for each, because a second context would
//! share all state of the first, including logins.
//!
//! A caller is inside the library for one call ([`Module::enter`]) or while a session is open. The
//! library is only restarted while no caller is inside, because a session handle from before the
//! restart could denote another session after it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, TryLockError, Weak,
};
use std::time::Duration;

use cryptoki::error::RvError;
use cryptoki_sys::CKF_TOKEN_INITIALIZED;

use crate::pkcs11::{CannotLoad, Library, RawSession, Slot, TokenInfo, Trace};
use crate::{HsmError, OpenError, TokenConfig, TokenSelect};

/// The modules this process has loaded, by canonical path.
static LOADED: Mutex<Vec<(PathBuf, Weak<Module>)>> = Mutex::new(Vec::new());

pub(crate) struct Module {
    path: PathBuf,
    library: Library,
    /// Whether the library is initialized.
    started: Mutex<bool>,
    /// Read during a call, written during a restart.
    gate: RwLock<()>,
    sessions: Mutex<usize>,
    session_closed: Condvar,
    /// How many connections use it; changed only under the lock of `LOADED`.
    users: AtomicUsize,
}

/// An open session. While one lives, its module is not finalized.
pub(crate) struct OpenSession {
    raw: RawSession,
    // After `raw`, because fields are dropped in this order: first closed, then uncounted.
    _inside: Inside,
}

/// Counts as one open session.
struct Inside(Arc<Module>);

impl Module {
    /// Loads the module of a token, or shares one that this process has loaded. It is initialized at its
    /// first use. The caller must [`leave`](Self::leave) it.
    pub(crate) fn load(
        token: &TokenConfig,
        trace: Option<Arc<Trace>>,
    ) -> Result<Arc<Self>, OpenError> {
        let path = token.module.as_path();
        let named = path.components().count() > 1;
        if named && !path.exists() {
            return Err(OpenError::ModuleMissing { module: path.to_owned() });
        }
        let key = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.retain(|(_, module)| module.strong_count() > 0);
        let known = loaded.iter().find(|(path, _)| *path == key);
        if let Some(module) = known.and_then(|(_, module)| module.upgrade()) {
            module.users.fetch_add(1, Ordering::SeqCst);
            return Ok(module);
        }

        let library = Library::load(&key, token.module_parameters.as_deref(), trace);
        let library = library.map_err(|error: CannotLoad| OpenError::NotAModule {
            module: path.to_owned(),
            reason: error.to_string(),
        })?;
        let module = Arc::new(Self {
            path: key.clone(),
            library,
            started: Mutex::new(false),
            gate: RwLock::new(()),
            sessions: Mutex::new(0),
            session_closed: Condvar::new(),
            users: AtomicUsize::new(1),
        });
        loaded.push((key, Arc::downgrade(&module)));
        Ok(module)
    }

    /// The path of the library.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Enters the library for a call that needs no session.
    pub(crate) fn enter(&self) -> (RwLockReadGuard<'_, ()>, &Library) {
        (self.gate.read().unwrap_or_else(PoisonError::into_inner), &self.library)
    }

    pub(crate) fn find_slot(&self, select: &TokenSelect) -> Result<(Slot, TokenInfo), OpenError> {
        let (_inside, library) = self.enter();
        self.start()
            .map_err(|source| OpenError::NotStarted { module: self.path.clone(), source })?;
        let broken =
            |source: HsmError| OpenError::Broken { token: select.wanted().to_owned(), source };
        let (mut tokens, mut unreadable) = (Vec::new(), Vec::new());
        for slot in library.slots().map_err(broken)? {
            match library.token_info(slot) {
                Ok(info) if info.has(CKF_TOKEN_INITIALIZED) => tokens.push((slot, info)),
                Ok(_) => {}
                Err(error) if is_empty_slot(&error) => {}
                Err(error) => unreadable.push(format!("slot {slot}: {error:?}")),
            }
        }
        let wanted = select.wanted();
        let (mut fitting, others): (Vec<_>, Vec<_>) =
            tokens.into_iter().partition(|(_, info)| match select {
                TokenSelect::Label(label) => info.label == *label,
                TokenSelect::Serial(serial) => info.serial == *serial,
            });
        let only = fitting.len() == 1;
        match fitting.pop() {
            Some(token) if only => Ok(token),
            Some(last) => Err(OpenError::SeveralTokens {
                setting: select.setting(),
                wanted: wanted.to_owned(),
                module: self.path.clone(),
                count: fitting.len() + 1,
                serials: fitting
                    .iter()
                    .chain([&last])
                    .map(|(_, info)| info.serial.clone())
                    .collect(),
            }),
            None => Err(OpenError::NoSuchToken {
                setting: select.setting(),
                wanted: wanted.to_owned(),
                module: self.path.clone(),
                found: others
                    .iter()
                    .map(|(_, info)| match select {
                        TokenSelect::Label(_) => info.label.clone(),
                        TokenSelect::Serial(_) => info.serial.clone(),
                    })
                    .collect(),
                unreadable,
            }),
        }
    }

    /// The information of the token in this slot.
    pub(crate) fn token_info(&self, slot: Slot) -> Result<TokenInfo, HsmError> {
        let (_inside, library) = self.enter();
        library.token_info(slot)
    }

    /// Opens a read-write session.
    pub(crate) fn open_session(self: &Arc<Self>, slot: Slot) -> Result<OpenSession, HsmError> {
        let (_inside, library) = self.enter();
        // Counted before the gate is released, so that no restart occurs in between.
        let inside = Inside::new(Arc::clone(self));
        Ok(OpenSession { raw: library.open_session(slot)?, _inside: inside })
    }

    /// Finalizes and initialises the library, which revives a token directory or a connection that
    /// was lost. Returns false without effect while a caller is inside. Sessions get the time
    /// `clearing` to close.
    pub(crate) fn restart(&self, clearing: Duration) -> Result<bool, HsmError> {
        let closed = self.session_closed.wait_timeout_while(self.sessions(), clearing, |n| *n > 0);
        drop(closed.unwrap_or_else(PoisonError::into_inner));
        let _alone = match self.gate.try_write() {
            Ok(gate) => gate,
            Err(TryLockError::Poisoned(gate)) => gate.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(false),
        };
        if *self.sessions() > 0 {
            return Ok(false);
        }
        self.finalize()?;
        self.start()?;
        Ok(true)
    }

    /// The last user finalizes the library, because the exit handlers of some libraries crash
    /// while it is initialised. Does nothing while a call hangs.
    pub(crate) fn leave(&self) {
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let others = self.users.fetch_sub(1, Ordering::SeqCst) > 1;
        let alone = self.gate.try_write();
        if others || alone.is_err() || *self.sessions() > 0 {
            return;
        }
        // The next user loads it again.
        loaded.retain(|(path, _)| *path != self.path);
        if let Err(error) = self.finalize() {
            tracing::warn!(module = %self.path.display(), ?error, "cannot finalize the PKCS#11 module");
        }
    }

    /// Initializes the library, unless it is initialized.
    fn start(&self) -> Result<(), HsmError> {
        let mut started = self.started();
        if !*started {
            match self.library.initialize() {
                Err(error) if error.code() != Some(RvError::CryptokiAlreadyInitialized) => {
                    return Err(error);
                }
                _ => *started = true,
            }
        }
        Ok(())
    }

    fn finalize(&self) -> Result<(), HsmError> {
        let mut started = self.started();
        if *started {
            match self.library.finalize() {
                Err(error) if error.code() != Some(RvError::CryptokiNotInitialized) => {
                    return Err(error);
                }
                _ => *started = false,
            }
        }
        Ok(())
    }

    fn started(&self) -> MutexGuard<'_, bool> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sessions(&self) -> MutexGuard<'_, usize> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenSession {
    pub(crate) fn raw(&self) -> &RawSession {
        &self.raw
    }
}

impl Inside {
    fn new(module: Arc<Module>) -> Self {
        *module.sessions() += 1;
        Self(module)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        *self.0.sessions() -= 1;
        self.0.session_closed.notify_all();
    }
}

/// Whether the slot holds no token any more.
fn is_empty_slot(error: &HsmError) -> bool {
    matches!(error.code(), Some(RvError::TokenNotPresent | RvError::SlotIdInvalid))
}

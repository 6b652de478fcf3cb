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

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Function, Pkcs11};
use cryptoki::error::{Error as Pkcs11Error, RvError};
use cryptoki::session::{Session as Pkcs11Session, SessionState};
use cryptoki::slot::{Slot, TokenInfo};

use super::calls::Calls;
use crate::{HsmError, OpenError, TokenSelect};

/// The modules this process has loaded, by canonical path.
static LOADED: Mutex<Vec<(PathBuf, Weak<Module>)>> = Mutex::new(Vec::new());

pub(crate) struct Module {
    path: PathBuf,
    context: Pkcs11,
    calls: Calls,
    /// Read during a call, written during a restart.
    gate: RwLock<()>,
    sessions: Mutex<usize>,
    session_closed: Condvar,
    /// How many connections use it; changed only under the lock of `LOADED`.
    users: AtomicUsize,
}

/// An open session. While one lives, its module is not finalized.
pub(crate) struct OpenSession {
    raw: Pkcs11Session,
    // After `raw`, because fields are dropped in this order: first closed, then uncounted.
    _inside: Inside,
}

/// Counts as one open session.
struct Inside(Arc<Module>);

impl Module {
    /// Loads and initializes a module, or shares one that this process has loaded. The caller
    /// must [`leave`](Self::leave) it.
    pub(crate) fn load(path: &Path) -> Result<Arc<Self>, OpenError> {
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

        let not_a_module = |error: Pkcs11Error| OpenError::NotAModule {
            module: path.to_owned(),
            reason: error.to_string(),
        };
        let context = Pkcs11::new(&key).map_err(not_a_module)?;
        // Vendors' libraries start threads of their own, so they are never unloaded.
        std::mem::forget(context.clone());
        let calls = Calls::of(key.as_os_str()).ok_or_else(|| OpenError::NotAModule {
            module: path.to_owned(),
            reason: "it lacks mandatory functions".to_owned(),
        })?;
        initialize(&context).map_err(not_a_module)?;
        let module = Arc::new(Self {
            path: key.clone(),
            context,
            calls,
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

    /// The functions that are called without cryptoki.
    pub(super) fn calls(&self) -> &Calls {
        &self.calls
    }

    /// Enters the library for a call that needs no session.
    pub(crate) fn enter(&self) -> (RwLockReadGuard<'_, ()>, &Pkcs11) {
        (self.gate.read().unwrap_or_else(PoisonError::into_inner), &self.context)
    }

    pub(crate) fn find_slot(&self, select: &TokenSelect) -> Result<(Slot, TokenInfo), OpenError> {
        let (_inside, context) = self.enter();
        let broken = |error: Pkcs11Error| OpenError::Broken {
            token: select.wanted().to_owned(),
            source: error.into(),
        };
        // A slot that reports no token information is ignored.
        let tokens: Vec<(Slot, TokenInfo)> = context
            .get_slots_with_token()
            .map_err(broken)?
            .into_iter()
            .filter_map(|slot| context.get_token_info(slot).ok().map(|info| (slot, info)))
            .filter(|(_, info)| info.token_initialized())
            .collect();
        let wanted = select.wanted();
        let (mut fitting, others): (Vec<_>, Vec<_>) =
            tokens.into_iter().partition(|(_, info)| match select {
                TokenSelect::Label(label) => info.label() == label,
                TokenSelect::Serial(serial) => info.serial_number() == serial,
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
                    .map(|(_, info)| info.serial_number().to_owned())
                    .collect(),
            }),
            None => Err(OpenError::NoSuchToken {
                setting: select.setting(),
                wanted: wanted.to_owned(),
                module: self.path.clone(),
                found: others
                    .iter()
                    .map(|(_, info)| match select {
                        TokenSelect::Label(_) => info.label().to_owned(),
                        TokenSelect::Serial(_) => info.serial_number().to_owned(),
                    })
                    .collect(),
            }),
        }
    }

    /// The information of the token in this slot.
    pub(crate) fn token_info(&self, slot: Slot) -> Result<TokenInfo, HsmError> {
        let (_inside, context) = self.enter();
        Ok(context.get_token_info(slot)?)
    }

    /// Opens a read-write session.
    pub(crate) fn open_session(self: &Arc<Self>, slot: Slot) -> Result<OpenSession, HsmError> {
        let (_inside, context) = self.enter();
        // Counted before the gate is released, so that no restart occurs in between.
        let inside = Inside::new(Arc::clone(self));
        Ok(OpenSession { raw: context.open_rw_session(slot)?, _inside: inside })
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
        finalize(&self.context)?;
        initialize(&self.context)?;
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
        if let Err(error) = finalize(&self.context) {
            tracing::warn!(module = %self.path.display(), ?error, "cannot finalize the PKCS#11 module");
        }
    }

    fn sessions(&self) -> MutexGuard<'_, usize> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenSession {
    pub(crate) fn raw(&self) -> &Pkcs11Session {
        &self.raw
    }

    /// Whether this session is logged in.
    pub(crate) fn is_logged_in(&self) -> Result<bool, HsmError> {
        let state = self.raw.get_session_info()?.session_state();
        Ok(matches!(state, SessionState::RwUser | SessionState::RoUser))
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

fn initialize(context: &Pkcs11) -> Result<(), Pkcs11Error> {
    match context.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
        Err(Pkcs11Error::Pkcs11(RvError::CryptokiAlreadyInitialized, Function::Initialize)) => {
            Ok(())
        }
        other => other,
    }
}

fn finalize(context: &Pkcs11) -> Result<(), Pkcs11Error> {
    match context.clone().finalize() {
        Err(Pkcs11Error::Pkcs11(RvError::CryptokiNotInitialized, Function::Finalize)) => Ok(()),
        other => other,
    }
}

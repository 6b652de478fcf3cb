//! What the sessions on one token share.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::handles::Handles;
use super::login::Login;
use super::module::{Module, OpenSession};
use super::refused::RefusedAttributes;
use super::signal::Signal;
use crate::counters::LiveCounters;
use crate::{Config, OaepMethod, OaepSupport, TokenConfig};
use formats::algorithms::OaepHash;

/// The connection to one token: its login, its key handles and the known facts about the token.
pub(crate) struct TokenConnection {
    pub(crate) limits: Limits,
    pub(crate) login: Login,
    pub(crate) handles: Handles,
    pub(crate) counters: LiveCounters,
    pub(crate) refused: RefusedAttributes,
    /// Requests a canary.
    pub(crate) canary: Signal,
    oaep: Mutex<OaepSupport>,
    wanted: String,
    identity: OnceLock<TokenIdentity>,
    sessions: AtomicUsize,
    left: AtomicBool,
}

/// The settings for one token.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub(crate) workers: usize,
    pub(crate) deadline: Duration,
    pub(crate) generate_deadline: Duration,
    pub(crate) canary_interval: Duration,
    pub(crate) allow_raw_rsa: bool,
}

/// The facts about a token that its first session has read.
#[derive(Debug)]
pub(crate) struct TokenIdentity {
    pub(crate) label: String,
    pub(crate) serial: String,
    pub(crate) needs_login: bool,
    /// How many workers the token has sessions for.
    pub(crate) workers: usize,
}

impl TokenConnection {
    pub(crate) fn new(module: Arc<Module>, token: TokenConfig, config: &Config) -> Self {
        let wanted = token.select.wanted().to_owned();
        Self {
            limits: Limits {
                workers: config.workers.max(1),
                deadline: config.deadline,
                generate_deadline: config.generate_deadline.max(config.deadline),
                canary_interval: config.canary_interval,
                allow_raw_rsa: config.allow_raw_rsa,
            },
            login: Login::new(module, token, config.pin_memory.clone()),
            handles: Handles::default(),
            counters: LiveCounters::default(),
            refused: RefusedAttributes::default(),
            canary: Signal::default(),
            oaep: Mutex::default(),
            wanted,
            identity: OnceLock::new(),
            sessions: AtomicUsize::new(0),
            left: AtomicBool::new(false),
        }
    }

    /// The label of the token, or its selector before the first connection.
    pub(crate) fn label(&self) -> &str {
        let identity = self.identity.get();
        identity.map_or(&self.wanted, |identity| &identity.label)
    }

    /// The facts about the token; none until it was reached.
    pub(crate) fn identity(&self) -> Option<&TokenIdentity> {
        self.identity.get()
    }

    pub(crate) fn identify(&self, identity: TokenIdentity) {
        self.identity.get_or_init(|| identity);
    }

    pub(super) fn needs_login(&self) -> bool {
        let identity = self.identity.get();
        identity.is_none_or(|identity| identity.needs_login)
    }

    /// Opens a logged-in session of the present generation, whose number is the second result.
    pub(super) fn open(&self) -> Result<(OpenSession, u64), super::login::ConnectError> {
        let before = self.login.generation();
        let patience = self.limits.deadline / 2;
        let (open, logged_in) = self.login.connect(&self.counters, patience)?;
        let mut generation = before;
        if logged_in {
            generation = self.login.generation();
            self.handles.renew(generation);
        }
        self.sessions.fetch_add(1, Ordering::Relaxed);
        Ok((open, generation))
    }

    pub(super) fn session_closed(&self) {
        self.sessions.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many sessions are open, without the anchor.
    pub(crate) fn sessions(&self) -> usize {
        self.sessions.load(Ordering::Relaxed)
    }

    /// Makes all sessions and handles stale.
    pub(crate) fn next_generation(&self) {
        self.handles.renew(self.login.next_generation());
    }

    /// How the token decrypts RSA-OAEP, as far as the trial has shown.
    pub(crate) fn oaep(&self) -> OaepSupport {
        *self.oaep_lock()
    }

    pub(crate) fn note_oaep(&self, hash: OaepHash, method: OaepMethod) {
        self.oaep_lock().set(hash, method);
    }

    fn oaep_lock(&self) -> MutexGuard<'_, OaepSupport> {
        self.oaep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the anchor session and, once, releases the module.
    pub(crate) fn leave_module(&self) {
        self.login.release();
        if !self.left.swap(true, Ordering::SeqCst) {
            self.login.module().leave();
        }
    }
}

impl Drop for TokenConnection {
    fn drop(&mut self) {
        self.leave_module();
    }
}

//! How the tokens are, for health answers, metrics and the log.

use std::time::Duration;

use crate::OaepWays;

/// How every configured token is at this moment.
#[derive(Debug, Clone)]
pub struct Status {
    /// In the order of the configuration.
    pub tokens: Vec<TokenStatus>,
}

/// How one token is.
#[derive(Debug, Clone)]
pub struct TokenStatus {
    /// Its label, or the serial number it is chosen by.
    pub label: String,
    /// Its serial number; none as long as it was never reached.
    pub serial: Option<String>,
    /// Whether it serves.
    pub state: TokenState,
    /// How long it has been in this state.
    pub since: Duration,
    /// Worker threads at work or ready for it.
    pub workers: usize,
    /// Threads that hang inside the C library and were replaced.
    pub hung: usize,
    /// Sessions this process has open on the token.
    pub sessions: usize,
    /// Operations waiting for a worker.
    pub queued: usize,
    /// How long the last canary took, where one has succeeded.
    pub canary: Option<Duration>,
    /// How it opens what RSA-OAEP has sealed.
    pub oaep: OaepWays,
    /// What has happened on it.
    pub counters: Counters,
}

/// The states of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenState {
    /// It works.
    Serving,
    /// Its canary failed: the breaker is open, and a prober tries to bring it back.
    Out {
        /// What the canary met.
        reason: String,
    },
    /// It refused the PIN or says the next wrong one locks it: no further login is tried.
    PinRefused {
        /// What the token said, and what to do.
        reason: String,
    },
    /// It was closed by this process.
    Closed,
}

/// What has happened on one token since it was opened; only ever growing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    /// Operations a worker has run.
    pub operations: u64,
    /// Operations that answered with an error.
    pub failures: u64,
    /// Operations refused because the queue was full.
    pub busy: u64,
    /// Operations whose deadline passed while they waited.
    pub late: u64,
    /// Operations taken out because their caller had gone.
    pub abandoned: u64,
    /// Searches for a key on the token. Keys are found once: this must not grow with operations.
    pub finds: u64,
    /// Sessions opened.
    pub sessions_opened: u64,
    /// Logins tried.
    pub logins: u64,
    /// How often the breaker opened.
    pub outages: u64,
}

/// Why the process should drain and exit, so that its supervisor starts it anew.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fatal {
    /// Too many threads are inside a library and do not come back.
    #[error(
        "{hung} threads hang inside the PKCS#11 module of token {token:?}, more than hsm.hang_budget allows"
    )]
    HangBudgetSpent {
        /// The token whose threads hang.
        token: String,
        /// How many of all tokens do.
        hung: usize,
    },
}

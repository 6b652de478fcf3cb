//! The state of the tokens, for health checks, metrics and the log.

#![deny(clippy::wildcard_enum_match_arm)]

use std::time::Duration;

use crate::Counters;
use formats::algorithms::OaepHash;

/// The present state of every configured token.
#[derive(Debug, Clone)]
pub struct TokenStatuses {
    /// In the order of the configuration.
    pub tokens: Vec<TokenStatus>,
}

/// The present state of one token.
#[derive(Debug, Clone)]
pub struct TokenStatus {
    /// The token's label, or the configured label or serial number until it was reached.
    pub label: String,
    /// The token's serial number; none until it was reached.
    pub serial: Option<String>,
    /// Whether the token is available.
    pub state: TokenState,
    /// Whether the caller excludes it. It is out then.
    pub excluded: bool,
    /// How long it has been in this state.
    pub since: Duration,
    /// Worker threads that are busy or idle, without hung ones and those to which the token refuses a session.
    pub workers: usize,
    /// The configured number of workers.
    pub workers_configured: usize,
    /// Threads that hang inside the C library and were replaced.
    pub hung: usize,
    /// Sessions that this process has open on the token.
    pub sessions: usize,
    /// Operations in the queue.
    pub queued: usize,
    /// How long the last successful canary took.
    pub canary: Option<Duration>,
    /// How the token decrypts RSA-OAEP.
    pub oaep: OaepSupport,
    /// Events on the token.
    pub counters: Counters,
}

/// The states of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenState {
    /// The token works.
    Serving,
    /// The canary failed: the breaker is open, and the monitor tries to bring the token back.
    Out {
        /// The failure of the canary.
        reason: String,
    },
    /// The PIN was refused, or trying it is unsafe: no further login is tried.
    PinRefused {
        /// What the token reported, and the remedy.
        reason: String,
    },
    /// This process closed the token.
    Closed,
}

/// Why the process should drain and exit, so that its supervisor restarts it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fatal {
    /// Too many threads are inside a library and do not return.
    #[error(
        "{hung} threads hang inside the PKCS#11 module of token {token:?}, more than hsm.hang_budget allows"
    )]
    HangBudgetSpent {
        /// The token whose threads hang.
        token: String,
        /// Its hung threads.
        hung: usize,
    },
}

/// How a token decrypts RSA-OAEP with one hash. A trial decides it when the token is reached,
/// because mechanism lists are unreliable, and some tokens refuse only after the ciphertext.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OaepMethod {
    /// No RSA key could be made for the trial: real use will show whether it works.
    #[default]
    Untried,
    /// The token does all of it.
    InToken,
    /// The token does raw RSA, and this process removes the padding.
    RawRsa,
    /// Not at all: keys in this token cannot open such envelopes.
    Unsupported,
}

/// How a token decrypts RSA-OAEP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OaepSupport {
    /// The method for SHA-1.
    pub sha1: OaepMethod,
    /// The method for SHA-256.
    pub sha256: OaepMethod,
}

impl OaepMethod {
    /// Whether the trial has shown that it works, by either method.
    pub fn works(self) -> bool {
        match self {
            Self::InToken | Self::RawRsa => true,
            Self::Untried | Self::Unsupported => false,
        }
    }
}

impl OaepSupport {
    /// The method for a hash.
    pub fn of(self, hash: OaepHash) -> OaepMethod {
        match hash {
            OaepHash::Sha1 => self.sha1,
            OaepHash::Sha256 => self.sha256,
        }
    }

    pub(crate) fn set(&mut self, hash: OaepHash, method: OaepMethod) {
        match hash {
            OaepHash::Sha1 => self.sha1 = method,
            OaepHash::Sha256 => self.sha256 = method,
        }
    }
}

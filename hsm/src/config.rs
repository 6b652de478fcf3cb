//! The configuration of a [`Token`](crate::Token).

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use crate::{PinMemory, Trace};

/// The tokens and the limits of every operation on them.
#[derive(Debug, Clone)]
pub struct Config {
    /// Tokens that hold the same keys; usually one.
    pub tokens: Vec<TokenConfig>,
    /// Worker threads for each token, each with its own session. A token that allows fewer
    /// sessions gets fewer workers.
    pub workers: usize,
    /// How many operations may wait for a worker of one token. More are refused as busy.
    pub queue: usize,
    /// The time limit of an operation, including the wait in the queue.
    pub deadline: Duration,
    /// The time limit of an operation that writes to a token. Some tokens need many seconds to
    /// generate an RSA key.
    pub generate_deadline: Duration,
    /// The interval of the canary of an idle token, which also keeps its sessions alive.
    pub canary_interval: Duration,
    /// How many threads of one token may hang inside the C library before the process should exit: at least
    /// three times as many as a token has, so that a stall passes.
    pub hang_budget: usize,
    /// Whether a token that lacks OAEP with SHA-256 may be asked for raw RSA, with the padding
    /// removed in this process.
    pub allow_raw_rsa: bool,
    /// Records every call into the modules.
    pub trace: Option<Arc<Trace>>,
    /// Receives the times of every operation.
    pub observer: Option<Arc<dyn Observer>>,
    /// Remembers refused PINs for later processes.
    pub pin_memory: Option<Arc<dyn PinMemory>>,
}

/// Receives the times of every operation that a worker has run.
pub trait Observer: fmt::Debug + Send + Sync {
    /// An operation on the token with this label waited in the queue for `queued` and then ran for
    /// `ran`. Worker threads call it, so it must not block.
    fn operation(&self, token: &str, queued: Duration, ran: Duration);
}

/// One token: its library, how it is selected, and its user PIN.
#[derive(Debug, Clone)]
pub struct TokenConfig {
    /// Path of the PKCS#11 module, a shared library.
    pub module: PathBuf,
    /// The text that `C_Initialize` receives, for modules such as NSS that take their configuration so.
    pub module_parameters: Option<String>,
    /// How the token is selected among those of the module.
    pub select: TokenSelect,
    /// The user PIN. A refused PIN is never tried again.
    pub pin: SecretString,
    /// Whether the PIN is tried although the token reports that a wrong PIN was tried since the
    /// last login, or has refused this PIN. It is never tried while one more wrong PIN locks the
    /// token.
    pub retry_pin: bool,
}

/// How a token is selected. Never by slot number, because slot numbers change between runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenSelect {
    /// By its label.
    Label(String),
    /// By its serial number, where labels are not unique.
    Serial(String),
}

impl Config {
    /// The defaults for these tokens.
    pub fn new(tokens: Vec<TokenConfig>) -> Self {
        Self {
            tokens,
            workers: 4,
            queue: 1024,
            deadline: Duration::from_secs(5),
            generate_deadline: Duration::from_secs(120),
            canary_interval: Duration::from_secs(10),
            hang_budget: 15,
            allow_raw_rsa: false,
            trace: None,
            observer: None,
            pin_memory: None,
        }
    }
}

impl TokenSelect {
    /// The configured label or serial number.
    pub(crate) fn wanted(&self) -> &str {
        match self {
            Self::Label(wanted) | Self::Serial(wanted) => wanted,
        }
    }

    /// The name of the setting, for error messages.
    pub(crate) fn setting(&self) -> &'static str {
        match self {
            Self::Label(_) => "hsm.tokens.label",
            Self::Serial(_) => "hsm.tokens.serial",
        }
    }
}

//! What a [`Token`](crate::Token) is opened with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use crate::Observer;

/// The tokens and the bounds every operation on them keeps.
#[derive(Debug, Clone)]
pub struct Config {
    /// Tokens that hold the same keys; usually one.
    pub tokens: Vec<TokenConfig>,
    /// Worker threads for each token, each with a session of its own. A token that allows fewer
    /// sessions gets fewer workers.
    pub workers: usize,
    /// How many operations may wait for a worker of one token; one more is refused as busy.
    pub queue: usize,
    /// How long an operation may take, waiting included.
    pub deadline: Duration,
    /// How long an operation that writes to a token may take: some tokens think for many seconds
    /// about an RSA key.
    pub generate_deadline: Duration,
    /// How often each token proves that it still works. It also keeps idle sessions alive.
    pub canary_interval: Duration,
    /// How many threads may hang inside the C library before the process should give up.
    pub hang_budget: usize,
    /// Whether a token that lacks OAEP with SHA-256 may be asked for the raw RSA operation, whose
    /// padding is then taken off in this process.
    pub allow_raw_rsa: bool,
    /// Receives the durations of operations.
    pub observer: Option<Arc<dyn Observer>>,
}

/// One token: which library speaks to it, how it is told from others, and its user PIN.
#[derive(Debug, Clone)]
pub struct TokenConfig {
    /// Path of the PKCS#11 module, a shared library.
    pub module: PathBuf,
    /// How the token is chosen among those the module shows.
    pub select: TokenSelect,
    /// The user PIN. It is tried once; a refused PIN is never tried again.
    pub pin: SecretString,
}

/// How a token is chosen. Never by slot number: those change between runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenSelect {
    /// By the label it was initialised with.
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
            hang_budget: 4,
            allow_raw_rsa: false,
            observer: None,
        }
    }
}

impl TokenSelect {
    /// The label or serial number that was asked for.
    pub(crate) fn wanted(&self) -> &str {
        match self {
            Self::Label(wanted) | Self::Serial(wanted) => wanted,
        }
    }

    /// The setting this choice comes from, as error messages name it.
    pub(crate) fn setting(&self) -> &'static str {
        match self {
            Self::Label(_) => "hsm.tokens.label",
            Self::Serial(_) => "hsm.tokens.serial",
        }
    }
}

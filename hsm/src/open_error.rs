//! Why a token could not be opened: each message names the setting, the token and what to do.

use std::path::PathBuf;

use crate::HsmError;

/// Why [`Token::open`](crate::Token::open) did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Nothing is configured.
    #[error("hsm.tokens is empty: name at least one token (module, label and PIN)")]
    NoTokens,
    /// There is no such file.
    #[error(
        "hsm.tokens.module: there is no file {}; install the vendor's PKCS#11 library or correct the path",
        module.display()
    )]
    ModuleMissing {
        /// The path that was configured.
        module: PathBuf,
    },
    /// The file is no module, or does not start.
    #[error(
        "hsm.tokens.module: {} is not a PKCS#11 module ({reason}); name the vendor's PKCS#11 library",
        module.display()
    )]
    NotAModule {
        /// The path that was configured.
        module: PathBuf,
        /// What loading it said.
        reason: String,
    },
    /// The module shows other tokens, or none.
    #[error(
        "{setting}: module {} shows no token {wanted:?}, it shows {}; correct the setting, initialise the token, or check that the device is connected",
        module.display(), listed(found)
    )]
    NoSuchToken {
        /// The setting to correct.
        setting: &'static str,
        /// What it says.
        wanted: String,
        /// The path that was configured.
        module: PathBuf,
        /// The labels, or serial numbers, that are there.
        found: Vec<String>,
    },
    /// The choice is not one of a single token.
    #[error(
        "{setting}: module {} shows {count} tokens {wanted:?}; choose one by hsm.tokens.serial: {}",
        module.display(), listed(serials)
    )]
    SeveralTokens {
        /// The setting to correct.
        setting: &'static str,
        /// What it says.
        wanted: String,
        /// The path that was configured.
        module: PathBuf,
        /// How many fit.
        count: usize,
        /// The serial numbers of those that fit.
        serials: Vec<String>,
    },
    /// The PIN is wrong.
    #[error(
        "hsm.tokens.pin: token {token:?} refused the PIN; it was tried once and will not be tried again, because tokens lock themselves; correct the PIN, then start again"
    )]
    PinRefused {
        /// The token's label, or what it is chosen by.
        token: String,
    },
    /// The token warns of one more wrong PIN.
    #[error(
        "hsm.tokens.pin: token {token:?} says one wrong PIN more will lock it; the PIN was not tried; log in once with the vendor's tool, which clears the count, then start again"
    )]
    PinLastTry {
        /// The token's label, or what it is chosen by.
        token: String,
    },
    /// Too many wrong PINs were tried.
    #[error(
        "hsm.tokens.pin: the user PIN of token {token:?} is locked; unlock it as its security officer, then start again"
    )]
    PinLocked {
        /// The token's label, or what it is chosen by.
        token: String,
    },
    /// There is no user PIN to log in with.
    #[error(
        "hsm.tokens.pin: the user PIN of token {token:?} is not set or has expired; set it with the vendor's tool, then start again"
    )]
    PinNotSet {
        /// The token's label, or what it is chosen by.
        token: String,
    },
    /// Nothing can be written to the token.
    #[error(
        "token {token:?} is write-protected; keys cannot be made in it: remove the protection with the vendor's tool"
    )]
    ReadOnly {
        /// The token's label, or what it is chosen by.
        token: String,
    },
    /// Not even one worker would get a session.
    #[error(
        "token {token:?} allows {allowed} sessions, of which {free} are free, and {needed} are needed; close other programs that use it"
    )]
    TooFewSessions {
        /// The token's label, or what it is chosen by.
        token: String,
        /// How many sessions the token allows.
        allowed: u64,
        /// How many of them are free.
        free: u64,
        /// How many are needed at least.
        needed: u64,
    },
    /// A call did not come back.
    #[error(
        "token {token:?} did not answer within the deadline (hsm.generate_deadline); check the device and its connection"
    )]
    Hangs {
        /// The token's label, or what it is chosen by.
        token: String,
    },
    /// The token answered with an error.
    #[error("token {token:?} does not work: {source:?}; `sealward doctor` shows more")]
    Broken {
        /// The token's label, or what it is chosen by.
        token: String,
        /// The call that failed.
        source: HsmError,
    },
}

impl OpenError {
    /// Whether the PIN stands in the way. The process should exit with code 78 and not be started
    /// again by itself: another try could lock the token.
    pub fn is_pin_refusal(&self) -> bool {
        match self {
            Self::PinRefused { .. }
            | Self::PinLastTry { .. }
            | Self::PinLocked { .. }
            | Self::PinNotSet { .. } => true,
            Self::NoTokens
            | Self::ModuleMissing { .. }
            | Self::NotAModule { .. }
            | Self::NoSuchToken { .. }
            | Self::SeveralTokens { .. }
            | Self::ReadOnly { .. }
            | Self::TooFewSessions { .. }
            | Self::Hangs { .. }
            | Self::Broken { .. } => false,
        }
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names
        .iter()
        .map(|name| format!("{name:?}"))
        .collect::<Vec<_>>()
        .join(", ")
}

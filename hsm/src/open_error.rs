//! Why a token could not be opened. Each message names the setting, the token and the remedy.

#![deny(clippy::wildcard_enum_match_arm)]

use std::path::PathBuf;

use crate::HsmError;

/// Why [`Token::open`](crate::Token::open) failed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No token is configured.
    #[error("hsm.tokens is empty: configure at least one token (module, label and PIN)")]
    NoTokens,
    /// The module file does not exist.
    #[error(
        "hsm.tokens.module: there is no file {}; install the vendor's PKCS#11 library or correct the path",
        module.display()
    )]
    ModuleMissing {
        /// The configured path.
        module: PathBuf,
    },
    /// The file is not a module.
    #[error(
        "hsm.tokens.module: {} is not a PKCS#11 module ({reason}); name the vendor's PKCS#11 library",
        module.display()
    )]
    NotAModule {
        /// The configured path.
        module: PathBuf,
        /// The failure of loading it.
        reason: String,
    },
    /// The module does not start.
    #[error(
        "hsm.tokens.module: {} does not start ({source:?}); check that its daemon or device runs, and that it can read its configuration",
        module.display()
    )]
    NotStarted {
        /// The configured path.
        module: PathBuf,
        /// The failed call.
        source: HsmError,
    },
    /// The module shows no such token.
    #[error(
        "{setting}: module {} shows no token {wanted:?}, it shows {}{}; correct the setting, initialise the token, or check that the device is connected",
        module.display(), listed(found), beside(unreadable)
    )]
    NoSuchToken {
        /// The setting to correct.
        setting: &'static str,
        /// Its value.
        wanted: String,
        /// The configured path.
        module: PathBuf,
        /// The labels or serial numbers of the tokens that it shows.
        found: Vec<String>,
        /// The slots whose token cannot be read, with the reason.
        unreadable: Vec<String>,
    },
    /// The selection matches several tokens.
    #[error(
        "{setting}: module {} shows {count} tokens {wanted:?}; choose one by hsm.tokens.serial: {}",
        module.display(), listed(serials)
    )]
    SeveralTokens {
        /// The setting to correct.
        setting: &'static str,
        /// Its value.
        wanted: String,
        /// The configured path.
        module: PathBuf,
        /// How many match.
        count: usize,
        /// Their serial numbers.
        serials: Vec<String>,
    },
    /// The PIN is wrong.
    #[error(
        "hsm.tokens.pin: token {token:?} refused the PIN; it was tried once and will not be tried again, because tokens lock themselves; correct the PIN, then start again"
    )]
    PinRefused {
        /// The label of the token, or its selector.
        token: String,
    },
    /// The token refused this PIN before.
    #[error(
        "hsm.tokens.pin: token {token:?} refused this PIN before; it was not tried again, because more wrong PINs lock the token; correct the PIN, or set hsm.tokens.retry_pin if the PIN is right now, and start again"
    )]
    PinRefusedBefore {
        /// The label of the token, or its selector.
        token: String,
    },
    /// A wrong PIN was tried since the last login.
    #[error(
        "hsm.tokens.pin: token {token:?} reports that a wrong PIN was tried since the last login; the PIN was not tried, because more wrong PINs lock the token; check the PIN, then log in once with the vendor's tool, which clears the count, or set hsm.tokens.retry_pin, and start again"
    )]
    PinCountLow {
        /// The label of the token, or its selector.
        token: String,
    },
    /// One more wrong PIN locks the token.
    #[error(
        "hsm.tokens.pin: token {token:?} reports that one more wrong PIN locks it; the PIN was not tried; log in once with the vendor's tool, which clears the count, then start again"
    )]
    PinLastTry {
        /// The label of the token, or its selector.
        token: String,
    },
    /// Too many wrong PINs were tried.
    #[error(
        "hsm.tokens.pin: the user PIN of token {token:?} is locked; unlock it as its security officer, then start again"
    )]
    PinLocked {
        /// The label of the token, or its selector.
        token: String,
    },
    /// The user PIN is not set.
    #[error(
        "hsm.tokens.pin: the user PIN of token {token:?} is not set or has expired; set it with the vendor's tool, then start again"
    )]
    PinNotSet {
        /// The label of the token, or its selector.
        token: String,
    },
    /// The token is write-protected.
    #[error(
        "token {token:?} is write-protected; keys cannot be made in it: remove the protection with the vendor's tool"
    )]
    ReadOnly {
        /// The label of the token, or its selector.
        token: String,
    },
    /// The token has no session for a worker.
    #[error(
        "token {token:?} allows {allowed} sessions, {free} are free, and {needed} are needed: close other programs that use it"
    )]
    TooFewSessions {
        /// The label of the token, or its selector.
        token: String,
        /// How many sessions the token allows.
        allowed: u64,
        /// How many of them are free.
        free: u64,
        /// How many the service needs.
        needed: u64,
    },
    /// A call did not return.
    #[error("token {token:?} did not answer in time; check the device and its connection")]
    Hangs {
        /// The label of the token, or its selector.
        token: String,
    },
    /// The token failed.
    #[error("token {token:?} does not work: {source:?}")]
    Broken {
        /// The label of the token, or its selector.
        token: String,
        /// The failed call.
        source: HsmError,
    },
}

impl OpenError {
    /// The failure without the names of files, slots and tokens, for a report to others.
    pub fn without_names(&self) -> String {
        match self {
            Self::NoTokens => self.to_string(),
            Self::ModuleMissing { .. } => "the module does not exist".to_owned(),
            Self::NotAModule { .. } => "the file is not a PKCS#11 module".to_owned(),
            Self::NotStarted { source, .. } => format!("the module does not start: {source:?}"),
            Self::NoSuchToken { found, unreadable, .. } => format!(
                "the module shows no such token, {} others, and {} that it cannot read",
                found.len(),
                unreadable.len()
            ),
            Self::SeveralTokens { count, .. } => format!("the module shows {count} such tokens"),
            Self::PinRefused { .. }
            | Self::PinRefusedBefore { .. }
            | Self::PinCountLow { .. }
            | Self::PinLastTry { .. }
            | Self::PinLocked { .. }
            | Self::PinNotSet { .. } => "the PIN was refused or not tried".to_owned(),
            Self::ReadOnly { .. } => "the token is write-protected".to_owned(),
            Self::TooFewSessions { allowed, free, needed, .. } => {
                format!("the token allows {allowed} sessions, {free} are free, {needed} are needed")
            }
            Self::Hangs { .. } => "the token did not answer in time".to_owned(),
            Self::Broken { source, .. } => format!("the token does not work: {source:?}"),
        }
    }

    /// Whether the failure concerns the PIN. The process should exit with code 78 and not be
    /// restarted automatically, because another try could lock the token.
    pub fn is_pin_refusal(&self) -> bool {
        match self {
            Self::PinRefused { .. }
            | Self::PinRefusedBefore { .. }
            | Self::PinCountLow { .. }
            | Self::PinLastTry { .. }
            | Self::PinLocked { .. }
            | Self::PinNotSet { .. } => true,
            Self::NoTokens
            | Self::ModuleMissing { .. }
            | Self::NotAModule { .. }
            | Self::NotStarted { .. }
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
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

fn beside(unreadable: &[String]) -> String {
    match unreadable {
        [] => String::new(),
        slots => format!(", and cannot read {}", slots.join(", ")),
    }
}

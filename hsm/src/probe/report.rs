//! What a probe tells. Plain data: whoever prints it chooses the form.

use std::fmt;
use std::path::PathBuf;

/// Everything that was found out about one token.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeReport {
    /// The library.
    pub module: ModuleFacts,
    /// The token behind it.
    pub token: TokenFacts,
    /// Every operation and algorithm that is used.
    pub operations: Vec<Probed>,
    /// How keys from elsewhere can come in.
    pub imports: Vec<Probed>,
    /// One sentence for each weakness.
    pub weaknesses: Vec<String>,
    /// How fast the main operations are, one after the other on one session.
    pub speeds: Vec<Speed>,
    /// What is configured, or done by default, and cannot work with this token.
    pub broken: Vec<String>,
}

/// The PKCS#11 library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleFacts {
    /// Where it was loaded from.
    pub path: PathBuf,
    /// Who made it, as it says.
    pub manufacturer: String,
    /// What it calls itself.
    pub description: String,
    /// Its own version.
    pub version: String,
    /// The version of PKCS#11 it says it has.
    pub pkcs11_version: String,
}

/// The token behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenFacts {
    /// The label it was initialised with.
    pub label: String,
    /// Its serial number.
    pub serial: String,
    /// Who made it, as it says.
    pub manufacturer: String,
    /// Which model it is.
    pub model: String,
    /// The version of the device.
    pub hardware_version: String,
    /// The version of what runs in it.
    pub firmware_version: String,
    /// None where it tells no bound.
    pub max_sessions: Option<u64>,
    /// Whether the PIN was taken.
    pub logged_in: bool,
    /// The flags that are set, as PKCS#11 calls them, without `CKF_`.
    pub flags: Vec<&'static str>,
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    /// Such as `sign`.
    pub operation: &'static str,
    /// Such as `RSA-PSS-SHA256`.
    pub algorithm: &'static str,
    /// Whether it does.
    pub works: Works,
}

/// Whether it works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Works {
    /// As one would wish.
    Yes,
    /// In another way than one would wish, which this is.
    ByFallback(&'static str),
    /// Not, and this is what the token said.
    Missing(String),
}

/// How fast an operation is.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// Such as `P-256 sign`.
    pub operation: &'static str,
    /// How often a second.
    pub per_second: f64,
}

impl Works {
    /// Whether it works, in whatever way.
    pub fn at_all(&self) -> bool {
        !matches!(self, Self::Missing(_))
    }
}

impl fmt::Display for Works {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yes => f.write_str("works"),
            Self::ByFallback(how) => write!(f, "works by fallback: {how}"),
            Self::Missing(reason) => write!(f, "missing: {reason}"),
        }
    }
}

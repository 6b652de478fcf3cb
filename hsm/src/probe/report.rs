//! The result of a probe.

use std::fmt;
use std::path::PathBuf;

/// The result of a probe of one token.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeReport {
    /// The library.
    pub module: ModuleFacts,
    /// The token.
    pub token: TokenFacts,
    /// Every operation and algorithm.
    pub operations: Vec<Probed>,
    /// The kinds of key import.
    pub imports: Vec<Probed>,
    /// One sentence for each weakness.
    pub weaknesses: Vec<String>,
    /// The rates of the main operations, one after the other on one session.
    pub speeds: Vec<Speed>,
    /// Settings and defaults that do not work with this token.
    pub broken: Vec<String>,
}

/// The PKCS#11 library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleFacts {
    /// The path of the file.
    pub path: PathBuf,
    /// The manufacturer that it reports.
    pub manufacturer: String,
    /// The description that it reports.
    pub description: String,
    /// The version of the library.
    pub version: String,
    /// The version of PKCS#11 that it reports.
    pub pkcs11_version: String,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenFacts {
    /// The label.
    pub label: String,
    /// The serial number.
    pub serial: String,
    /// The manufacturer that it reports.
    pub manufacturer: String,
    /// The model.
    pub model: String,
    /// The hardware version.
    pub hardware_version: String,
    /// The firmware version.
    pub firmware_version: String,
    /// The bound of sessions; none where the token reports none.
    pub max_sessions: Option<u64>,
    /// Whether the login succeeded.
    pub logged_in: bool,
    /// The PKCS#11 names of the flags that are set, without `CKF_`.
    pub flags: Vec<&'static str>,
}

/// One operation that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    /// Such as `sign`.
    pub operation: &'static str,
    /// Such as `RSA-PSS-SHA256`.
    pub algorithm: &'static str,
    /// The result.
    pub works: Works,
}

/// Whether it works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Works {
    /// It works.
    Yes,
    /// It works by this fallback.
    ByFallback(&'static str),
    /// It does not work, for this reason.
    Missing(String),
}

/// The rate of an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// Such as `P-256 sign`.
    pub operation: &'static str,
    /// Operations per second.
    pub per_second: f64,
}

impl Works {
    /// Whether it works, also by a fallback.
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

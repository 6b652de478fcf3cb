//! Errors of TLS files.

use std::io;
use std::path::PathBuf;

use engine::settings::NotInPem;
use formats::clock::Timestamp;

/// A TLS file cannot be used. The message names its setting and the way out.
#[derive(Debug, thiserror::Error)]
#[error("{setting}: {path} {fault}", path = .path.display())]
pub struct BadTls {
    pub(super) setting: &'static str,
    pub(super) path: PathBuf,
    pub(super) fault: Fault,
}

impl BadTls {
    /// Whether it can resolve without a change of settings, because certificates are renewed.
    pub fn may_pass(&self) -> bool {
        match &self.fault {
            Fault::Unreadable(_)
            | Fault::NotInPem(NotInPem::Unreadable(_))
            | Fault::Expired(_)
            | Fault::RunOut(_)
            | Fault::NotYetValid(_) => true,
            Fault::NotInPem(NotInPem::Absent(_))
            | Fault::NoKey
            | Fault::Unusable(_)
            | Fault::AnotherKey(_) => false,
        }
    }
}

/// The error of a TLS file.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It lacks the expected content.
    #[error(transparent)]
    NotInPem(#[from] NotInPem),
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// It contains no key.
    #[error("must contain a PEM private key without a passphrase")]
    NoKey,
    /// TLS does not support it.
    #[error("cannot be used: {0}")]
    Unusable(String),
    /// Certificate and key do not match.
    #[error("must be the key of the certificate in {certificate}", certificate = .0.display())]
    AnotherKey(PathBuf),
    /// It has expired.
    #[error("expired at {0}: renew the certificate")]
    Expired(Timestamp),
    /// The revocation list has expired.
    #[error("expired at {0}: fetch the current list of its CA")]
    RunOut(Timestamp),
    /// It is not valid yet.
    #[error("is not valid before {0}: is the clock of this machine right?")]
    NotYetValid(Timestamp),
}

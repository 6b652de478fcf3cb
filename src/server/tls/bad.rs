//! What is wrong with a file of TLS.

use std::io;
use std::path::PathBuf;

use crate::clock::Timestamp;
use crate::settings::NotInPem;

/// A file of TLS cannot be used. The text names its setting and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{setting}: {path} {fault}", path = .path.display())]
pub struct BadTls {
    pub(super) setting: &'static str,
    pub(super) path: PathBuf,
    pub(super) fault: Fault,
}

impl BadTls {
    /// Whether it may be over soon without a change of the settings: time goes on, and whatever
    /// renews the files or brings them here comes round.
    #[must_use]
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

/// What is wrong with a file of TLS.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// There is nothing in it of what should be.
    #[error(transparent)]
    NotInPem(#[from] NotInPem),
    /// It is not there, or not for us.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// There is none in it.
    #[error("must contain a PEM private key without a passphrase")]
    NoKey,
    /// TLS takes no such thing.
    #[error("cannot be used: {0}")]
    Unusable(String),
    /// Certificate and key are not of one pair.
    #[error("must be the key of the certificate in {certificate}", certificate = .0.display())]
    AnotherKey(PathBuf),
    /// It has ended.
    #[error("expired at {0}: renew the certificate")]
    Expired(Timestamp),
    /// It is a list that was to be replaced by now.
    #[error("expired at {0}: fetch the current list of its CA")]
    RunOut(Timestamp),
    /// It has not begun.
    #[error("is not valid before {0}: is the clock of this machine right?")]
    NotYetValid(Timestamp),
}

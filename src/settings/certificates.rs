//! Certificates, and lists of those that are revoked, in files that settings name.

use std::fs;
use std::io;
use std::path::Path;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer};

/// A file has nothing of what it is named for.
#[derive(Debug, thiserror::Error)]
pub enum NotInPem {
    /// It is not there, or not for us.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// It holds something else.
    #[error("must contain a {0} in PEM")]
    Absent(&'static str),
}

/// Every certificate in a file, of which there is at least one.
///
/// # Errors
/// When there is none, or when one of them is damaged.
pub fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, NotInPem> {
    all(file, "certificate")
}

/// Every certificate revocation list in a file, of which there is at least one.
///
/// # Errors
/// When there is none, or when one of them is damaged.
pub fn revocation_lists(
    file: &Path,
) -> Result<Vec<CertificateRevocationListDer<'static>>, NotInPem> {
    all(file, "certificate revocation list")
}

fn all<T: PemObject>(file: &Path, kind: &'static str) -> Result<Vec<T>, NotInPem> {
    let pem = fs::read(file)?;
    let found: Result<Vec<T>, _> = T::pem_slice_iter(&pem).collect();
    found
        .ok()
        .filter(|found| !found.is_empty())
        .ok_or(NotInPem::Absent(kind))
}

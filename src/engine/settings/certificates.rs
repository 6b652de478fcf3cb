//! Certificates and revocation lists in files.

use std::fs;
use std::io;
use std::path::Path;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer};

/// A file does not contain the expected PEM blocks.
#[derive(Debug, thiserror::Error)]
pub enum NotInPem {
    /// The file is missing or not readable.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// The file contains something else.
    #[error("must contain a {0} in PEM")]
    Absent(&'static str),
}

/// The certificates in a file, at least one.
pub fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, NotInPem> {
    all(file, "certificate")
}

/// The certificate revocation lists in a file, at least one.
pub fn revocation_lists(
    file: &Path,
) -> Result<Vec<CertificateRevocationListDer<'static>>, NotInPem> {
    all(file, "certificate revocation list")
}

fn all<T: PemObject>(file: &Path, kind: &'static str) -> Result<Vec<T>, NotInPem> {
    let pem = fs::read(file)?;
    let found: Result<Vec<T>, _> = T::pem_slice_iter(&pem).collect();
    found.ok().filter(|found| !found.is_empty()).ok_or(NotInPem::Absent(kind))
}

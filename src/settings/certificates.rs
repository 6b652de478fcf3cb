//! Certificates in files that settings name.

use std::fs;
use std::io;
use std::path::Path;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// There are no certificates in a file.
#[derive(Debug, thiserror::Error)]
pub enum NoCertificates {
    /// It is not there, or not for us.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// It holds something else.
    #[error("holds no certificate in PEM")]
    NoPem,
}

/// Every certificate in a file, of which there is at least one.
///
/// # Errors
/// When there is none, or when one of them is damaged.
pub fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, NoCertificates> {
    let pem = fs::read(file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    found
        .ok()
        .filter(|found| !found.is_empty())
        .ok_or(NoCertificates::NoPem)
}

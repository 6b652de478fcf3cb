//! Settings of TLS on the API listener, and the files that they name.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use rustls::SupportedProtocolVersion;
use rustls::version::{TLS12, TLS13};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::AuthSpiffe;

/// The versions of TLS, the preferred one first.
pub static TLS_VERSIONS: [&SupportedProtocolVersion; 2] = [&TLS13, &TLS12];

/// TLS. With a certificate and its key, the API accepts TLS only.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct Tls {
    /// PEM file with the certificate, followed by its intermediate certificates. A changed file is
    /// loaded within seconds, and immediately on SIGHUP. Open connections stay.
    pub certificate: Option<PathBuf>,
    /// PEM file with the private key, without a passphrase.
    pub key: Option<PathBuf>,
    /// PEM file with CA certificates. Clients must then present a certificate of one of them, or of a
    /// trust domain in `auth.spiffe`. Their API key or token is still required, unless
    /// `auth.certificates` is on. Default: no client certificates.
    pub client_ca: Option<PathBuf>,
    /// PEM file with a revocation list for each client CA. Clients are refused if their certificate
    /// is revoked, or if the list of their CA is missing or expired. For a CA of `auth.spiffe`, a list is
    /// optional. A changed file is loaded like the certificate.
    pub client_crl: Option<PathBuf>,
}

/// The files of TLS that is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Setting `http.tls.certificate`.
    pub certificate: PathBuf,
    /// Setting `http.tls.key`.
    pub key: PathBuf,
    /// Setting `http.tls.client_ca`.
    pub client_ca: Option<PathBuf>,
    /// Setting `http.tls.client_crl`.
    pub client_crl: Option<PathBuf>,
    /// Setting `auth.spiffe`.
    pub spiffe: Vec<AuthSpiffe>,
}

/// The state of a file that shows whether it has changed: its identity, its length, and its
/// modification time. None if the file does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp(Vec<Option<[u64; 5]>>);

impl Tls {
    /// The files, where TLS is on.
    pub(super) fn files(&self, spiffe: &[AuthSpiffe]) -> Option<TlsFiles> {
        Some(TlsFiles {
            certificate: self.certificate.clone()?,
            key: self.key.clone()?,
            client_ca: self.client_ca.clone(),
            client_crl: self.client_crl.clone(),
            spiffe: spiffe.to_vec(),
        })
    }

    pub(super) fn contradictions(&self, has_spiffe: bool, found: &mut Vec<String>) {
        match (&self.certificate, &self.key, &self.client_ca) {
            (Some(_), None, _) => found.push(
                "http.tls.certificate requires http.tls.key, the file with its private key"
                    .to_owned(),
            ),
            (None, Some(_), _) => found.push(
                "http.tls.key requires http.tls.certificate, the file with its certificate"
                    .to_owned(),
            ),
            (None, None, Some(_)) => found.push(
                "http.tls.client_ca requires http.tls.certificate and http.tls.key".to_owned(),
            ),
            _ => {}
        }
        if self.client_crl.is_some() && self.client_ca.is_none() && !has_spiffe {
            found.push("http.tls.client_crl requires http.tls.client_ca or auth.spiffe".to_owned());
        }
    }
}

impl TlsFiles {
    /// Reads the key into memory that wipes itself.
    pub fn key(&self) -> io::Result<Zeroizing<Vec<u8>>> {
        fs::read(&self.key).map(Zeroizing::new)
    }

    /// The current state of the files, following links.
    pub fn stamp(&self) -> Stamp {
        let files = [
            Some(&self.certificate),
            Some(&self.key),
            self.client_ca.as_ref(),
            self.client_crl.as_ref(),
        ];
        let look = |path: &PathBuf| {
            let seen = fs::metadata(path).ok()?;
            let changed = [seen.mtime(), seen.mtime_nsec()].map(i64::cast_unsigned);
            let [seconds, nanos] = changed;
            Some([seen.dev(), seen.ino(), seen.size(), seconds, nanos])
        };
        let files = files.into_iter().flatten();
        let bundles = self.spiffe.iter().map(|domain| &domain.ca);
        Stamp(files.chain(bundles).map(look).collect())
    }
}

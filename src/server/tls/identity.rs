//! Who this service is to its clients, and whom it takes for one: read from files, checked whole.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls::{InconsistentKeys, RootCertStore, ServerConfig};
use spki::der::Decode as _;
use x509_cert::Certificate;

use crate::clock::Timestamp;
use crate::settings::{NoCertificates, Stamp, TlsFiles, certificates};

const CERTIFICATE: &str = "http.tls.certificate";
const KEY: &str = "http.tls.key";
const CLIENT_CA: &str = "http.tls.client_ca";

/// What clients may speak inside of TLS, the best first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// A configuration that new connections are taken with.
pub(super) struct Identity {
    pub(super) config: Arc<ServerConfig>,
    pub(super) expires: Timestamp,
    /// How the files looked before they were read.
    pub(super) stamp: Stamp,
}

/// A file of TLS cannot be used. The text names its setting and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{setting}: {path} {fault}", path = .path.display())]
pub struct BadTls {
    setting: &'static str,
    path: PathBuf,
    fault: Fault,
}

/// What is wrong with a file of TLS.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// There is no certificate in it.
    #[error(transparent)]
    NoCertificates(#[from] NoCertificates),
    /// It is not there, or not for us.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// There is none in it.
    #[error("holds no private key in PEM that can be read without a passphrase")]
    NoKey,
    /// TLS takes no such thing.
    #[error("cannot be used: {0}")]
    Unusable(String),
    /// Certificate and key are not of one pair.
    #[error("is not the key of the certificate in {certificate}", certificate = .0.display())]
    AnotherKey(PathBuf),
    /// It has ended.
    #[error("expired at {0}: renew the certificate")]
    Expired(Timestamp),
    /// It has not begun.
    #[error("is not valid before {0}: is the clock of this machine right?")]
    NotYetValid(Timestamp),
}

impl Identity {
    pub(super) fn read(files: &TlsFiles, now: Timestamp) -> Result<Self, BadTls> {
        let stamp = files.stamp();
        let provider = Arc::new(aws_lc_rs::default_provider());
        let bad = |fault| BadTls {
            setting: CERTIFICATE,
            path: files.certificate.clone(),
            fault,
        };
        let chain = certificates(&files.certificate).map_err(|fault| bad(fault.into()))?;
        let expires = validity(&chain, now).map_err(bad)?;
        let key = private_key(files, chain, &provider)?;
        let verifier = match &files.client_ca {
            Some(path) => client_verifier(path, &provider)?,
            None => WebPkiClientVerifier::no_client_auth(),
        };
        let versions = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13, &TLS12])
            .map_err(|error| bad(Fault::Unusable(error.to_string())))?;
        let mut config = versions
            .with_client_cert_verifier(verifier)
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(key)));
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
        Ok(Self {
            config: Arc::new(config),
            expires,
            stamp,
        })
    }
}

/// When the first certificate of a chain ends, if it holds now.
fn validity(chain: &[CertificateDer<'_>], now: Timestamp) -> Result<Timestamp, Fault> {
    let first = chain.first().ok_or(NoCertificates::NoPem)?;
    let parsed = Certificate::from_der(first)
        .map_err(|error| Fault::Unusable(format!("it is no X.509 certificate ({error})")))?;
    let bounds = parsed.tbs_certificate().validity();
    let [begins, ends] = [bounds.not_before, bounds.not_after].map(|time| {
        let millis = time.to_unix_duration().as_millis();
        Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
    });
    if now < begins {
        Err(Fault::NotYetValid(begins))
    } else if now > ends {
        Err(Fault::Expired(ends))
    } else {
        Ok(ends)
    }
}

fn private_key(
    files: &TlsFiles,
    chain: Vec<CertificateDer<'static>>,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, BadTls> {
    let bad = |fault| BadTls {
        setting: KEY,
        path: files.key.clone(),
        fault,
    };
    let pem = files.key().map_err(|error| bad(error.into()))?;
    let key = PrivateKeyDer::from_pem_slice(&pem).map_err(|_| bad(Fault::NoKey))?;
    CertifiedKey::from_der(chain, key, provider).map_err(|error| match error {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            bad(Fault::AnotherKey(files.certificate.clone()))
        }
        other => bad(Fault::Unusable(other.to_string())),
    })
}

fn client_verifier(
    path: &Path,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, BadTls> {
    let bad = |fault| BadTls {
        setting: CLIENT_CA,
        path: path.to_owned(),
        fault,
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path).map_err(|fault| bad(fault.into()))? {
        roots
            .add(certificate)
            .map_err(|error| bad(Fault::Unusable(error.to_string())))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|error| bad(Fault::Unusable(error.to_string())))
}

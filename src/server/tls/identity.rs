//! The certificate of this service, its key, and their validation.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{InconsistentKeys, ServerConfig};
use spki::der::Decode as _;
use x509_cert::Certificate;

use super::bad::{BadTls, Fault};
use super::clients;
use engine::client_certificates::{Trust, moment};
use engine::settings::{NotInPem, Stamp, TLS_VERSIONS, TlsFiles, certificates};
use formats::clock::Timestamp;

const CERTIFICATE: &str = "http.tls.certificate";
const KEY: &str = "http.tls.key";

/// The application protocol. A client that offers others only is refused.
const PROTOCOL: &[u8] = b"http/1.1";

/// A TLS configuration for new connections.
pub(super) struct ServerIdentity {
    pub(super) config: Arc<ServerConfig>,
    pub(super) trust: Arc<Trust>,
    pub(super) expires: Timestamp,
    /// The state of the files before they were read.
    pub(super) stamp: Stamp,
}

impl ServerIdentity {
    pub(super) fn read(files: &TlsFiles, now: Timestamp) -> Result<Self, BadTls> {
        let stamp = files.stamp();
        let provider = Arc::new(aws_lc_rs::default_provider());
        let bad = |fault| BadTls { setting: CERTIFICATE, path: files.certificate.clone(), fault };
        let chain = certificates(&files.certificate).map_err(|fault| bad(fault.into()))?;
        let expires = validity(&chain, now).map_err(bad)?;
        let key = private_key(files, chain, &provider)?;
        let trust = Arc::new(clients::trust(files, now, &provider)?);
        let versions = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&TLS_VERSIONS)
            .map_err(|error| bad(Fault::Unusable(error.to_string())))?;
        let mut config = versions
            .with_client_cert_verifier(trust.clone())
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(key)));
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        if files.client_ca.is_some() || !files.spiffe.is_empty() {
            // A resumed session does not verify the client certificate again.
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(Self { config: Arc::new(config), trust, expires, stamp })
    }
}

/// The earliest expiry in a chain that is valid now.
fn validity(chain: &[CertificateDer<'_>], now: Timestamp) -> Result<Timestamp, Fault> {
    let first = chain.first().ok_or(NotInPem::Absent("certificate"))?;
    let parsed = Certificate::from_der(first)
        .map_err(|error| Fault::Unusable(format!("it is no X.509 certificate ({error})")))?;
    let bounds = parsed.tbs_certificate().validity();
    let [begins, ends] = [bounds.not_before, bounds.not_after].map(moment);
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
    let bad = |fault| BadTls { setting: KEY, path: files.key.clone(), fault };
    let pem = files.key().map_err(|error| bad(error.into()))?;
    let key = PrivateKeyDer::from_pem_slice(&pem).map_err(|_| bad(Fault::NoKey))?;
    CertifiedKey::from_der(chain, key, provider).map_err(|error| {
        if error == InconsistentKeys::KeyMismatch.into() {
            bad(Fault::AnotherKey(files.certificate.clone()))
        } else {
            bad(Fault::Unusable(error.to_string()))
        }
    })
}

//! TLS connections to a collector.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::net::sockopt::set_tcp_user_timeout;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{InvalidDnsNameError, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use zeroize::Zeroizing;

use crate::settings::{Endpoint, Forward, NotInPem, SecretError, certificates};

/// How long the collector's machine may leave data unacknowledged before the connection fails. Less
/// than the window in which syslog entries are not confirmed.
const UNACKNOWLEDGED: Duration = Duration::from_secs(20);

/// Why entries are not sent.
#[derive(Debug, thiserror::Error)]
pub enum CollectorError {
    /// A file of the settings has no certificates.
    #[error("{setting}: {path}: {source}", path = .path.display())]
    Certificates {
        /// The setting.
        setting: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        source: NotInPem,
    },
    /// The client certificate and its key cannot be used.
    #[error("audit.forward.key: {path}: {reason}", path = .path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The URL names no host that a certificate can have.
    #[error("audit.forward.url: {0}")]
    Host(#[from] InvalidDnsNameError),
    /// The secret cannot be read.
    #[error("audit.forward.secret: {0}")]
    Source(#[from] SecretError),
    /// The secret cannot be in a header.
    #[error("audit.forward.secret must be text that an HTTP header can contain")]
    Secret,
    /// TLS cannot be used with these settings.
    #[error("audit.forward: {0}")]
    Tls(#[from] rustls::Error),
    /// The connection failed.
    #[error("the collector is not reachable: {0}")]
    Connection(#[from] io::Error),
    /// The connection failed during a request.
    #[error("the collector is not reachable: {0}")]
    Http(#[from] hyper::Error),
    /// There was no answer in time.
    #[error("the collector did not answer within audit.forward.timeout")]
    Late,
    /// The collector refused a batch.
    #[error("the collector refused a batch with status {0}")]
    Refused(u16),
}

/// Connects to one collector.
#[derive(Clone, Debug)]
pub(super) struct Connector {
    settings: Forward,
    host: String,
    port: u16,
    name: ServerName<'static>,
}

impl Connector {
    /// A connector whose files can be used now.
    pub(super) fn new(settings: &Forward, endpoint: &Endpoint) -> Result<Self, CollectorError> {
        let host = endpoint.host.trim_matches(['[', ']']);
        let connector = Self {
            settings: settings.clone(),
            host: host.to_owned(),
            port: endpoint.port,
            name: ServerName::try_from(host.to_owned())?,
        };
        connector.tls()?;
        Ok(connector)
    }

    /// A new connection. The files are read again, so that changed ones apply.
    pub(super) async fn connect(&self) -> Result<TlsStream<TcpStream>, CollectorError> {
        let connector = TlsConnector::from(Arc::new(self.tls()?));
        let connected = async {
            let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
            stream.set_nodelay(true)?;
            let patience = u32::try_from(UNACKNOWLEDGED.as_millis()).unwrap_or(u32::MAX);
            set_tcp_user_timeout(&stream, patience).map_err(io::Error::from)?;
            Ok(connector.connect(self.name.clone(), stream).await?)
        };
        self.in_time(connected).await
    }

    /// Fails with [`CollectorError::Late`] after the timeout of the settings.
    pub(super) async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, CollectorError>>,
    ) -> Result<T, CollectorError> {
        let late = Err(CollectorError::Late);
        timeout(self.settings.timeout.0, work).await.unwrap_or(late)
    }

    fn tls(&self) -> Result<ClientConfig, CollectorError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let builder = match &self.settings.ca {
            None => builder.with_platform_verifier()?,
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for authority in read("audit.forward.ca", path)? {
                    roots.add(authority)?;
                }
                builder.with_root_certificates(roots)
            }
        };
        let (Some(certificate), Some(key)) = (&self.settings.certificate, &self.settings.key)
        else {
            return Ok(builder.with_no_client_auth());
        };
        let chain = read("audit.forward.certificate", certificate)?;
        let unusable = |reason: String| CollectorError::Key { path: key.clone(), reason };
        let pem = std::fs::read(key).map(Zeroizing::new);
        let pem = pem.map_err(|error| unusable(error.to_string()))?;
        let private = PrivateKeyDer::from_pem_slice(&pem);
        let private = private.map_err(|_| unusable("must contain a private key in PEM".into()))?;
        let config = builder.with_client_auth_cert(chain, private);
        config.map_err(|error| unusable(error.to_string()))
    }
}

fn read(
    setting: &'static str,
    path: &Path,
) -> Result<Vec<rustls::pki_types::CertificateDer<'static>>, CollectorError> {
    certificates(path).map_err(|source| CollectorError::Certificates {
        setting,
        path: path.to_owned(),
        source,
    })
}

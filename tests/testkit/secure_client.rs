//! A TLS client that shows the result of the handshake.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, Request, header};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{
    ClientConfig, HandshakeKind, ProtocolVersion, RootCertStore, SupportedProtocolVersion,
};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{Answer, Authority, IssuedCertificate};

/// The host name in the certificates of test servers.
pub const HOST: &str = "sealward.test";

/// A client that trusts one authority.
pub struct SecureClient {
    config: ClientConfig,
    from: Ipv4Addr,
}

/// A connection after the handshake.
pub struct Secured {
    sender: http1::SendRequest<Body>,
    /// The application protocol that the server chose.
    pub protocol: Option<Vec<u8>>,
    pub version: Option<ProtocolVersion>,
    /// Whether it resumed the session of an earlier connection.
    pub is_resumed: bool,
    /// The server certificate.
    pub certificate: CertificateDer<'static>,
}

impl SecureClient {
    /// A client that offers HTTP/2 and HTTP/1.1, like a browser.
    pub fn trusting(authority: &Authority) -> Self {
        let versions = rustls::DEFAULT_VERSIONS;
        Self::with_versions(authority, versions, &["h2", "http/1.1"], None)
    }

    /// Presents a client certificate.
    pub fn with_certificate(authority: &Authority, issued: &IssuedCertificate) -> Self {
        let versions = rustls::DEFAULT_VERSIONS;
        Self::with_versions(authority, versions, &["http/1.1"], Some(issued))
    }

    pub fn with_versions(
        authority: &Authority,
        versions: &[&'static SupportedProtocolVersion],
        protocols: &[&str],
        issued: Option<&IssuedCertificate>,
    ) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(certificate(&authority.certificate())).expect("an authority");
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .expect("versions")
            .with_root_certificates(roots);
        let mut config = match issued {
            None => config.with_no_client_auth(),
            Some(issued) => {
                let key = PrivateKeyDer::from_pem_slice(issued.key.as_bytes()).expect("a key");
                let chain = vec![certificate(&issued.certificate)];
                config.with_client_auth_cert(chain, key).expect("a client")
            }
        };
        let protocols = protocols.iter().map(|name| name.as_bytes().to_vec());
        config.alpn_protocols = protocols.collect();
        Self { config, from: Ipv4Addr::LOCALHOST }
    }

    /// Connects from another local address.
    pub fn from(self, from: Ipv4Addr) -> Self {
        Self { from, ..self }
    }

    /// Connects and negotiates TLS and the HTTP version.
    pub async fn connect(&self, address: SocketAddr) -> io::Result<Secured> {
        Secured::over(self.stream(address).await?).await
    }

    /// Connects and negotiates TLS.
    pub async fn stream(&self, address: SocketAddr) -> io::Result<TlsStream<TcpStream>> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((self.from, 0).into())?;
        let stream = socket.connect(address).await?;
        let name = ServerName::try_from(HOST).expect("a name");
        let connector = TlsConnector::from(Arc::new(self.config.clone()));
        connector.connect(name, stream).await
    }
}

impl Secured {
    async fn over(stream: TlsStream<TcpStream>) -> io::Result<Self> {
        let (_, session) = stream.get_ref();
        let version = session.protocol_version();
        let is_resumed = session.handshake_kind() == Some(HandshakeKind::Resumed);
        let certificate = session.peer_certificates().expect("certificates")[0].clone();
        let protocol = session.alpn_protocol().map(<[u8]>::to_vec);
        let (sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        // Errors of the connection appear in the requests.
        tokio::spawn(async move { drop(connection.await) });
        Ok(Self { sender, protocol, version, is_resumed, certificate })
    }

    /// Sends a request to the host in the certificate.
    pub async fn send(&mut self, mut request: Request<Body>) -> hyper::Result<Answer> {
        let host = HeaderValue::from_static(HOST);
        request.headers_mut().insert(header::HOST, host);
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        Ok(Answer::of(response.map(Body::new)).await)
    }

    pub async fn get(&mut self, path: &str) -> hyper::Result<Answer> {
        let request = Request::get(format!("https://{HOST}{path}"));
        self.send(request.body(Body::empty()).expect("a request")).await
    }
}

/// The first certificate in a PEM text.
pub fn certificate(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).expect("a certificate")
}

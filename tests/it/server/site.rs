//! A TLS listener in this process.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use engine::settings::TlsFiles;
use formats::clock::Clock;
use sealward::server::{Answers, BadTls, Tls, listen};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use testkit::{Authority, HOST, IssuedCertificate, Scratch};

/// A server certificate in a folder, and optionally the authority of client certificates.
pub(super) struct Site {
    pub(super) folder: Scratch,
    pub(super) authority: Authority,
    pub(super) client_ca: Option<PathBuf>,
    pub(super) client_crl: Option<PathBuf>,
}

/// A running listener.
pub(super) struct Serving {
    pub(super) address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<bool>,
}

impl Site {
    pub(super) fn new() -> Self {
        let site = Self {
            folder: Scratch::new(),
            authority: Authority::new(),
            client_ca: None,
            client_crl: None,
        };
        site.authority.server(HOST).write(site.folder.path());
        site
    }

    /// Requires client certificates of `authority`.
    pub(super) fn with_client_authority(self, authority: &Authority) -> Self {
        let file = self.folder.path().join("clients.pem");
        std::fs::write(&file, authority.certificate()).expect("write a certificate");
        Self { client_ca: Some(file), ..self }
    }

    /// Uses this revocation list for client certificates.
    pub(super) fn with_list(self, list: &str) -> Self {
        let file = self.folder.path().join("revoked.pem");
        std::fs::write(&file, list).expect("write a list");
        Self { client_crl: Some(file), ..self }
    }

    /// Replaces the server certificate.
    pub(super) fn renew(&self, issued: &IssuedCertificate) {
        issued.write(self.folder.path());
    }

    pub(super) fn files(&self) -> TlsFiles {
        TlsFiles {
            certificate: self.folder.path().join("certificate.pem"),
            key: self.folder.path().join("certificate-key.pem"),
            client_ca: self.client_ca.clone(),
            client_crl: self.client_crl.clone(),
            spiffe: Vec::new(),
        }
    }

    pub(super) fn tls(&self) -> Result<Tls, BadTls> {
        Tls::load(Clock::system(), self.files())
    }
}

impl Serving {
    /// Serves `front` with `tls`.
    pub(super) async fn start(tls: Tls, front: impl Answers) -> Self {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = listen("http.listen", any).await.expect("a free port");
        let address = listener.address();
        let (stop, stopped) = oneshot::channel();
        let serving = listener.over(Some(tls)).serve(
            front,
            async { drop(stopped.await) },
            Duration::ZERO,
            Duration::from_secs(60),
        );
        Self { address, stop, ended: tokio::spawn(serving) }
    }

    /// Stops the listener. Returns whether all requests in flight completed.
    pub(super) async fn end(self) -> bool {
        // If the listener has already stopped, the next line fails.
        let _ = self.stop.send(());
        self.ended.await.expect("a listener does not panic")
    }
}

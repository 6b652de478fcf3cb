//! A listener over TLS, in process.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use sealward::clock::Clock;
use sealward::server::{Answers, BadTls, Tls, listen};
use sealward::settings::TlsFiles;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::support::{Authority, HOST, IssuedCertificate, Scratch};

/// A certificate in a folder, and perhaps the authority that clients must come from.
pub(super) struct Site {
    pub(super) folder: Scratch,
    pub(super) authority: Authority,
    pub(super) client_ca: Option<PathBuf>,
    pub(super) client_crl: Option<PathBuf>,
}

/// A listener that serves until it is told to end.
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

    /// The same for clients of `authority` alone.
    pub(super) fn for_clients_of(self, authority: &Authority) -> Self {
        let file = self.folder.path().join("clients.pem");
        std::fs::write(&file, authority.certificate()).expect("write a certificate");
        Self {
            client_ca: Some(file),
            ..self
        }
    }

    /// The same, which reads this list of what their authority has revoked.
    pub(super) fn with_list(self, list: &str) -> Self {
        let file = self.folder.path().join("revoked.pem");
        std::fs::write(&file, list).expect("write a list");
        Self {
            client_crl: Some(file),
            ..self
        }
    }

    /// Puts these in the place of the present ones.
    pub(super) fn renew(&self, papers: &IssuedCertificate) {
        papers.write(self.folder.path());
    }

    pub(super) fn files(&self) -> TlsFiles {
        TlsFiles {
            certificate: self.folder.path().join("certificate.pem"),
            key: self.folder.path().join("certificate-key.pem"),
            client_ca: self.client_ca.clone(),
            client_crl: self.client_crl.clone(),
        }
    }

    pub(super) fn tls(&self) -> Result<Tls, BadTls> {
        Tls::load(Clock::system(), self.files())
    }
}

impl Serving {
    /// Serves `front` under `tls`.
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
        Self {
            address,
            stop,
            ended: tokio::spawn(serving),
        }
    }

    /// Ends it; tells whether everything in flight ended.
    pub(super) async fn end(self) -> bool {
        // A listener that is gone already fails the next line.
        let _ = self.stop.send(());
        self.ended.await.expect("a listener does not panic")
    }
}

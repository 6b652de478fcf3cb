//! The client certificate of an open connection.

use rustls::ServerConnection;
use rustls::pki_types::CertificateDer;
use tokio::sync::watch;

use super::Tls;

/// The certificate chain of a client, and the notices that its verification may have changed.
pub(in crate::server) struct Presented {
    tls: Tls,
    reloads: watch::Receiver<()>,
    chain: Vec<CertificateDer<'static>>,
}

impl Presented {
    /// No chain yet. Made before the handshake, so that no reload during it is missed.
    pub(in crate::server) fn before_handshake(tls: &Tls) -> Self {
        Self {
            reloads: tls.0.reloads.subscribe(),
            tls: tls.clone(),
            chain: Vec::new(),
        }
    }

    /// With the chain of the client, if it presented one.
    pub(in crate::server) fn by(self, connection: &ServerConnection) -> Self {
        let chain = connection.peer_certificates().unwrap_or_default().to_vec();
        Self { chain, ..self }
    }

    /// Resolves when a reload of the files made the chain invalid.
    pub(in crate::server) async fn revoked(&mut self) {
        while !self.chain.is_empty() && self.reloads.changed().await.is_ok() {
            if !self.tls.accepts(&self.chain) {
                return;
            }
        }
        std::future::pending().await
    }
}

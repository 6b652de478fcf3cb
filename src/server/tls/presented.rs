//! The client certificate of an open connection.

use std::sync::Arc;

use rustls::ServerConnection;
use tokio::sync::watch;

use super::Tls;
use engine::client_certificates::{Chain, PeerCertificate};

/// The certificate of a client, and the notices that its verification may have changed.
pub(in crate::server) struct PresentedCertificate {
    tls: Tls,
    reloads: watch::Receiver<()>,
    chain: Option<Arc<Chain>>,
}

impl PresentedCertificate {
    /// No certificate yet. Made before the handshake, so that no reload during it is missed.
    pub(in crate::server) fn before_handshake(tls: &Tls) -> Self {
        Self { reloads: tls.0.reloads.subscribe(), tls: tls.clone(), chain: None }
    }

    /// With the certificate of the client, if it presented one.
    pub(in crate::server) fn by(self, connection: &ServerConnection) -> Self {
        let presented = connection.peer_certificates().and_then(<[_]>::split_first);
        let chain = presented.map(|(own, others)| Chain::new(own.clone(), others.to_vec()));
        Self { chain: chain.map(Arc::new), ..self }
    }

    /// The certificate, for the requests of the connection.
    pub(in crate::server) fn certificate(&self) -> Option<PeerCertificate> {
        let chain = self.chain.clone()?;
        let trust = self.tls.trust().clone();
        Some(PeerCertificate { chain, trust })
    }

    /// Resolves when a reload of the files made the certificate invalid.
    pub(in crate::server) async fn revoked(&mut self) {
        if let Some(chain) = &self.chain {
            while self.reloads.changed().await.is_ok() {
                if !self.tls.accepts(chain) {
                    return;
                }
            }
        }
        std::future::pending().await
    }
}

//! TLS of the API listener, reloaded when its files change.

mod bad;
mod clients;
mod identity;
mod presented;
mod watch;

use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::watch as notice;
use tokio_rustls::TlsAcceptor;

pub use self::bad::{BadTls, Fault};
use self::identity::ServerIdentity;
pub(super) use self::presented::PresentedCertificate;
pub use self::watch::keep_current;
use engine::client_certificates::{Chain, CurrentTrust};
use engine::settings::TlsFiles;
use formats::clock::{Clock, Timestamp};

/// The TLS configuration of a listener. Clones share it.
#[derive(Clone)]
pub struct Tls(Arc<TlsState>);

struct TlsState {
    clock: Clock,
    files: TlsFiles,
    present: ArcSwap<ServerIdentity>,
    /// The CAs of `present`, for the requests of open connections.
    trust: CurrentTrust,
    /// Notifies open connections after a reload.
    reloads: notice::Sender<()>,
}

impl Tls {
    /// Loads the files and checks that they match and are valid.
    pub fn load(clock: Clock, files: TlsFiles) -> Result<Self, BadTls> {
        let identity = ServerIdentity::read(&files, clock.now())?;
        Ok(Self(Arc::new(TlsState {
            clock,
            files,
            trust: CurrentTrust::new(identity.trust.clone()),
            present: ArcSwap::from_pointee(identity),
            reloads: notice::Sender::new(()),
        })))
    }

    /// Reloads the files for new connections. On an error, the previous configuration stays.
    pub fn reload(&self) -> Result<(), BadTls> {
        let identity = ServerIdentity::read(&self.0.files, self.0.clock.now())?;
        self.0.trust.replace(identity.trust.clone());
        self.0.present.store(Arc::new(identity));
        self.0.reloads.send_replace(());
        Ok(())
    }

    /// The expiry of the certificate in use.
    pub fn expires(&self) -> Timestamp {
        self.0.present.load().expires
    }

    /// The earliest expiry of the revocation lists in use.
    pub fn lists_end(&self) -> Option<Timestamp> {
        self.0.present.load().trust.lists_end()
    }

    /// The trusted CAs of client certificates.
    fn trust(&self) -> &CurrentTrust {
        &self.0.trust
    }

    /// Whether a new connection with this certificate would be accepted.
    fn accepts(&self, chain: &Chain) -> bool {
        self.0.trust.load().accepts(chain, self.0.clock.now())
    }

    /// The configuration for the next connection.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.0.present.load().config.clone().into()
    }
}

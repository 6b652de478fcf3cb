//! TLS on the API's listener: what new connections are offered, kept as current as its files.

mod bad;
mod clients;
mod identity;
mod watch;

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio_rustls::TlsAcceptor;

pub use self::bad::{BadTls, Fault};
use self::identity::Identity;
pub use self::watch::keep_current;
use crate::clock::{Clock, Timestamp};
use crate::settings::TlsFiles;

/// The TLS of a listener. Clones share it: what one takes up, all offer.
#[derive(Clone)]
pub struct Tls(Arc<Shared>);

struct Shared {
    clock: Clock,
    files: TlsFiles,
    present: ArcSwap<Identity>,
}

impl Tls {
    /// Reads the files and checks that they fit together and are valid now.
    ///
    /// # Errors
    /// Names the file that cannot be used, and why.
    pub fn load(clock: Clock, files: TlsFiles) -> Result<Self, BadTls> {
        let identity = Identity::read(&files, clock.now())?;
        Ok(Self(Arc::new(Shared {
            clock,
            files,
            present: ArcSwap::from_pointee(identity),
        })))
    }

    /// Takes up the files as they are now, for connections from here on. Files that cannot be used
    /// change nothing.
    ///
    /// # Errors
    /// Names the file that cannot be used, and why.
    pub fn reload(&self) -> Result<(), BadTls> {
        let identity = Identity::read(&self.0.files, self.0.clock.now())?;
        self.0.present.store(Arc::new(identity));
        Ok(())
    }

    /// When the certificate in use ends.
    #[must_use]
    pub fn expires(&self) -> Timestamp {
        self.0.present.load().expires
    }

    /// When the first list of revoked certificates in use has run out, where there are any.
    #[must_use]
    pub fn lists_end(&self) -> Option<Timestamp> {
        self.0.present.load().lists_end
    }

    /// What takes the next connection.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.0.present.load().config.clone().into()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("files", &self.0.files)
            .field("expires", &self.expires())
            .finish()
    }
}

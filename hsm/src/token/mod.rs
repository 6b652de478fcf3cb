//! The public handle.

mod internal_secrets;
mod keys;
mod operations;

use std::fmt;
use std::sync::Arc;

use crate::dispatch::Dispatcher;
use crate::opening::Requirement;
use crate::threads::{Access, Device};
use crate::{Config, Fatal, HsmError, OpenError, ProbeReport, TokenStatuses, probe};
use formats::algorithms::OaepHash;

/// One or several tokens that hold the same keys. Cheap to clone; all clones share one state.
///
/// Operations go round robin over the tokens that serve and hold the key. They fail over to the
/// next token if a token goes out before they begin. An operation whose future is dropped in the
/// queue does not run.
#[derive(Clone)]
pub struct Token {
    pub(crate) dispatcher: Arc<Dispatcher>,
}

impl Token {
    /// Loads the modules, selects the tokens, logs in to each exactly once and starts its workers.
    ///
    /// If one of several tokens cannot be reached, the others serve and its monitor brings it back
    /// later. A refused PIN always fails.
    pub async fn open(config: Config) -> Result<Self, OpenError> {
        Ok(Self { dispatcher: Arc::new(Dispatcher::open(config, Requirement::One).await?) })
    }

    /// Opens the tokens like [`open`](Self::open), but succeeds although none can be reached within the
    /// deadline: each serves as soon as it answers. Errors that an operator must correct always fail.
    pub async fn open_when_reached(config: Config) -> Result<Self, OpenError> {
        Ok(Self { dispatcher: Arc::new(Dispatcher::open(config, Requirement::None).await?) })
    }

    /// Finishes the queued operations within the deadline, then closes every session and finalizes
    /// the modules. Await this before the process ends, because some libraries crash in their exit
    /// handlers while they are in use.
    pub async fn close(&self) {
        self.dispatcher.close().await;
    }

    /// Resolves when the process should drain and exit non-zero; otherwise never.
    pub async fn fatal(&self) -> Fatal {
        self.dispatcher.fatal().await
    }

    /// The state of every token. Makes no call to a token.
    pub fn status(&self) -> TokenStatuses {
        TokenStatuses {
            tokens: self.dispatcher.devices().iter().map(|device| device.status()).collect(),
        }
    }

    /// Excludes the token in this place of the configuration for this reason, or admits it again. An
    /// excluded token serves no operation and counts as out. It still derives secrets.
    pub fn exclude(&self, place: usize, reason: Option<String>) {
        if let Some(device) = self.dispatcher.devices().get(place) {
            device.exclude(reason);
        }
    }

    /// Whether the trial has shown that every token decrypts RSA-OAEP with this hash. Tokens that
    /// were never reached do not count. Makes no call to a token.
    pub fn opens(&self, hash: OaepHash) -> bool {
        let devices = self.dispatcher.devices().iter();
        let mut connections = devices.map(|device| &device.connection);
        connections.all(|token| token.identity().is_none() || token.oaep().of(hash).works())
    }

    /// Tries and measures every operation on every token. Keeps one worker of each busy for
    /// seconds: for a diagnostic command, not for a health check.
    pub async fn probe(&self) -> Vec<(String, Result<ProbeReport, HsmError>)> {
        let each = self.dispatcher.on_each(Access::Probe, probe::probe).await;
        let named = |(device, report): (Arc<Device>, _)| (device.label().to_owned(), report);
        each.into_iter().map(named).collect()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<_> =
            self.dispatcher.devices().iter().map(|device| device.label()).collect();
        f.debug_tuple("Token").field(&labels).finish()
    }
}

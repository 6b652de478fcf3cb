//! The collector of the settings.

use std::time::Duration;

use super::connection::{CollectorError, Connector};
use super::entry::ForwardedRecord;
use super::https::Https;
use super::syslog::Syslog;
use crate::ledger::Log;
use crate::settings::{Environment, Forward, ForwardProtocol};

/// A collector.
#[derive(Debug)]
pub struct Collector(Protocol);

#[derive(Debug)]
enum Protocol {
    Https(Box<Https>),
    Syslog(Box<Syslog>),
}

impl Collector {
    /// The collector of the settings. None without forwarding. It is not connected yet.
    pub fn new(
        settings: &Forward,
        environment: &Environment,
    ) -> Result<Option<Self>, CollectorError> {
        let Some(endpoint) = settings.endpoint() else {
            return Ok(None);
        };
        let connector = Connector::new(settings, &endpoint)?;
        Ok(Some(Self(match endpoint.protocol {
            ForwardProtocol::Https => {
                let https = Https::new(connector, settings, &endpoint, environment)?;
                Protocol::Https(Box::new(https))
            }
            ForwardProtocol::Syslog => Protocol::Syslog(Box::new(Syslog::new(connector))),
        })))
    }

    /// Tries a connection with TLS.
    pub async fn probe(&self) -> Result<(), CollectorError> {
        let connector = match &self.0 {
            Protocol::Https(https) => https.connector(),
            Protocol::Syslog(syslog) => syslog.connector(),
        };
        connector.connect().await.map(drop)
    }

    /// How long entries that were sent may still be lost.
    pub(super) fn window(&self) -> Duration {
        match &self.0 {
            Protocol::Https(_) => Duration::ZERO,
            Protocol::Syslog(_) => Syslog::WINDOW,
        }
    }

    /// Ends the connection, if there is one.
    pub(super) fn disconnect(&mut self) {
        match &mut self.0 {
            Protocol::Https(https) => https.disconnect(),
            Protocol::Syslog(syslog) => syslog.disconnect(),
        }
    }

    /// Whether the connection of earlier batches works.
    pub(super) async fn is_connected(&mut self) -> bool {
        match &mut self.0 {
            Protocol::Https(https) => https.is_connected(),
            Protocol::Syslog(syslog) => syslog.is_connected().await,
        }
    }

    /// Sends a batch, on a new connection if there is none. After an error there is none.
    pub(super) async fn send(
        &mut self,
        log: Log,
        batch: &[ForwardedRecord],
    ) -> Result<(), CollectorError> {
        match &mut self.0 {
            Protocol::Https(https) => https.send(batch).await,
            Protocol::Syslog(syslog) => syslog.send(log, batch).await,
        }
    }
}

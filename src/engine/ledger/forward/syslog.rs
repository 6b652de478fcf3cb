//! Syslog messages (RFC 5424) in octet-counted frames over TLS (RFC 5425).

use std::future::poll_fn;
use std::io::Write as _;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncRead as _, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::connection::{CollectorError, Connector};
use super::entry::ForwardedRecord;
use crate::ledger::Log;

/// Facility 13 (log audit), severity 6 (informational).
const PRIORITY: u8 = 13 * 8 + 6;

/// A syslog collector.
#[derive(Debug)]
pub(super) struct Syslog {
    connector: Connector,
    stream: Option<TlsStream<TcpStream>>,
}

impl Syslog {
    /// The entries of this time before the end of a connection are sent again on the next one.
    pub(super) const WINDOW: Duration = Duration::from_secs(60);

    pub(super) fn new(connector: Connector) -> Self {
        Self { connector, stream: None }
    }

    pub(super) fn connector(&self) -> &Connector {
        &self.connector
    }

    pub(super) fn disconnect(&mut self) {
        self.stream = None;
    }

    /// Whether the collector has not closed the connection. It never sends data, so a read that ends
    /// is the end of the connection.
    pub(super) async fn is_connected(&mut self) -> bool {
        let Some(stream) = &mut self.stream else {
            return false;
        };
        let mut bytes = [0; 512];
        let is_open = poll_fn(|context| {
            let mut buffer = ReadBuf::new(&mut bytes);
            let read = Pin::new(&mut *stream).poll_read(context, &mut buffer);
            Poll::Ready(match read {
                Poll::Pending => true,
                Poll::Ready(Ok(())) => !buffer.filled().is_empty(),
                Poll::Ready(Err(_)) => false,
            })
        })
        .await;
        if !is_open {
            self.stream = None;
        }
        is_open
    }

    pub(super) async fn send(
        &mut self,
        log: Log,
        batch: &[ForwardedRecord],
    ) -> Result<(), CollectorError> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connector.connect().await?,
        };
        let written = async {
            stream.write_all(&frames(log, batch)).await?;
            stream.flush().await?;
            Ok(())
        };
        self.connector.in_time(written).await?;
        self.stream = Some(stream);
        Ok(())
    }
}

fn frames(log: Log, batch: &[ForwardedRecord]) -> Vec<u8> {
    let mut frames = Vec::new();
    for ForwardedRecord { at, line, .. } in batch {
        let message = format!("<{PRIORITY}>1 {at} - sealward - {log} - {line}");
        // Writing to memory does not fail.
        let _ = write!(frames, "{} {message}", message.len());
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;
    use formats::clock::Timestamp;
    use formats::tlog::Hash;

    #[test]
    fn a_frame_counts_the_bytes_of_its_message() {
        let entry = |index, line: &str| ForwardedRecord {
            index,
            at: Timestamp::from_millis(0),
            line: line.to_owned(),
            hash: Hash::of_empty_tree(),
        };
        let batch = [entry(7, "{\"ctx\":\"ü\"}"), entry(8, "{}")];
        let text = String::from_utf8(frames(Log::Operations, &batch)).unwrap();
        assert_eq!(
            text,
            "70 <110>1 1970-01-01T00:00:00.000Z - sealward - operations - {\"ctx\":\"ü\"}\
             60 <110>1 1970-01-01T00:00:00.000Z - sealward - operations - {}"
        );
    }
}

//! The thread that sends spans on, by OTLP over HTTP in JSON.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::oneshot;
use ureq::Agent;

use super::span::{Ended, hex};
use crate::clock::Entropy;
use crate::settings::{NotInPem, certificates};
use crate::web_client::client;

/// Spans that may wait; what comes beyond them is dropped.
const ROOM: usize = 8_192;
/// The most spans in one message.
const MOST: usize = 512;
/// How long a message is filled.
const PERIOD: Duration = Duration::from_secs(1);
/// How long a message may take to be taken.
const PATIENCE: Duration = Duration::from_secs(10);

/// The setting `telemetry.otlp.ca` names no certificates.
#[derive(Debug, thiserror::Error)]
#[error("telemetry.otlp.ca: {path} {source}", path = .path.display())]
pub struct BadCa {
    path: PathBuf,
    source: NotInPem,
}

/// The handle on the thread that sends traces.
#[derive(Debug)]
pub struct Traces(SyncSender<Post>);

/// Where ended spans are put.
#[derive(Clone, Debug)]
pub(super) struct Outbox(SyncSender<Post>);

#[derive(Debug)]
enum Post {
    Span(Box<Ended>),
    /// Answered once all that came before has been sent or given up.
    Flush(oneshot::Sender<()>),
}

impl Traces {
    pub(super) fn open(
        entropy: Entropy,
        endpoint: &str,
        ca: Option<&Path>,
    ) -> Result<(Outbox, Self), BadCa> {
        let (outbox, inbox) = mpsc::sync_channel(ROOM);
        let sender = Sender {
            agent: agent(ca)?,
            address: format!("{}/v1/traces", endpoint.trim_end_matches('/')),
            resource: resource(entropy),
            is_out: false,
        };
        thread::spawn(move || sender.run(&inbox));
        Ok((Outbox(outbox.clone()), Self(outbox)))
    }

    /// Sends what there is, for at most `patience`.
    pub async fn finish(self, patience: Duration) {
        let (told, sent) = oneshot::channel();
        if self.0.try_send(Post::Flush(told)).is_ok()
            && tokio::time::timeout(patience, sent).await.is_err()
        {
            tracing::warn!("the last traces could not be sent before shutdown");
        }
    }
}

impl Outbox {
    /// Never waits: a span for which there is no room is dropped.
    pub(super) fn put(&self, span: Ended) {
        let _ = self.0.try_send(Post::Span(Box::new(span)));
    }
}

struct Sender {
    agent: Agent,
    address: String,
    resource: Value,
    is_out: bool,
}

impl Sender {
    fn run(mut self, inbox: &Receiver<Post>) {
        let mut spans = Vec::with_capacity(MOST);
        let mut due = Instant::now() + PERIOD;
        loop {
            match inbox.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(Post::Span(span)) => {
                    spans.push(span.to_json());
                    if spans.len() < MOST {
                        continue;
                    }
                    self.send(&mut spans);
                }
                Ok(Post::Flush(told)) => {
                    self.send(&mut spans);
                    // Whoever asked may have lost patience.
                    let _ = told.send(());
                }
                Err(RecvTimeoutError::Timeout) => self.send(&mut spans),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            due = Instant::now() + PERIOD;
        }
    }

    /// Sends spans, once: what a collector does not take now is worth less than what comes.
    fn send(&mut self, spans: &mut Vec<Value>) {
        if spans.is_empty() {
            return;
        }
        let scope = json!({ "name": "sealward", "version": env!("CARGO_PKG_VERSION") });
        let message = json!({ "resourceSpans": [{
            "resource": self.resource,
            "scopeSpans": [{ "scope": scope, "spans": std::mem::take(spans) }],
        }] });
        let sent = self
            .agent
            .post(&self.address)
            .header("Content-Type", "application/json")
            .send(message.to_string())
            .and_then(|answer| match answer.status() {
                taken if taken.is_success() => Ok(()),
                refused => Err(ureq::Error::StatusCode(refused.as_u16())),
            });
        let was_out = self.is_out;
        self.is_out = sent.is_err();
        match sent {
            Err(error) if !was_out => {
                tracing::warn!(%error, address = self.address, "traces cannot be sent and are dropped");
            }
            Ok(()) if was_out => tracing::info!("traces are sent again"),
            _ => {}
        }
    }
}

/// What sends all of it: this instance.
fn resource(entropy: Entropy) -> Value {
    let attribute = |key, value: &str| json!({ "key": key, "value": { "stringValue": value } });
    json!({ "attributes": [
        attribute("service.name", "sealward"),
        attribute("service.version", env!("CARGO_PKG_VERSION")),
        attribute("service.instance.id", &hex(&entropy.bytes::<8>())),
    ] })
}

fn agent(ca: Option<&Path>) -> Result<Agent, BadCa> {
    let authorities = ca.map(|path| {
        certificates(path).map_err(|source| BadCa {
            path: path.to_owned(),
            source,
        })
    });
    Ok(client(authorities.transpose()?.as_deref(), PATIENCE))
}

//! An HTTPS server that receives batches, and that a test makes slow, failing or silent.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use engine::settings::{Forward, TlsFiles};
use formats::clock::Clock;
use sealward::server::{Tls, listen};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::fixture;
use testkit::{Authority, OwnPort, PATIENCE, Scratch, within};

/// What the server does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behaviour {
    Accept,
    /// Keeps it, and answers once the test lets it.
    AcceptSlowly,
    Refuse(u16),
    /// Accepts bodies up to a length.
    AcceptUpTo(usize),
    /// Does not answer.
    Silent,
}

#[derive(Clone)]
struct Shared {
    behaviour: Arc<Mutex<Behaviour>>,
    gate: Arc<Semaphore>,
    seen: Arc<Mutex<Seen>>,
}

/// The requests of a collector.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Accepted bodies.
    pub(super) accepted: Vec<String>,
    /// The number of all requests.
    pub(super) requests: usize,
    pub(super) headers: HeaderMap,
    pub(super) path: String,
}

pub(crate) struct HttpsCollector {
    shared: Shared,
    files: TlsFiles,
    pub(super) folder: Scratch,
    port: OwnPort,
    serving: Option<JoinHandle<bool>>,
}

impl HttpsCollector {
    pub(crate) async fn start() -> Self {
        Self::start_with(None).await
    }

    /// Requires certificates of `clients`.
    pub(super) async fn start_with(clients: Option<&Authority>) -> Self {
        let (folder, authority) = (Scratch::new(), Authority::new());
        let ca = folder.path().join("ca.pem");
        std::fs::write(ca, authority.certificate()).unwrap();
        let [certificate, key] = authority.server("localhost").write(folder.path());
        let client_ca = clients.map(|clients| {
            let file = folder.path().join("clients.pem");
            std::fs::write(&file, clients.certificate()).unwrap();
            file
        });
        let mut collector = Self {
            shared: Shared {
                behaviour: Arc::new(Mutex::new(Behaviour::Accept)),
                gate: Arc::new(Semaphore::new(0)),
                seen: Arc::default(),
            },
            files: TlsFiles { certificate, key, client_ca, client_crl: None, spiffe: Vec::new() },
            folder,
            port: OwnPort::new(),
            serving: None,
        };
        collector.listen().await;
        collector
    }

    /// Listens, also after [`Self::close`].
    pub(super) async fn listen(&mut self) {
        let listener = listen("http.listen", self.port.address()).await.expect("the port");
        let tls = Tls::load(Clock::system(), self.files.clone()).expect("a certificate");
        let router = Router::new()
            .fallback(receive)
            .layer(DefaultBodyLimit::disable())
            .with_state(self.shared.clone());
        let at_once = Duration::ZERO;
        let serving = listener.over(Some(tls));
        self.serving = Some(tokio::spawn(serving.serve(router, pending(), at_once, at_once)));
    }

    /// Closes the listener and its connections.
    pub(super) async fn close(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.abort();
            let _ = serving.await;
        }
    }

    pub(crate) fn settings(&self) -> Forward {
        let url = format!("https://localhost:{}/ingest?index=main", self.port.address().port());
        fixture::settings(url, self.folder.path().join("ca.pem"))
    }

    pub(super) fn behave(&self, behaviour: Behaviour) {
        *self.shared.behaviour.lock().unwrap() = behaviour;
    }

    /// Answers one request of [`Behaviour::AcceptSlowly`].
    pub(super) fn answer_one(&self) {
        self.shared.gate.add_permits(1);
    }

    pub(super) fn seen(&self) -> Seen {
        self.shared.seen.lock().unwrap().clone()
    }

    /// The lines of accepted batches.
    pub(super) fn lines(&self) -> Vec<String> {
        let accepted = self.seen().accepted;
        let lines = accepted.iter().flat_map(|body| body.lines());
        lines.map(str::to_owned).collect()
    }

    /// Waits for this number of accepted lines.
    pub(super) async fn received(&self, count: usize) -> Vec<String> {
        within(PATIENCE, async || self.lines().len() >= count).await;
        self.lines()
    }

    /// Waits for this number of requests.
    pub(super) async fn requests(&self, count: usize) {
        within(PATIENCE, async || self.seen().requests >= count).await;
    }
}

async fn receive(
    State(shared): State<Shared>,
    headers: HeaderMap,
    uri: Uri,
    body: Bytes,
) -> StatusCode {
    {
        let mut seen = shared.seen.lock().unwrap();
        seen.requests += 1;
        seen.headers = headers;
        seen.path = uri.to_string();
    }
    let behaviour = *shared.behaviour.lock().unwrap();
    match behaviour {
        Behaviour::Accept | Behaviour::AcceptSlowly => {}
        Behaviour::AcceptUpTo(most) if body.len() <= most => {}
        Behaviour::AcceptUpTo(_) => return StatusCode::PAYLOAD_TOO_LARGE,
        Behaviour::Refuse(status) => return StatusCode::from_u16(status).unwrap(),
        Behaviour::Silent => pending().await,
    }
    let text = String::from_utf8(body.to_vec()).unwrap();
    shared.seen.lock().unwrap().accepted.push(text);
    if behaviour == Behaviour::AcceptSlowly {
        shared.gate.acquire().await.unwrap().forget();
    }
    StatusCode::ACCEPTED
}

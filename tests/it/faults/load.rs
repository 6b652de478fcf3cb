//! Clients that send requests continuously, also after errors.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use testkit::{Answer, OPERATIONS, PATIENCE, PROTECT, UNPROTECT, within};

/// The content of every payload.
pub(super) const SECRET: &str = "a secret";

/// The time limit of a request in these tests, and the maximum time on a loaded machine.
pub(super) const LIMIT: &str = "5s";
const LATEST: Duration = Duration::from_secs(30);

/// The pause between two requests of one client.
const PAUSE: Duration = Duration::from_millis(20);

/// The request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Protect,
    Unprotect,
    Hash,
    /// Read a service as administrator.
    Read,
    /// Change a service as administrator.
    Change,
}

impl Action {
    pub(super) const ALL: [Self; 5] =
        [Self::Protect, Self::Unprotect, Self::Hash, Self::Read, Self::Change];

    /// Whether the audit log records it as an operation.
    pub(super) fn is_recorded(self) -> bool {
        !matches!(self, Self::Read | Self::Change)
    }
}

/// The address and the keys of a client.
#[derive(Clone)]
pub(super) struct LoadClient {
    pub(super) address: String,
    pub(super) key: String,
    pub(super) admin_key: String,
    pub(super) service: String,
    pub(super) envelope: Value,
}

/// The status of a response and the ID of its request.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) action: Action,
    pub(super) id: String,
    pub(super) status: u16,
}

/// One client per action.
pub(super) struct Load {
    stop: Arc<AtomicBool>,
    responses: Arc<Mutex<Vec<Response>>>,
    tolerance: Tolerance,
    clients: JoinSet<()>,
}

/// The errors that clients accept in addition to 503.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tolerance {
    /// No other errors.
    Strict,
    /// A broken connection ends the client.
    BrokenConnections,
    /// Until the canary detects a token failure, the service reports it as an error of the operation:
    /// 500 is as valid as 503.
    TokenErrors,
}

impl LoadClient {
    /// Sends a request on a new connection. An error is an error of the connection.
    pub(super) async fn ask(&self, action: Action, id: &str) -> Result<Answer, axum::BoxError> {
        let of_administrator = format!("/admin/services/{}", self.service);
        let (method, path, key, body) = match action {
            Action::Protect => ("POST", PROTECT, &self.key, json!({ "payload": SECRET })),
            Action::Unprotect => ("POST", UNPROTECT, &self.key, json!({ "jwe": self.envelope })),
            Action::Hash => {
                let payload = json!({ "data": SECRET, "algorithm": "SHA-256" });
                let body = json!({ "operation": "hash", "payload": payload });
                ("POST", OPERATIONS, &self.key, body)
            }
            Action::Read => ("GET", &*of_administrator, &self.admin_key, Value::Null),
            Action::Change => {
                let body = json!({ "description": id });
                ("PUT", &*of_administrator, &self.admin_key, body)
            }
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "it")
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .header("x-request-id", id);
        let body = match body {
            Value::Null => Body::empty(),
            body => Body::from(body.to_string()),
        };
        send(&self.address, request.body(body)?).await
    }
}

/// Sends a request on a new connection.
pub(super) async fn send(address: &str, request: Request<Body>) -> Result<Answer, axum::BoxError> {
    let stream = TokioIo::new(TcpStream::connect(address).await?);
    let (mut sender, connection) = http1::handshake(stream).await?;
    // Errors of the connection appear in the response.
    tokio::spawn(async move { drop(connection.await) });
    let (parts, body) = sender.send_request(request).await?.into_parts();
    let body = to_bytes(Body::new(body), usize::MAX).await?;
    Ok(Answer {
        status: parts.status,
        headers: parts.headers,
        body: String::from_utf8(body.to_vec())?,
        bytes: body.to_vec(),
    })
}

impl Load {
    /// Clients that require a valid response to every request.
    pub(super) fn of(client: &LoadClient) -> Self {
        Self::start(client, Tolerance::Strict)
    }

    /// Clients that stop when their connection breaks.
    pub(super) fn tolerating_broken_connections(client: &LoadClient) -> Self {
        Self::start(client, Tolerance::BrokenConnections)
    }

    /// Clients that accept decryption errors when the token fails.
    pub(super) fn tolerating_token_errors(client: &LoadClient) -> Self {
        Self::start(client, Tolerance::TokenErrors)
    }

    fn start(client: &LoadClient, tolerance: Tolerance) -> Self {
        let mut load = Self {
            stop: Arc::default(),
            responses: Arc::default(),
            tolerance,
            clients: JoinSet::new(),
        };
        for action in Action::ALL {
            let (client, stop, responses) =
                (client.clone(), load.stop.clone(), load.responses.clone());
            load.clients.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let id = format!("{action:?}-{:032x}", rand::random::<u128>());
                    let answer = timeout(LATEST, client.ask(action, &id)).await;
                    let answer = match answer.unwrap_or_else(|_| panic!("{action:?} hangs")) {
                        Err(_) if tolerance == Tolerance::BrokenConnections => return,
                        answer => answer.expect("an answer"),
                    };
                    let status = answer.status.as_u16();
                    match (tolerance, action, status) {
                        (Tolerance::TokenErrors, Action::Unprotect, 500) => {
                            answer.refused(500, "INTERNAL_ERROR");
                        }
                        _ => assert_valid(action, answer),
                    }
                    responses.lock().unwrap().push(Response { action, id, status });
                    sleep(PAUSE).await;
                }
            });
        }
        load
    }

    /// Waits until each of these actions is refused, and returns the elapsed time.
    pub(super) async fn is_refused(&self, actions: &[Action]) -> Duration {
        self.wait_for_status(503, actions).await
    }

    /// Waits until each of these actions succeeds, and returns the elapsed time.
    pub(super) async fn is_served(&self, actions: &[Action]) -> Duration {
        self.wait_for_status(200, actions).await
    }

    async fn wait_for_status(&self, status: u16, actions: &[Action]) -> Duration {
        let before = self.responses.lock().unwrap().len();
        let mut outstanding = actions.to_vec();
        let elapsed = timeout(
            PATIENCE,
            within(Duration::MAX, async || {
                // Each running client holds a reference.
                let running = Arc::strong_count(&self.responses) - 1;
                let all = Action::ALL.len();
                assert!(
                    running == all || self.tolerance == Tolerance::BrokenConnections,
                    "{running} of {all} clients are running"
                );
                let responses = self.responses.lock().unwrap();
                for response in &responses[before..] {
                    outstanding
                        .retain(|action| response.action != *action || response.status != status);
                }
                outstanding.is_empty()
            }),
        )
        .await;
        elapsed.unwrap_or_else(|_| panic!("no {status} for {outstanding:?} within {PATIENCE:?}"))
    }

    /// Whether one of these actions was ever refused.
    pub(super) fn was_refused(&self, actions: &[Action]) -> bool {
        let responses = self.responses.lock().unwrap();
        responses
            .iter()
            .any(|response| response.status != 200 && actions.contains(&response.action))
    }

    /// Stops the clients and returns all responses.
    pub(super) async fn end(mut self) -> Vec<Response> {
        self.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = self.clients.join_next().await {
            ended.expect("a client with valid responses");
        }
        std::mem::take(&mut *self.responses.lock().unwrap())
    }
}

/// Asserts a valid result, or 503 with `Retry-After`.
#[track_caller]
fn assert_valid(action: Action, answer: Answer) {
    if answer.status != 200 {
        let refused = answer.refused(503, "SERVICE_UNAVAILABLE");
        let seconds: u32 = refused.header("retry-after").parse().expect("seconds");
        assert!(seconds > 0);
        return;
    }
    let body = answer.json();
    let is_valid = match action {
        Action::Protect => body["jwe"]["ciphertext"].is_string(),
        Action::Unprotect => body["payload"] == SECRET,
        Action::Hash => body["result"]["algorithm"] == "SHA-256",
        Action::Read | Action::Change => body["name"].is_string(),
    };
    assert!(is_valid, "{action:?}: {body}");
}

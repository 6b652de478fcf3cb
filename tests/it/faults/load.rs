//! Clients who go on asking, whatever they are responses.

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

use crate::process::PATIENCE;
use crate::support::{Answer, OPERATIONS, PROTECT, UNPROTECT, within};

/// What every payload is.
pub(super) const SECRET: &str = "a secret";

/// The time limit of a request in these tests, and what a machine under load may take beside it.
pub(super) const LIMIT: &str = "5s";
const LATEST: Duration = Duration::from_secs(30);

/// Between two requests of one client.
const PAUSE: Duration = Duration::from_millis(20);

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Protect,
    Unprotect,
    Hash,
    /// To read what administrators read.
    Look,
    /// To change what administrators change.
    Change,
}

impl Action {
    pub(super) const ALL: [Self; 5] = [
        Self::Protect,
        Self::Unprotect,
        Self::Hash,
        Self::Look,
        Self::Change,
    ];

    /// What applications ask for, which is recorded in the trail.
    pub(super) fn is_recorded(self) -> bool {
        !matches!(self, Self::Look | Self::Change)
    }
}

/// What clients need to know.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) address: String,
    pub(super) key: String,
    pub(super) admin_key: String,
    pub(super) service: String,
    pub(super) envelope: Value,
}

/// One answer, by the name of its request.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) action: Action,
    pub(super) id: String,
    pub(super) status: u16,
}

/// A client for each action, until it is responses to end.
pub(super) struct Load {
    stop: Arc<AtomicBool>,
    responses: Arc<Mutex<Vec<Response>>>,
    tolerance: Tolerance,
    clients: JoinSet<()>,
}

/// What clients put up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tolerance {
    /// Nothing but what is right.
    Strict,
    /// A connection that breaks, which is the end.
    BrokenConnections,
    /// The error of one operation is the envelope's, until the canary finds that it is the token's:
    /// 500 is as right as 503.
    TokenErrors,
}

impl Client {
    /// Asks once, on a connection of its own. An error is that of the connection.
    pub(super) async fn ask(&self, action: Action, id: &str) -> Result<Answer, axum::BoxError> {
        let of_administrator = format!("/admin/services/{}", self.service);
        let (method, path, key, body) = match action {
            Action::Protect => ("POST", PROTECT, &self.key, json!({ "payload": SECRET })),
            Action::Unprotect => (
                "POST",
                UNPROTECT,
                &self.key,
                json!({ "jwe": self.envelope }),
            ),
            Action::Hash => {
                let payload = json!({ "data": SECRET, "algorithm": "SHA-256" });
                let body = json!({ "operation": "hash", "payload": payload });
                ("POST", OPERATIONS, &self.key, body)
            }
            Action::Look => ("GET", &*of_administrator, &self.admin_key, Value::Null),
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

/// Sends a request on a connection of its own.
pub(super) async fn send(address: &str, request: Request<Body>) -> Result<Answer, axum::BoxError> {
    let stream = TokioIo::new(TcpStream::connect(address).await?);
    let (mut sender, connection) = http1::handshake(stream).await?;
    // How it ends shows in the answer.
    tokio::spawn(async move { drop(connection.await) });
    let (parts, body) = sender.send_request(request).await?.into_parts();
    let body = to_bytes(Body::new(body), usize::MAX).await?;
    Ok(Answer {
        status: parts.status,
        headers: parts.headers,
        body: String::from_utf8(body.to_vec())?,
    })
}

impl Load {
    /// Clients who are always answered, and rightly.
    pub(super) fn of(client: &Client) -> Self {
        Self::gathered(client, Tolerance::Strict)
    }

    /// Clients whose connections may break, which ends what they ask for.
    pub(super) fn tolerating_broken_connections(client: &Client) -> Self {
        Self::gathered(client, Tolerance::BrokenConnections)
    }

    /// Clients who may be responses that an envelope does not open when it is the token that fails.
    pub(super) fn tolerating_token_errors(client: &Client) -> Self {
        Self::gathered(client, Tolerance::TokenErrors)
    }

    fn gathered(client: &Client, tolerance: Tolerance) -> Self {
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
                        _ => is_right(action, answer),
                    }
                    responses
                        .lock()
                        .unwrap()
                        .push(Response { action, id, status });
                    sleep(PAUSE).await;
                }
            });
        }
        load
    }

    /// Waits until each of these actions was refused after this, and tells how long that took.
    pub(super) async fn is_refused(&self, actions: &[Action]) -> Duration {
        self.hears(503, actions).await
    }

    /// The same for being granted.
    pub(super) async fn is_served(&self, actions: &[Action]) -> Duration {
        self.hears(200, actions).await
    }

    async fn hears(&self, status: u16, actions: &[Action]) -> Duration {
        let before = self.responses.lock().unwrap().len();
        within(PATIENCE, async || {
            // Each client has a share of it for as long as it is content.
            let content = Arc::strong_count(&self.responses) - 1;
            let all = Action::ALL.len();
            assert!(
                content == all || self.tolerance == Tolerance::BrokenConnections,
                "of {all} clients {content} are left"
            );
            let responses = self.responses.lock().unwrap();
            let heard = |action| {
                let mut since = responses[before..].iter();
                since.any(|responses| responses.action == action && responses.status == status)
            };
            actions.iter().all(|action| heard(*action))
        })
        .await
    }

    /// Whether one of these actions was ever refused.
    pub(super) fn was_refused(&self, actions: &[Action]) -> bool {
        let responses = self.responses.lock().unwrap();
        responses
            .iter()
            .any(|responses| responses.status != 200 && actions.contains(&responses.action))
    }

    /// Ends it, and gives all that was responses.
    pub(super) async fn end(mut self) -> Vec<Response> {
        self.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = self.clients.join_next().await {
            ended.expect("a client who got what it should");
        }
        std::mem::take(&mut *self.responses.lock().unwrap())
    }
}

/// What was wished for, or that it is to be had later.
#[track_caller]
fn is_right(action: Action, answer: Answer) {
    if answer.status != 200 {
        let refused = answer.refused(503, "SERVICE_UNAVAILABLE");
        let seconds: u32 = refused.header("retry-after").parse().expect("seconds");
        assert!(seconds > 0);
        return;
    }
    let body = answer.json();
    let is_granted = match action {
        Action::Protect => body["jwe"]["ciphertext"].is_string(),
        Action::Unprotect => body["payload"] == SECRET,
        Action::Hash => body["result"]["algorithm"] == "SHA-256",
        Action::Look | Action::Change => body["name"].is_string(),
    };
    assert!(is_granted, "{action:?}: {body}");
}

//! Clients who go on asking, whatever they are told.

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
pub(super) enum Wish {
    Protect,
    Unprotect,
    Hash,
    /// To read what administrators read.
    Look,
    /// To change what administrators change.
    Change,
}

impl Wish {
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
pub(super) struct Visitor {
    pub(super) address: String,
    pub(super) key: String,
    pub(super) admin_key: String,
    pub(super) service: String,
    pub(super) envelope: Value,
}

/// One answer, by the name of its request.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) wish: Wish,
    pub(super) id: String,
    pub(super) status: u16,
}

/// A client for each wish, until it is told to end.
pub(super) struct Crowd {
    stop: Arc<AtomicBool>,
    told: Arc<Mutex<Vec<Told>>>,
    temper: Temper,
    clients: JoinSet<()>,
}

/// What clients put up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Temper {
    /// Nothing but what is right.
    Strict,
    /// A connection that breaks, which is the end.
    Patient,
    /// The error of one operation is the envelope's, until the canary finds that it is the token's:
    /// 500 is as right as 503.
    BeforeAToken,
}

impl Visitor {
    /// Asks once, on a connection of its own. An error is that of the connection.
    pub(super) async fn ask(&self, wish: Wish, id: &str) -> Result<Answer, axum::BoxError> {
        let of_administrator = format!("/admin/services/{}", self.service);
        let (method, path, key, body) = match wish {
            Wish::Protect => ("POST", PROTECT, &self.key, json!({ "payload": SECRET })),
            Wish::Unprotect => (
                "POST",
                UNPROTECT,
                &self.key,
                json!({ "jwe": self.envelope }),
            ),
            Wish::Hash => {
                let payload = json!({ "data": SECRET, "algorithm": "SHA-256" });
                let body = json!({ "operation": "hash", "payload": payload });
                ("POST", OPERATIONS, &self.key, body)
            }
            Wish::Look => ("GET", &*of_administrator, &self.admin_key, Value::Null),
            Wish::Change => {
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

impl Crowd {
    /// Clients who are always answered, and rightly.
    pub(super) fn of(visitor: &Visitor) -> Self {
        Self::gathered(visitor, Temper::Strict)
    }

    /// Clients whose connections may break, which ends what they ask for.
    pub(super) fn of_the_patient(visitor: &Visitor) -> Self {
        Self::gathered(visitor, Temper::Patient)
    }

    /// Clients who may be told that an envelope does not open when it is the token that fails.
    pub(super) fn before_a_token(visitor: &Visitor) -> Self {
        Self::gathered(visitor, Temper::BeforeAToken)
    }

    fn gathered(visitor: &Visitor, temper: Temper) -> Self {
        let mut crowd = Self {
            stop: Arc::default(),
            told: Arc::default(),
            temper,
            clients: JoinSet::new(),
        };
        for wish in Wish::ALL {
            let (visitor, stop, told) = (visitor.clone(), crowd.stop.clone(), crowd.told.clone());
            crowd.clients.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let id = format!("{wish:?}-{:032x}", rand::random::<u128>());
                    let answer = timeout(LATEST, visitor.ask(wish, &id)).await;
                    let answer = match answer.unwrap_or_else(|_| panic!("{wish:?} hangs")) {
                        Err(_) if temper == Temper::Patient => return,
                        answer => answer.expect("an answer"),
                    };
                    let status = answer.status.as_u16();
                    match (temper, wish, status) {
                        (Temper::BeforeAToken, Wish::Unprotect, 500) => {
                            answer.refused(500, "INTERNAL_ERROR");
                        }
                        _ => is_right(wish, answer),
                    }
                    told.lock().unwrap().push(Told { wish, id, status });
                    sleep(PAUSE).await;
                }
            });
        }
        crowd
    }

    /// Waits until each of these wishes was refused after this, and tells how long that took.
    pub(super) async fn is_refused(&self, wishes: &[Wish]) -> Duration {
        self.hears(503, wishes).await
    }

    /// The same for being granted.
    pub(super) async fn is_served(&self, wishes: &[Wish]) -> Duration {
        self.hears(200, wishes).await
    }

    async fn hears(&self, status: u16, wishes: &[Wish]) -> Duration {
        let before = self.told.lock().unwrap().len();
        within(PATIENCE, async || {
            // Each client has a share of it for as long as it is content.
            let content = Arc::strong_count(&self.told) - 1;
            let all = Wish::ALL.len();
            assert!(
                content == all || self.temper == Temper::Patient,
                "of {all} clients {content} are left"
            );
            let told = self.told.lock().unwrap();
            let heard = |wish| {
                let mut since = told[before..].iter();
                since.any(|told| told.wish == wish && told.status == status)
            };
            wishes.iter().all(|wish| heard(*wish))
        })
        .await
    }

    /// Whether one of these wishes was ever refused.
    pub(super) fn was_refused(&self, wishes: &[Wish]) -> bool {
        let told = self.told.lock().unwrap();
        told.iter()
            .any(|told| told.status != 200 && wishes.contains(&told.wish))
    }

    /// Ends it, and gives all that was told.
    pub(super) async fn end(mut self) -> Vec<Told> {
        self.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = self.clients.join_next().await {
            ended.expect("a client who got what it should");
        }
        std::mem::take(&mut *self.told.lock().unwrap())
    }
}

/// What was wished for, or that it is to be had later.
#[track_caller]
fn is_right(wish: Wish, answer: Answer) {
    if answer.status != 200 {
        let refused = answer.refused(503, "SERVICE_UNAVAILABLE");
        let seconds: u32 = refused.header("retry-after").parse().expect("seconds");
        assert!(seconds > 0);
        return;
    }
    let body = answer.json();
    let is_granted = match wish {
        Wish::Protect => body["jwe"]["ciphertext"].is_string(),
        Wish::Unprotect => body["payload"] == SECRET,
        Wish::Hash => body["result"]["algorithm"] == "SHA-256",
        Wish::Look | Wish::Change => body["name"].is_string(),
    };
    assert!(is_granted, "{wish:?}: {body}");
}

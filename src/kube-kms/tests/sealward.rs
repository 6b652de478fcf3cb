//! A Sealward that answers as the test says.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sealward_client::{Client, Credential};
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[derive(Clone)]
pub(super) enum Behavior {
    /// Encrypts with the newest key, if the request names none.
    Encrypts,
    /// Encrypts with another key than requested.
    UsesAnotherKey,
    /// Refuses with this status and code, and with control characters in its message.
    Refuses(u16, &'static str),
    /// Never answers.
    Hangs,
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) request_id: Option<String>,
    pub(super) body: Value,
}

struct Script {
    newest: String,
    behavior: Behavior,
    received: Vec<Received>,
}

#[derive(Clone)]
pub(super) struct Sealward {
    script: Arc<Mutex<Script>>,
    url: String,
}

impl Sealward {
    pub(super) async fn start() -> Self {
        let script = Script {
            newest: "key_1".to_owned(),
            behavior: Behavior::Encrypts,
            received: Vec::new(),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let started = Self { script: Arc::new(Mutex::new(script)), url };
        let router =
            Router::new().route("/api/v1/operations", post(operate)).with_state(started.clone());
        tokio::spawn(async { axum::serve(listener, router).await });
        started
    }

    pub(super) fn client(&self) -> Client {
        let key = Credential::api_key("sk_live_secret".to_owned());
        Client::builder(&self.url).credential(key).build().unwrap()
    }

    pub(super) fn rotate_to(&self, key_id: &str) {
        key_id.clone_into(&mut self.script.lock().unwrap().newest);
    }

    pub(super) fn set(&self, behavior: Behavior) {
        self.script.lock().unwrap().behavior = behavior;
    }

    /// The requests since the last call.
    pub(super) fn received(&self) -> Vec<Received> {
        std::mem::take(&mut self.script.lock().unwrap().received)
    }
}

async fn operate(
    State(sealward): State<Sealward>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let request_id = headers.get("x-request-id").map(|id| id.to_str().unwrap().to_owned());
    let (newest, behavior) = {
        let mut script = sealward.script.lock().unwrap();
        script.received.push(Received { request_id, body: body.clone() });
        (script.newest.clone(), script.behavior.clone())
    };
    let payload = &body["payload"];
    let key_id = payload["keyId"].as_str().unwrap_or(&newest);
    let result = match (behavior, body["operation"].as_str().unwrap()) {
        (Behavior::Hangs, _) => std::future::pending().await,
        (Behavior::Refuses(status, code), _) => return refusal(status, code),
        (Behavior::Encrypts, "encrypt") => encrypted(&payload["data"], key_id),
        (Behavior::UsesAnotherKey, "encrypt") => encrypted(&payload["data"], "key_other"),
        (_, "decrypt") => json!({ "data": turned(&payload["ciphertext"]) }),
        (_, other) => panic!("{other}"),
    };
    let answer =
        json!({ "requestId": "req_1", "result": result, "timestamp": "2026-01-01T00:00:00.000Z" });
    Json(answer).into_response()
}

fn encrypted(data: &Value, key_id: &str) -> Value {
    json!({
        "ciphertext": turned(data), "iv": BASE64_STANDARD.encode([7; 12]),
        "tag": BASE64_STANDARD.encode([8; 16]), "algorithm": "AES-256-GCM", "keyId": key_id,
    })
}

/// What stands for encryption: all bits change.
fn turned(base64: &Value) -> String {
    let bytes = BASE64_STANDARD.decode(base64.as_str().unwrap()).unwrap();
    BASE64_STANDARD.encode(bytes.into_iter().map(|byte| !byte).collect::<Vec<u8>>())
}

fn refusal(status: u16, code: &str) -> Response {
    let body = json!({ "error": { "code": code, "message": "refused\r\n\u{1b}[31m" }, "requestId": "req_1" });
    (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
}

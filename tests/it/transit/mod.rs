//! The API of the Transit engine of Vault and OpenBao.

mod aead;
mod audit;
mod auto_unseal;
mod batch;
mod certificates;
mod data_keys;
mod floor;
mod held;
mod key_changes;
mod keys;
mod limits;
mod log_in;
mod ml_dsa;
mod random_and_hash;
mod refused;
mod signatures;
mod system;
mod token;
mod vectors;
mod versions;
mod wire;

use axum::http::Method;
use serde_json::{Value, json};

use testkit::{Answer, Client, World};

/// An application of a world, as a client of this API.
struct Site {
    world: World,
    service: String,
    token: String,
    key_id: String,
}

/// A client with a token.
struct Vault<'w>(Client<'w>);

impl Site {
    /// Gives the service of the caller a bucket of this size, which takes long to fill again.
    async fn limit(&self, burst: u32) {
        let limit = json!({ "requestsPerSecond": 1, "burst": burst });
        let limit = json!({ "tier": "enterprise", "rateLimit": limit });
        self.world.admin().patch(&format!("/admin/services/{}", self.service), limit).await.ok();
    }

    async fn new() -> Self {
        Self::of(World::new().await).await
    }

    async fn of(world: World) -> Self {
        let alice = world.application("alice").await;
        let (service, token) = (alice.service.clone(), alice.key.clone());
        let key_id = alice.key_id.clone();
        let (service, token) = (service.unwrap(), token.unwrap());
        Self { service, token, key_id: key_id.unwrap(), world }
    }

    /// The application.
    fn vault(&self) -> Vault<'_> {
        Vault::of(&self.world, &self.token)
    }

    /// An administrator of the keys of the service.
    fn admin(&self) -> Vault<'_> {
        let vault = Vault::of(&self.world, self.world.admin_key());
        vault.with("x-vault-namespace", &self.service)
    }

    /// Creates a key for this name, and returns its ID.
    async fn key(&self, name: &str, usage: &str, algorithm: &str) -> String {
        let key = json!({ "serviceId": self.service, "name": name, "use": usage,
            "algorithm": algorithm, "generate": true });
        self.world.admin().post("/admin/keys", key).await.created().text("id")
    }
}

impl<'w> Vault<'w> {
    fn of(world: &'w World, token: &str) -> Self {
        Self(world.anonymous().with("x-vault-token", token))
    }

    fn with(self, name: &'static str, value: &str) -> Self {
        Self(self.0.with(name, value))
    }

    async fn read(&self, path: &str) -> Answer {
        self.0.get(&format!("/v1/{path}")).await
    }

    async fn write(&self, path: &str, body: Value) -> Answer {
        self.0.post(&format!("/v1/{path}"), body).await
    }

    /// Writes without a body.
    async fn write_nothing(&self, path: &str) -> Answer {
        self.0.post_nothing(&format!("/v1/{path}")).await
    }

    async fn list(&self, path: &str) -> Answer {
        let method = Method::from_bytes(b"LIST").unwrap();
        self.0.send_text(method, &format!("/v1/{path}"), "").await
    }

    async fn delete(&self, path: &str) -> Answer {
        self.0.delete(&format!("/v1/{path}")).await
    }

    /// The `data` of a success.
    async fn done(&self, path: &str, body: Value) -> Value {
        data(self.write(path, body).await)
    }

    /// Encrypts a text, and returns the ciphertext.
    async fn encrypted(&self, key: &str, plaintext: &str) -> String {
        let body = json!({ "plaintext": encode(plaintext) });
        let data = self.done(&format!("transit/encrypt/{key}"), body).await;
        data["ciphertext"].as_str().unwrap().to_owned()
    }

    /// Decrypts a ciphertext of a text.
    async fn decrypted(&self, key: &str, ciphertext: &str) -> String {
        let body = json!({ "ciphertext": ciphertext });
        let data = self.done(&format!("transit/decrypt/{key}"), body).await;
        String::from_utf8(decode(data["plaintext"].as_str().unwrap())).unwrap()
    }
}

/// The `data` of a success in the envelope of this API.
#[track_caller]
fn data(answer: Answer) -> Value {
    let answer = answer.ok().json();
    assert_eq!(answer["lease_id"], "");
    answer["data"].clone()
}

/// Asserts an error in exactly the form that clients read.
#[track_caller]
fn refused(answer: &Answer, status: u16, texts: &[&str]) {
    assert_eq!(answer.status.as_u16(), status, "{}", answer.body);
    assert_eq!(answer.json(), json!({ "errors": texts }));
    assert_eq!(answer.header("content-type"), "application/json");
    assert!(answer.headers.contains_key("x-request-id"));
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.encode(bytes)
}

fn decode(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.decode(text).unwrap()
}

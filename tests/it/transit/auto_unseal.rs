//! The calls of OpenBao and Vault that seal themselves with a key of this service.

use serde_json::{Value, json};

use super::{Site, Vault, data, encode, refused};
use testkit::Answer;

/// Sends like the seal: `PUT` with a marker, and without a media type.
async fn put(vault: &Vault<'_>, path: &str, body: Value) -> Answer {
    let method = axum::http::Method::PUT;
    vault.0.send_as("", method, &format!("/v1/{path}"), &body.to_string()).await
}

#[tokio::test]
async fn a_seal_starts_probes_and_notices_a_rotation() {
    let site = Site::new().await;
    site.key("unseal", "data", "AES-256").await;
    let vault = site.vault().with("x-vault-request", "true");
    // It renews its token once at the start.
    let renewed = put(&vault, "auth/token/renew-self", json!({ "increment": 0 })).await.ok().json();
    assert_eq!(renewed["auth"]["renewable"], true);
    // It encrypts and decrypts a probe, and then the key of its barrier.
    let probe = async || {
        let sealed =
            data(put(&vault, "transit/encrypt/unseal", json!({ "plaintext": "YQ==" })).await);
        let ciphertext = sealed["ciphertext"].as_str().unwrap().to_owned();
        let opened =
            data(put(&vault, "transit/decrypt/unseal", json!({ "ciphertext": ciphertext })).await);
        assert_eq!(opened["plaintext"], "YQ==");
        ciphertext
    };
    let ciphertext = probe().await;
    // It splits the text at its colons, and keeps the version.
    let parts: Vec<&str> = ciphertext.split(':').collect();
    assert_eq!((parts.len(), parts[0], parts[1]), (3, "vault", "v1"));
    let barrier = encode([42; 32]);
    let sealed = data(put(&vault, "transit/encrypt/unseal", json!({ "plaintext": barrier })).await);
    site.key("unseal", "data", "AES-256").await;
    assert!(probe().await.starts_with("vault:v2:"));
    let body = json!({ "ciphertext": sealed["ciphertext"] });
    assert_eq!(
        data(put(&vault, "transit/decrypt/unseal", body).await)["plaintext"],
        json!(barrier)
    );
}

#[tokio::test]
async fn a_seal_learns_that_its_token_is_denied() {
    let site = Site::new().await;
    site.key("unseal", "data", "AES-256").await;
    site.world.admin().delete(&format!("/admin/api-keys/{}", site.key_id)).await.gone();
    let vault = site.vault();
    let answer = put(&vault, "transit/encrypt/unseal", json!({ "plaintext": "YQ==" })).await;
    refused(&answer, 403, &["permission denied"]);
    let answer = put(&vault, "auth/token/renew-self", json!({ "increment": 0 })).await;
    refused(&answer, 403, &["permission denied"]);
}

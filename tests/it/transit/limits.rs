//! Sizes of bodies, rate limits, permissions and the freeze.

use serde_json::{Value, json};

use super::{Site, Vault, encode, refused};
use testkit::{PATIENCE, within};

#[tokio::test]
async fn what_can_be_encrypted_can_be_decrypted() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    // A body of 1 MiB, with 4 characters for 3 bytes.
    let largest = ((1 << 20) - "{\"plaintext\":\"\"}".len()) / 4 * 3;
    let plaintext = encode(vec![7; largest]);
    let sealed = vault.done("transit/encrypt/orders", json!({ "plaintext": plaintext })).await;
    let opened =
        vault.done("transit/decrypt/orders", json!({ "ciphertext": sealed["ciphertext"] })).await;
    assert!(opened["plaintext"] == plaintext.as_str());
    let larger = json!({ "plaintext": encode(vec![7; largest + 3]) });
    refused(
        &vault.write("transit/encrypt/orders", larger.clone()).await,
        413,
        &["the body is too large"],
    );
    let answer = vault
        .write("transit/encrypt/orders", json!({ "batch_input": [larger, { "plaintext": "" }] }))
        .await;
    assert_eq!(answer.status, 400);
    let results = answer.json()["data"]["batch_results"].clone();
    assert_eq!(results[0]["error"], "the body is too large");
    assert_eq!(results[1]["key_version"], 1);
}

#[tokio::test]
async fn an_encoded_body_is_refused() {
    let site = Site::new().await;
    let vault = site.vault().with("content-encoding", "gzip");
    let answer = vault.write("transit/hash", json!({ "input": "" })).await;
    refused(&answer, 415, &["the body has a Content-Encoding"]);
}

#[tokio::test]
async fn the_rate_limit_is_that_of_the_service_in_all_apis() {
    let site = Site::new().await;
    site.limit(20).await;
    let vault = site.vault();
    let first = vault.write("transit/hash", json!({ "input": "" })).await.ok();
    assert_eq!(first.header("x-ratelimit-limit"), "20");
    for _ in 0..400 {
        let answer = vault.write("transit/hash", json!({ "input": "" })).await;
        if answer.status == 429 {
            refused(&answer, 429, &["too many requests; try again later"]);
            assert!(answer.header("retry-after").parse::<u64>().unwrap() >= 1);
            let alice = site.world.client(&site.token);
            let hash = json!({ "data": 1, "algorithm": "SHA-256" });
            let other = alice.operate("hash", hash).await;
            assert!(matches!(other.status.as_u16(), 200 | 429));
            return;
        }
    }
    panic!("no limit");
}

#[tokio::test]
async fn a_caller_over_its_limit_is_still_authenticated() {
    let site = Site::new().await;
    site.limit(1).await;
    site.vault().read("transit/keys/orders").await;
    let over = site.vault().with("x-request-id", "over");
    assert_eq!(over.read("transit/keys/orders").await.status, 429);
    let log_in = json!({ "role_id": "x", "secret_id": site.token });
    let answer = over.write("auth/approle/login", log_in).await;
    assert_eq!(answer.status, 429);
    assert_eq!(answer.header("x-ratelimit-remaining"), "0");

    Vault::of(&site.world, "nonsense")
        .with("x-request-id", "unauthenticated")
        .read("transit/keys/orders")
        .await;
    let events = async |id: &str| {
        let path = format!("/admin/audit/management?requestId={id}");
        let found = site.world.admin().get(&path).await.ok().json();
        found["items"].as_array().unwrap().len()
    };
    within(PATIENCE, async || events("unauthenticated").await == 1).await;
    assert_eq!(events("over").await, 0);
}

#[tokio::test]
async fn an_api_key_allows_the_operations_that_it_lists() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let ciphertext = site.vault().encrypted("orders", "hello").await;
    let body = json!({ "name": "reader", "type": "live", "serviceId": site.service,
        "allowedOperations": ["decrypt"] });
    let token = site.world.admin().post("/admin/api-keys", body).await.created().text("secret");
    let reader = Vault::of(&site.world, &token);
    assert_eq!(reader.decrypted("orders", &ciphertext).await, "hello");
    for (path, body) in [
        ("encrypt/orders", json!({ "plaintext": "" })),
        ("datakey/plaintext/orders", json!({})),
        ("rewrap/orders", json!({ "ciphertext": ciphertext })),
        ("sign/orders", json!({})),
        ("hash", json!({ "input": "" })),
    ] {
        let answer = reader.write(&format!("transit/{path}"), body).await;
        refused(&answer, 403, &["permission denied"]);
    }
}

#[tokio::test]
async fn a_frozen_service_operates_no_more() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let path = format!("/admin/services/{}", site.service);
    site.world.admin().patch(&path, json!({ "status": "frozen" })).await.ok();
    let vault = site.vault();
    for path in ["encrypt/orders", "decrypt/orders", "hash"] {
        let answer = vault.write(&format!("transit/{path}"), json!({})).await;
        refused(&answer, 403, &["permission denied"]);
    }
    let answer = vault
        .write("transit/encrypt/orders", json!({ "batch_input": [{ "plaintext": "" }] }))
        .await;
    refused(&answer, 403, &["permission denied"]);
    vault.read("transit/keys/orders").await.ok();
}

#[tokio::test]
async fn refusals_have_the_order_of_the_other_api() {
    let site = Site::new().await;
    let wrong = Vault::of(&site.world, "nonsense");
    let send = async |vault: &Vault<'_>, body: &str| {
        vault.0.send_text(axum::http::Method::POST, "/v1/transit/encrypt/unknown", body).await
    };
    // Broken JSON comes before a bad token, and a bad token before missing members.
    assert_eq!(send(&wrong, "{").await.status, 400);
    refused(&send(&wrong, "{}").await, 403, &["permission denied"]);
    // Missing members come before a missing key.
    let answer: Value = send(&site.vault(), "{}").await.json();
    assert_eq!(answer, json!({ "errors": ["missing plaintext to encrypt"] }));
}

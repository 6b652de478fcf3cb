//! `encrypt`, `decrypt` and `rewrap`.

use serde_json::{Value, json};

use super::{Site, decode, encode, refused};

#[tokio::test]
async fn decrypt_reverses_encrypt() {
    let site = Site::new().await;
    let vault = site.vault();
    for algorithm in ["AES-256", "AES-128"] {
        site.key(algorithm, "data", algorithm).await;
        for plaintext in ["", "hello", &"x".repeat(100_000)] {
            let ciphertext = vault.encrypted(algorithm, plaintext).await;
            let encoded = ciphertext.strip_prefix("vault:v1:").unwrap();
            assert_eq!(decode(encoded).len(), 12 + plaintext.len() + 16);
            assert_eq!(vault.decrypted(algorithm, &ciphertext).await, plaintext);
        }
    }
}

#[tokio::test]
async fn the_other_api_decrypts_the_same_ciphertexts() {
    let site = Site::new().await;
    let key = site.key("orders", "data", "AES-256").await;
    let ciphertext = site.vault().encrypted("orders", "\"hello\"").await;
    let bytes = decode(ciphertext.strip_prefix("vault:v1:").unwrap());
    let (rest, tag) = bytes.split_at(bytes.len() - 16);
    let (iv, body) = rest.split_at(12);
    let payload = json!({ "ciphertext": encode(body), "iv": encode(iv), "tag": encode(tag),
        "algorithm": "AES-256-GCM", "keyId": key });
    let alice = site.world.client(&site.token);
    let opened = alice.operate("decrypt", payload).await.ok().json();
    assert_eq!(opened["result"], json!({ "data": "hello" }));
}

#[tokio::test]
async fn associated_data_binds_a_ciphertext() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    let body = json!({ "plaintext": "aGVsbG8=", "associated_data": "YWFk" });
    let sealed = vault.done("transit/encrypt/orders", body).await["ciphertext"].clone();
    let decrypt = async |aad: Value| {
        let body = json!({ "ciphertext": sealed, "associated_data": aad });
        vault.write("transit/decrypt/orders", body).await
    };
    decrypt(json!("YWFk")).await.ok();
    for wrong in [json!("YWFl"), json!(""), Value::Null] {
        refused(&decrypt(wrong).await, 400, &["cipher: message authentication failed"]);
    }
    let text = "illegal base64 data at input byte 0";
    refused(&decrypt(json!("?")).await, 400, &[text]);
}

#[tokio::test]
async fn a_context_changes_nothing() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    let body = json!({ "plaintext": "aGVsbG8=", "context": "Y29udGV4dA==" });
    let sealed = vault.done("transit/encrypt/orders", body).await["ciphertext"].clone();
    assert_eq!(vault.decrypted("orders", sealed.as_str().unwrap()).await, "hello");
}

#[tokio::test]
async fn wishes_for_other_ciphertexts_are_refused() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    for wish in ["derived", "convergent_encryption"] {
        for (truth, status) in [(json!(false), 200), (json!("false"), 200), (json!(true), 400)] {
            let body = json!({ "plaintext": "", wish: truth });
            let answer = site.vault().write("transit/encrypt/orders", body).await;
            assert_eq!(answer.status, status, "{wish} {truth}");
        }
    }
}

#[tokio::test]
async fn wrong_requests_have_the_texts_that_clients_know() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    site.key("signer", "sig", "P-256").await;
    let vault = site.vault();
    for (path, body, text) in [
        ("encrypt/unknown", json!({ "plaintext": "" }), "encryption key not found"),
        ("encrypt/Orders", json!({ "plaintext": "" }), "encryption key not found"),
        (
            "decrypt/unknown",
            json!({ "ciphertext": "vault:v1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==" }),
            "encryption key not found",
        ),
        ("encrypt/orders", json!({}), "missing plaintext to encrypt"),
        ("decrypt/orders", json!({}), "missing ciphertext to decrypt"),
        ("encrypt/orders", json!({ "plaintext": "?" }), "illegal base64 data at input byte 0"),
        ("decrypt/orders", json!({ "ciphertext": "hello" }), "invalid ciphertext: no prefix"),
        (
            "decrypt/orders",
            json!({ "ciphertext": "vault:v1" }),
            "invalid ciphertext: wrong number of fields",
        ),
        (
            "decrypt/orders",
            json!({ "ciphertext": "vault:vx:AAAA" }),
            "invalid ciphertext: version number could not be decoded",
        ),
        (
            "decrypt/orders",
            json!({ "ciphertext": "vault:v1:?" }),
            "invalid ciphertext: could not decode base64",
        ),
        ("decrypt/orders", json!({ "ciphertext": "vault:v1:AAAA" }), "invalid ciphertext length"),
        (
            "encrypt/signer",
            json!({ "plaintext": "" }),
            "message encryption not supported for key type ecdsa-p256",
        ),
        (
            "encrypt/orders",
            json!({ "plaintext": "", "key_version": -1 }),
            "requested version for encryption is negative",
        ),
        (
            "encrypt/orders",
            json!({ "plaintext": "", "key_version": 2 }),
            "requested version for encryption is higher than the latest key version",
        ),
    ] {
        refused(&vault.write(&format!("transit/{path}"), body).await, 400, &[text]);
    }
    let answer =
        vault.0.send_text(axum::http::Method::POST, "/v1/transit/encrypt/orders", "{").await;
    assert_eq!(answer.status, 400);
    let text = answer.json()["errors"][0].as_str().unwrap().to_owned();
    assert!(text.starts_with("failed to decode JSON input: "), "{text}");
}

#[tokio::test]
async fn every_changed_byte_is_noticed() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    let ciphertext = vault.encrypted("orders", "hello").await;
    let bytes = decode(ciphertext.strip_prefix("vault:v1:").unwrap());
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        let body = json!({ "ciphertext": format!("vault:v1:{}", encode(changed)) });
        let answer = vault.write("transit/decrypt/orders", body).await;
        refused(&answer, 400, &["cipher: message authentication failed"]);
    }
}

#[tokio::test]
async fn rewrap_moves_a_ciphertext_to_the_latest_version() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    let old = vault.encrypted("orders", "hello").await;
    site.key("orders", "data", "AES-256").await;
    let done = vault.done("transit/rewrap/orders", json!({ "ciphertext": old })).await;
    assert_eq!(done["key_version"], 2);
    let new = done["ciphertext"].as_str().unwrap();
    assert!(new.starts_with("vault:v2:"));
    assert_eq!(vault.decrypted("orders", new).await, "hello");
    assert_eq!(vault.decrypted("orders", &old).await, "hello");
}

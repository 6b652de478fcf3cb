//! How requests and answers look, whatever they ask for.

use axum::http::Method;
use serde_json::json;

use super::{Site, Vault, data, encode, refused};
use testkit::World;

const ENCRYPT: &str = "/v1/transit/encrypt/orders";

#[tokio::test]
async fn put_and_post_and_every_media_type_do_the_same() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    let body = json!({ "plaintext": "aGVsbG8=" }).to_string();
    for method in [Method::PUT, Method::POST] {
        for media in [
            "application/json",
            "text/plain;charset=UTF-8",
            "application/x-www-form-urlencoded",
            "",
        ] {
            let answer = vault.0.send_as(media, method.clone(), ENCRYPT, &body).await;
            assert_eq!(data(answer)["key_version"], 1, "{method} {media}");
        }
    }
    let renewed = vault.0.send_as(
        "application/x-www-form-urlencoded",
        Method::POST,
        "/v1/auth/token/renew-self",
        "",
    );
    renewed.await.ok();
}

#[tokio::test]
async fn a_success_has_every_member_that_clients_need() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault().with("x-request-id", "mine");
    let answer = vault.write("transit/encrypt/orders", json!({ "plaintext": "" })).await.ok();
    assert_eq!(answer.header("x-request-id"), "mine");
    let mut json = answer.json();
    json["data"].take();
    let expected = json!({ "request_id": "mine", "lease_id": "", "renewable": false,
        "lease_duration": 0, "data": null, "wrap_info": null, "warnings": null, "auth": null });
    assert_eq!(json, expected);
}

#[tokio::test]
async fn null_and_empty_texts_are_absent_and_scalars_can_be_texts() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    site.key("signer", "sig", "P-256").await;
    let vault = site.vault();
    let body = json!({ "plaintext": "aGVsbG8=", "context": "", "associated_data": "",
        "key_version": "0", "nonce": null, "name": "orders", "batch_input": null });
    vault.done("transit/encrypt/orders", body).await;
    let batch = json!({ "plaintext": null, "batch_input": [{ "plaintext": "" }] });
    vault.done("transit/encrypt/orders", batch).await;
    let digest = encode([7; 32]);
    let body = json!({ "input": digest, "prehashed": "true", "key_version": "1",
        "marshalling_algorithm": "asn1" });
    vault.done("transit/sign/signer/sha2-256", body).await;
    for (member, value) in [("prehashed", json!("perhaps")), ("key_version", json!("one"))] {
        let mut body = json!({ "input": digest });
        body[member] = value;
        let answer = vault.write("transit/sign/signer", body).await;
        assert_eq!(answer.status, 400, "{member}");
    }
    // Lines in base64, as some clients write it.
    let body = json!({ "plaintext": "aGVs\nbG8=\r\n" });
    vault.done("transit/encrypt/orders", body).await;
}

#[tokio::test]
async fn a_list_is_a_method_or_a_parameter() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    for path in ["transit/keys", "transit/keys/"] {
        assert_eq!(data(vault.list(path).await), json!({ "keys": ["orders"] }));
    }
    for truth in ["true", "True", "1", "t"] {
        let answer = vault.read(&format!("transit/keys?list={truth}")).await;
        assert_eq!(data(answer), json!({ "keys": ["orders"] }));
    }
    let answer = vault.read("transit/keys").await;
    refused(&answer, 405, &["unsupported operation"]);
}

#[tokio::test]
async fn a_token_can_stand_in_either_header_and_twice() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let anonymous = || Vault(site.world.anonymous());
    let bearer = format!("Bearer {}", site.token);
    let read = async |vault: Vault<'_>| vault.read("transit/keys/orders").await;
    read(anonymous().with("authorization", &bearer)).await.ok();
    read(site.vault().with("x-vault-token", &site.token)).await.ok();
    // The own header of this API is the stronger one.
    read(site.vault().with("authorization", "Bearer nonsense")).await.ok();
    read(anonymous().with("x-vault-token", "").with("authorization", &bearer)).await.ok();
    for refused_vault in [
        anonymous(),
        anonymous().with("x-vault-token", "nonsense"),
        site.vault().with("x-vault-token", "another"),
        anonymous().with("x-vault-token", "nonsense").with("authorization", &bearer),
    ] {
        refused(&read(refused_vault).await, 403, &["permission denied"]);
    }
}

#[tokio::test]
async fn unknown_paths_have_errors_of_this_api() {
    let site = Site::new().await;
    let vault = site.vault();
    for (path, status, text) in [
        ("secret/data/a", 404, "no handler for route \"secret/data/a\". route entry not found."),
        ("", 404, "no handler for route \"\". route entry not found."),
        ("transit/wrapping_key", 404, "unsupported path"),
        ("transit/byok-export/a/b", 404, "unsupported path"),
        ("transit/keys/a/trim", 404, "unsupported path"),
        ("transit/encrypt", 404, "unsupported path"),
        ("transit/encrypt/a/b", 404, "unsupported path"),
        ("transit/backup/a", 400, "private key material is not exportable"),
        ("transit/export/encryption-key/a", 400, "private key material is not exportable"),
        ("sys/mounts", 403, "permission denied"),
        ("sys/internal/ui/mounts/transit", 403, "permission denied"),
        ("auth/token/create", 403, "permission denied"),
    ] {
        refused(&vault.write(path, json!({})).await, status, &[text]);
    }
    let answer = vault.read("transit/encrypt/orders").await;
    refused(&answer, 405, &["unsupported operation"]);
    let answer = vault.0.get("/v1").await;
    assert_eq!(answer.status, 404);
}

#[tokio::test]
async fn without_the_setting_every_path_is_unknown() {
    let world = World::without_transit().await;
    let vault = Vault::of(&world, world.admin_key());
    for path in ["transit/encrypt/orders", "sys/health", "auth/approle/login"] {
        let text = format!("no handler for route \"{path}\". route entry not found.");
        refused(&vault.write(path, json!({})).await, 404, &[&text]);
    }
}

#[tokio::test]
async fn a_statement_that_the_database_refuses_is_a_defect() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let moved = sqlx::query("ALTER TABLE keys RENAME TO moved").execute(&site.world.pool).await;
    moved.expect("move the table");
    let answer = site.vault().write("transit/encrypt/orders", json!({ "plaintext": "" })).await;
    refused(&answer, 500, &["the operation failed"]);
}

#[tokio::test]
async fn pages_of_other_sites_are_refused() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    for (header, value, is_refused) in [
        ("origin", "https://elsewhere.example", true),
        ("origin", "null", true),
        ("sec-fetch-site", "cross-site", true),
        ("sec-fetch-site", "same-site", true),
        ("sec-fetch-site", "same-origin", false),
        ("sec-fetch-site", "none", false),
    ] {
        let answer = site.vault().with(header, value).read("transit/keys/orders").await;
        match is_refused {
            true => refused(&answer, 403, &["permission denied"]),
            false => assert_eq!(answer.status, 200, "{header}: {value}"),
        }
    }
}

#[tokio::test]
async fn wishes_in_headers_are_honoured_or_refused() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let read = async |header, value: &str| {
        site.vault().with(header, value).read("transit/keys/orders").await
    };
    for ttl in ["", "0", "0s"] {
        read("x-vault-wrap-ttl", ttl).await.ok();
    }
    let answer = read("x-vault-wrap-ttl", "60").await;
    refused(&answer, 400, &["response wrapping is not supported"]);
    for namespace in ["", "/", "root", "root/", "alice", &site.service] {
        read("x-vault-namespace", namespace).await.ok();
    }
    let two = site.vault().with("x-vault-namespace", "alice").with("x-vault-namespace", "other");
    refused(&two.read("transit/keys/orders").await, 404, &["namespace not found"]);
    let other = site.world.service("other").await;
    for namespace in ["other", "Alice", "alice/child", &other] {
        let answer = read("x-vault-namespace", namespace).await;
        refused(&answer, 404, &["namespace not found"]);
        let vault = site.vault().with("x-vault-namespace", namespace);
        let answer = vault.write("transit/encrypt/orders", json!({ "plaintext": "" })).await;
        refused(&answer, 404, &["namespace not found"]);
    }
    let answer = read("x-request-id", &"x".repeat(129)).await;
    assert_eq!(answer.status, 400);
    assert!(answer.json()["errors"].is_array());
}

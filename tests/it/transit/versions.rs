//! Versions: which one is used, and which ones still count.

use std::time::Duration;

use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use serde_json::json;

use super::{Site, Vault, data, encode, refused};
use testkit::World;

const TOO_OLD: &str = "ciphertext or signature version is disallowed by policy (too old)";

#[tokio::test]
async fn the_highest_active_version_encrypts_and_every_one_decrypts() {
    let site = Site::new().await;
    let first = site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    let old = vault.encrypted("orders", "old").await;
    let second = site.key("orders", "data", "AES-256").await;
    let new = vault.encrypted("orders", "new").await;
    assert!(new.starts_with("vault:v2:"), "{new}");
    let stated = json!({ "plaintext": "", "key_version": 1 });
    assert_eq!(vault.done("transit/encrypt/orders", stated.clone()).await["key_version"], 1);
    assert_eq!(vault.decrypted("orders", &old).await, "old");

    // The key activated last encrypts in the other API, and the highest version here.
    site.world.change_key(&first, json!({ "status": "retired" })).await;
    site.world.change_key(&first, json!({ "status": "active" })).await;
    assert!(vault.encrypted("orders", "").await.starts_with("vault:v2:"));

    site.world.change_key(&second, json!({ "status": "retired" })).await;
    assert!(vault.encrypted("orders", "").await.starts_with("vault:v1:"));
    let read = data(vault.read("transit/keys/orders").await);
    assert_eq!(read["latest_version"], 1);
    assert_eq!(vault.decrypted("orders", &new).await, "new");

    site.world.change_key(&first, json!({ "status": "retired" })).await;
    let text = "requested version for encryption is less than the minimum encryption key version";
    refused(&vault.write("transit/encrypt/orders", stated).await, 400, &[text]);
    let answer = vault.write("transit/encrypt/orders", json!({ "plaintext": "" })).await;
    refused(&answer, 403, &["permission denied"]);
}

#[tokio::test]
async fn a_version_that_does_not_count_decrypts_nothing() {
    let site = Site::new().await;
    let first = site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    let old = vault.encrypted("orders", "old").await;
    site.key("orders", "data", "AES-256").await;
    let decrypt = async |ciphertext: &str| {
        vault.write("transit/decrypt/orders", json!({ "ciphertext": ciphertext })).await
    };
    site.world.change_key(&first, json!({ "status": "disabled" })).await;
    refused(&decrypt(&old).await, 403, &["permission denied"]);
    let read = data(vault.read("transit/keys/orders").await);
    assert_eq!(
        (&read["min_decryption_version"], read["keys"].as_object().unwrap().len()),
        (&json!(2), 1)
    );
    let unknown = old.replacen("vault:v1", "vault:v3", 1);
    refused(&decrypt(&unknown).await, 400, &["invalid ciphertext: version is too new"]);
    // Another key authenticates nothing.
    let other = old.replacen("vault:v1", "vault:v2", 1);
    refused(&decrypt(&other).await, 400, &["cipher: message authentication failed"]);
}

#[tokio::test]
async fn a_version_that_was_never_made_is_too_old() {
    let site = Site::new().await;
    let secret = encode([1; 32]);
    let key =
        json!({ "serviceId": site.service, "name": "orders", "secretKey": secret, "version": 5 });
    site.world.admin().post("/admin/keys", key).await.created();
    let vault = site.vault();
    let ciphertext = vault.encrypted("orders", "five").await;
    assert!(ciphertext.starts_with("vault:v5:"));
    let old = ciphertext.replacen("vault:v5", "vault:v4", 1);
    let answer = vault.write("transit/decrypt/orders", json!({ "ciphertext": old })).await;
    refused(&answer, 400, &[TOO_OLD]);
    // Old texts have the version 0, which is the first one.
    let zero = ciphertext.replacen("vault:v5", "vault:v0", 1);
    let answer = vault.write("transit/decrypt/orders", json!({ "ciphertext": zero })).await;
    refused(&answer, 400, &[TOO_OLD]);
}

#[tokio::test]
async fn a_name_of_another_service_is_unknown() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let ciphertext = site.vault().encrypted("orders", "mine").await;
    let mallory = site.world.application("mallory").await;
    let mallory = Vault::of(&site.world, mallory.key.as_ref().unwrap());
    for (path, body) in [
        ("encrypt", json!({ "plaintext": "" })),
        ("decrypt", json!({ "ciphertext": ciphertext })),
        ("rewrap", json!({ "ciphertext": ciphertext })),
    ] {
        let answer = mallory.write(&format!("transit/{path}/orders"), body).await;
        refused(&answer, 400, &["encryption key not found"]);
    }
    let answer = mallory.read("transit/keys/orders").await;
    refused(&answer, 404, &[]);
    refused(&mallory.list("transit/keys").await, 404, &[]);
}

#[tokio::test]
async fn an_expired_version_encrypts_no_more() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let site = Site::of(World::at(clock.clone(), Stage::Development).await).await;
    site.key("orders", "data", "AES-256").await;
    let second = site.key("orders", "data", "AES-256").await;
    let end = clock.now().plus(Duration::from_secs(60));
    site.world.change_key(&second, json!({ "expiresAt": end })).await;
    let vault = site.vault();
    let sealed = vault.encrypted("orders", "second").await;
    assert!(sealed.starts_with("vault:v2:"));
    clock.advance(Duration::from_secs(61));
    assert!(vault.encrypted("orders", "").await.starts_with("vault:v1:"));
    assert_eq!(data(vault.read("transit/keys/orders").await)["latest_version"], 1);
    assert_eq!(vault.decrypted("orders", &sealed).await, "second");
}

//! The cryptographic floor of this API: nothing new is made with an algorithm below it.

use engine::settings::Crypto;
use serde_json::{Value, json};

use super::{Site, Vault, encode, refused};
use testkit::World;

fn text(algorithm: &str, strength: u16, minimum: u16) -> String {
    format!(
        "permission denied: the cryptographic floor does not allow {algorithm}: its strength is \
         {strength} bits, and crypto.minimum_strength is {minimum}"
    )
}

fn minimum(bits: u16) -> Crypto {
    Crypto { minimum_strength: bits, ..Crypto::default() }
}

/// The application at another instance.
fn at<'w>(world: &'w World, site: &Site) -> Vault<'w> {
    Vault::of(world, &site.token)
}

#[tokio::test]
async fn a_weak_key_decrypts_and_encrypts_nothing() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-128").await;
    let ciphertext = site.vault().encrypted("orders", "x").await;
    let strict = site.world.another_with_floor(minimum(192)).await;
    let vault = at(&strict, &site);
    let expected = text("AES-128", 128, 192);
    for (path, body) in [
        ("encrypt/orders", json!({ "plaintext": encode("x") })),
        ("rewrap/orders", json!({ "ciphertext": ciphertext })),
        ("datakey/plaintext/orders", json!({})),
    ] {
        let answer = vault.write(&format!("transit/{path}"), body).await;
        refused(&answer, 403, &[&expected]);
    }
    let items = json!([{ "plaintext": encode("x") }]);
    let answer = vault.write("transit/encrypt/orders", json!({ "batch_input": items })).await;
    refused(&answer, 403, &[&expected]);
    assert_eq!(vault.decrypted("orders", &ciphertext).await, "x");
}

#[tokio::test]
async fn weak_data_keys_are_refused() {
    let site = Site::of(World::with_floor(minimum(192)).await).await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    let answer = vault.write("transit/datakey/wrapped/orders", json!({ "bits": 128 })).await;
    refused(&answer, 403, &[&text("AES-128", 128, 192)]);
    for bits in [256, 512] {
        vault.done("transit/datakey/wrapped/orders", json!({ "bits": bits })).await;
    }
}

#[tokio::test]
async fn a_weak_key_verifies_and_signs_nothing() {
    let site = Site::new().await;
    site.key("receipts", "sig", "RSA-2048").await;
    let input = json!({ "input": encode("x") });
    let mut signed = site.vault().done("transit/sign/receipts", input.clone()).await;
    let strict = site.world.another_with_floor(minimum(128)).await;
    let vault = at(&strict, &site);
    let answer = vault.write("transit/sign/receipts", input).await;
    refused(&answer, 403, &[&text("RSA-2048", 112, 128)]);
    signed["input"] = json!(encode("x"));
    let members = signed.as_object_mut().unwrap();
    members.retain(|name, _| matches!(name.as_str(), "input" | "signature"));
    assert_eq!(vault.done("transit/verify/receipts", signed).await["valid"], json!(true));
}

#[tokio::test]
async fn a_weak_hash_of_a_strong_key_is_refused() {
    let site = Site::of(World::with_floor(minimum(192)).await).await;
    site.key("receipts", "sig", "P-384").await;
    let vault = site.vault();
    let input = json!({ "input": encode("x") });
    let expected = text("SHA-256", 128, 192);
    refused(&vault.write("transit/sign/receipts", input.clone()).await, 403, &[&expected]);
    refused(&vault.write("transit/hash/sha2-256", input.clone()).await, 403, &[&expected]);
    vault.done("transit/sign/receipts/sha2-384", input.clone()).await;
    vault.done("transit/hash/sha2-384", input).await;
}

#[tokio::test]
async fn a_forbidden_mac_is_refused_and_verifies() {
    let site = Site::new().await;
    site.key("tags", "sig", "HMAC-SHA256").await;
    let input = json!({ "input": encode("x") });
    let tag = site.vault().done("transit/hmac/tags", input.clone()).await["hmac"].clone();
    let forbidden = vec!["HMAC-SHA256".to_owned()];
    let crypto = Crypto { forbidden, ..Crypto::default() };
    let strict = site.world.another_with_floor(crypto).await;
    let vault = at(&strict, &site);
    let expected = "permission denied: the cryptographic floor does not allow HMAC-SHA256: \
                    crypto.forbidden names it";
    refused(&vault.write("transit/hmac/tags", input).await, 403, &[expected]);
    let body = json!({ "input": encode("x"), "hmac": tag });
    assert_eq!(vault.done("transit/verify/tags", body).await["valid"], Value::Bool(true));
}

#[tokio::test]
async fn no_weak_key_is_made() {
    let site = Site::of(World::with_floor(minimum(192)).await).await;
    let admin = site.admin();
    let answer = admin.write("transit/keys/orders", json!({ "type": "aes128-gcm96" })).await;
    refused(&answer, 403, &[&text("AES-128", 128, 192)]);
    admin.done("transit/keys/orders", json!({ "type": "aes256-gcm96" })).await;
    admin.write_nothing("transit/keys/orders/rotate").await.ok();
}

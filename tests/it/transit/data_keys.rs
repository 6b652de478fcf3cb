//! `datakey`.

use serde_json::json;

use super::{Site, decode, encode, refused};

#[tokio::test]
async fn a_data_key_has_the_requested_length_and_decrypts() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    for (bits, bytes) in [(json!(null), 32), (json!(128), 16), (json!("256"), 32), (json!(512), 64)]
    {
        let done = vault.done("transit/datakey/plaintext/orders", json!({ "bits": bits })).await;
        let plaintext = decode(done["plaintext"].as_str().unwrap());
        assert_eq!(plaintext.len(), bytes);
        let body = json!({ "ciphertext": done["ciphertext"] });
        let opened = vault.done("transit/decrypt/orders", body).await;
        assert_eq!(opened["plaintext"], encode(&plaintext));
    }
    let wrapped = vault.write_nothing("transit/datakey/wrapped/orders").await.ok().json();
    let members: Vec<_> = wrapped["data"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(members, ["ciphertext", "key_version"]);
}

#[tokio::test]
async fn other_data_keys_are_refused() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    let answer = vault.write("transit/datakey/plaintext/orders", json!({ "bits": 64 })).await;
    refused(&answer, 400, &["invalid bit length"]);
    let answer = vault.write("transit/datakey/clear/orders", json!({})).await;
    refused(&answer, 400, &["Invalid path, must be 'plaintext' or 'wrapped'"]);
}

//! What applications learn about their keys.

use serde_json::{Value, json};

use super::{Site, data, decode, refused};

#[tokio::test]
async fn a_key_has_every_member_that_clients_read() {
    let site = Site::new().await;
    let vault = site.vault();
    for (algorithm, usage, kind, name) in [
        ("AES-256", "data", "aes256-gcm96", None),
        ("AES-128", "data", "aes128-gcm96", None),
        ("RSA-2048", "sig", "rsa-2048", Some("rsa-2048")),
        ("P-256", "sig", "ecdsa-p256", Some("P-256")),
        ("P-521", "sig", "ecdsa-p521", Some("P-521")),
        ("Ed25519", "sig", "ed25519", Some("ed25519")),
    ] {
        site.key(kind, usage, algorithm).await;
        let mut key = data(vault.read(&format!("transit/keys/{kind}")).await);
        let version = key["keys"]["1"].take();
        let is_data = usage == "data";
        let expected = json!({ "name": kind, "type": kind, "latest_version": 1,
            "min_decryption_version": 1, "min_encryption_version": 0, "min_available_version": 0,
            "deletion_allowed": false, "derived": false, "exportable": false,
            "allow_plaintext_backup": false, "supports_encryption": is_data,
            "supports_decryption": is_data, "supports_derivation": false,
            "supports_signing": !is_data, "auto_rotate_period": 0, "imported_key": false,
            "soft_deleted": false, "keys": { "1": null } });
        assert_eq!(key, expected);
        match name {
            None => assert!(version.as_i64().unwrap() > 1_700_000_000, "{version}"),
            Some(name) => {
                assert_eq!(
                    (&version["name"], &version["certificate_chain"]),
                    (&json!(name), &json!(""))
                );
                let public = version["public_key"].as_str().unwrap();
                match algorithm {
                    "Ed25519" => assert_eq!(decode(public).len(), 32),
                    _ => assert!(public.starts_with("-----BEGIN PUBLIC KEY-----\n"), "{public}"),
                }
            }
        }
    }
}

#[tokio::test]
async fn a_key_of_macs_has_no_versions() {
    let site = Site::new().await;
    site.key("mac", "sig", "HMAC-SHA256").await;
    let key = data(site.vault().read("transit/keys/mac").await);
    assert_eq!((&key["type"], &key["key_size"]), (&json!("hmac"), &json!(32)));
    assert_eq!(key.get("keys"), None);
    assert_eq!(key["supports_signing"], false);
}

#[tokio::test]
async fn only_visible_keys_are_listed() {
    let site = Site::new().await;
    let vault = site.vault();
    refused(&vault.list("transit/keys").await, 404, &[]);
    for name in ["b-2", "a.1", "_"] {
        site.key(name, "data", "AES-128").await;
    }
    for name in ["with space", "-a", "ü"] {
        site.key(name, "data", "AES-128").await;
    }
    site.key("envelopes", "enc", "P-256").await;
    let listed = data(vault.list("transit/keys").await);
    assert_eq!(listed, json!({ "keys": ["_", "a.1", "b-2"] }));
    for name in ["envelopes", "-a", "missing"] {
        refused(&vault.read(&format!("transit/keys/{name}")).await, 404, &[]);
    }
    let answer = vault.write("transit/encrypt/-a", json!({ "plaintext": "" })).await;
    refused(&answer, 400, &["encryption key not found"]);
}

#[tokio::test]
async fn public_keys_are_exported() {
    let site = Site::new().await;
    site.key("ec", "sig", "P-256").await;
    site.key("ec", "sig", "P-256").await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    let exported = async |path: &str| -> Vec<String> {
        let done = data(vault.read(&format!("transit/export/public-key/{path}")).await);
        assert_eq!((&done["name"], &done["type"]), (&json!("ec"), &json!("ecdsa-p256")));
        let keys: &Value = &done["keys"];
        keys.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(exported("ec").await, ["1", "2"]);
    assert_eq!(exported("ec/1").await, ["1"]);
    assert_eq!(exported("ec/latest").await, ["2"]);
    for path in ["ec/3", "orders", "missing"] {
        refused(&vault.read(&format!("transit/export/public-key/{path}")).await, 404, &[]);
    }
}

#[tokio::test]
async fn a_caller_without_a_token_learns_nothing() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let anonymous = super::Vault(site.world.anonymous());
    for path in ["transit/keys/orders", "transit/keys/missing", "transit/keys?list=true"] {
        refused(&anonymous.read(path).await, 403, &["permission denied"]);
    }
}

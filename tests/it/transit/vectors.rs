//! What another implementation made with keys that are imported here.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{Site, Vault, decode};
use testkit::openssl::pem;

fn vectors() -> Vec<Value> {
    let vectors: Value = serde_json::from_str(include_str!("vectors.json")).unwrap();
    vectors["keys"].as_array().unwrap().clone()
}

/// Imports each version of a key with its number.
async fn import(site: &Site, key: &Value) {
    let name = key["name"].as_str().unwrap();
    for (version, material) in key["exported"].as_object().unwrap() {
        let mut body = json!({ "serviceId": site.service, "name": name,
            "version": version.parse::<i64>().unwrap() });
        let material = material.as_str().unwrap();
        match key["type"].as_str().unwrap() {
            "aes256-gcm96" | "aes128-gcm96" => body["secretKey"] = json!(material),
            "hmac" => {
                body["use"] = json!("sig");
                body["algorithm"] = json!("HMAC-SHA256");
                body["secretKey"] = json!(material);
            }
            "ed25519" => {
                let all = decode(material);
                let (seed, public) = all.split_at(32);
                let [d, x] = [seed, public].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part));
                body["use"] = json!("sig");
                body["privateKey"] = json!({ "kty": "OKP", "crv": "Ed25519", "d": d, "x": x });
            }
            _ => {
                body["use"] = json!("sig");
                body["privateKey"] = json!(pem("pkcs8 -topk8 -nocrypt", material));
            }
        }
        site.world.admin().post("/admin/keys", body).await.created();
    }
}

#[tokio::test]
async fn imported_keys_open_and_verify_everything() {
    let site = Site::new().await;
    let vault = site.vault();
    let mut opened = 0;
    for key in vectors() {
        import(&site, &key).await;
        let name = key["name"].as_str().unwrap();
        let read = super::data(vault.read(&format!("transit/keys/{name}")).await);
        assert_eq!(read["type"], key["type"]);
        assert_eq!(read["latest_version"], key["read"]["latest_version"]);
        for vector in key["vectors"].as_array().unwrap() {
            opened += usize::from(check(&vault, name, vector).await);
        }
    }
    assert!(opened > 30, "{opened}");
}

/// Checks one vector. Returns whether it has a counterpart here: keys for encryption make no MACs.
async fn check(vault: &Vault<'_>, name: &str, vector: &Value) -> bool {
    let (call, request, made) =
        (vector["call"].as_str().unwrap(), &vector["request"], &vector["data"]);
    let decrypt = async |ciphertext: &Value, aad: &Value| {
        let body = json!({ "ciphertext": ciphertext, "associated_data": aad });
        vault.done(&format!("transit/decrypt/{name}"), body).await["plaintext"].clone()
    };
    match call {
        "encrypt" => {
            let opened = decrypt(&made["ciphertext"], &request["associated_data"]).await;
            assert_eq!(opened, request["plaintext"]);
        }
        "encrypt batch" => {
            let results = made["batch_results"].as_array().unwrap();
            for (item, result) in request["batch_input"].as_array().unwrap().iter().zip(results) {
                assert_eq!(decrypt(&result["ciphertext"], &Value::Null).await, item["plaintext"]);
            }
        }
        "datakey/plaintext" => {
            assert_eq!(decrypt(&made["ciphertext"], &Value::Null).await, made["plaintext"]);
        }
        "sign" => {
            let mut body = request.clone();
            body["signature"] = made["signature"].clone();
            let done = vault.done(&format!("transit/verify/{name}"), body).await;
            assert_eq!(done["valid"], true, "{name} {request}");
        }
        "hmac/sha2-256" => {
            let mut body = request.clone();
            body["hmac"] = made["hmac"].clone();
            let done = vault.done(&format!("transit/verify/{name}/sha2-256"), body).await;
            assert_eq!(done["valid"], true);
        }
        // Keys of MACs have one hash, and keys for encryption make no MACs.
        "hmac/sha2-512" | "hmac" => {
            let path = call.replacen("hmac", &format!("transit/hmac/{name}"), 1);
            assert_eq!(vault.write(&path, request.clone()).await.status, 400, "{path}");
            return false;
        }
        other => panic!("{other}"),
    }
    true
}

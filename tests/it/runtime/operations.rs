//! `/operations`: encryption, decryption and hashes.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE};
use serde_json::{Value, json};

use testkit::World;

fn bytes(value: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn decrypt_reverses_encrypt() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    for (key, algorithm) in [("AES-256", "AES-256-GCM"), ("AES-128", "AES-128-GCM")] {
        let key = world.key(alice.service.as_ref().unwrap(), "data", key).await;
        let data = json!({ "secret": [1, 2] });
        let payload = json!({ "data": data, "algorithm": algorithm });
        let answer = alice.operate("encrypt", payload).await.ok().json();
        assert!(answer["timestamp"].as_str().unwrap().ends_with('Z'));
        assert_eq!(answer.as_object().unwrap().len(), 3, "{answer}");
        let sealed = &answer["result"];
        assert_eq!(sealed["algorithm"], algorithm);
        assert_eq!(sealed["keyId"], key);
        assert_eq!((bytes(&sealed["iv"]).len(), bytes(&sealed["tag"]).len()), (12, 16));
        assert_eq!(bytes(&sealed["ciphertext"]).len(), data.to_string().len());
        let opened = alice.operate("decrypt", sealed.clone()).await.ok().json();
        assert_eq!(opened["result"], json!({ "data": data }));
    }
}

#[tokio::test]
async fn base64_is_read_in_either_alphabet_with_or_without_padding() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    world.key(alice.service.as_ref().unwrap(), "data", "AES-256").await;
    let payload = json!({ "data": "x".repeat(100), "algorithm": "AES-256-GCM" });
    let sealed = alice.operate("encrypt", payload).await.ok().json()["result"].clone();
    for engine in [&BASE64_URL_SAFE, &BASE64_STANDARD_NO_PAD] {
        let mut sent = sealed.clone();
        for member in ["ciphertext", "iv", "tag"] {
            sent[member] = json!(engine.encode(bytes(&sealed[member])));
        }
        alice.operate("decrypt", sent).await.ok();
    }
}

#[tokio::test]
async fn an_unauthentic_ciphertext_is_not_decrypted() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().unwrap();
    world.key(&service, "data", "AES-256").await;
    let payload = json!({ "data": "secret", "algorithm": "AES-256-GCM" });
    let sealed = alice.operate("encrypt", payload).await.ok().json()["result"].clone();
    for member in ["ciphertext", "iv", "tag"] {
        let intact = bytes(&sealed[member]);
        for place in 0..intact.len() {
            let mut changed = intact.clone();
            changed[place] ^= 1;
            let mut sent = sealed.clone();
            sent[member] = json!(BASE64_STANDARD.encode(changed));
            alice.operate("decrypt", sent).await.refused(400, "DECRYPTION_FAILED");
        }
        let shorter = [0, intact.len() - 1].map(|length| BASE64_STANDARD.encode(&intact[..length]));
        // Texts that are truncated or changed at their end, without whole bytes.
        let cut = ["A", "AB", "AB=="].map(str::to_owned);
        for text in shorter.into_iter().chain(cut) {
            let mut sent = sealed.clone();
            sent[member] = json!(text);
            alice.operate("decrypt", sent).await.refused(400, "DECRYPTION_FAILED");
        }
    }
    let mut sent = sealed;
    sent["keyId"] = json!(world.key(&service, "data", "AES-256").await);
    alice.operate("decrypt", sent).await.refused(400, "DECRYPTION_FAILED");
}

#[tokio::test]
async fn the_key_activated_last_encrypts() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().unwrap();
    let payload = json!({ "data": 1, "algorithm": "AES-256-GCM" });
    alice.operate("encrypt", payload.clone()).await.refused(404, "KEY_NOT_FOUND");
    let first = world.key(&service, "data", "AES-256").await;
    let second = world.key(&service, "data", "AES-256").await;
    let used = async || {
        alice.operate("encrypt", payload.clone()).await.ok().json()["result"]["keyId"].clone()
    };
    assert_eq!(used().await, second);
    world.change_key(&second, json!({ "status": "retired" })).await;
    assert_eq!(used().await, first);
    world.change_key(&second, json!({ "status": "active" })).await;
    assert_eq!(used().await, second);
}

#[tokio::test]
async fn the_state_of_a_key_limits_its_operations() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let key = world.key(alice.service.as_ref().unwrap(), "data", "AES-256").await;
    let payload = json!({ "data": 1, "algorithm": "AES-256-GCM", "keyId": key });
    let sealed = alice.operate("encrypt", payload.clone()).await.ok().json()["result"].clone();
    world.change_key(&key, json!({ "status": "retired" })).await;
    alice.operate("encrypt", payload.clone()).await.refused(403, "OPERATION_NOT_ALLOWED");
    alice.operate("decrypt", sealed.clone()).await.ok();
    world.change_key(&key, json!({ "status": "disabled" })).await;
    alice.operate("encrypt", payload).await.refused(403, "OPERATION_NOT_ALLOWED");
    alice.operate("decrypt", sealed).await.refused(403, "OPERATION_NOT_ALLOWED");
}

/// The hashes of the FIPS 180 example "abc", and of the canonical `{"a":1,"b":[true]}`.
#[tokio::test]
async fn hashes_match_the_standard() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let hash = async |data: Value, algorithm: &str| {
        let payload = json!({ "data": data, "algorithm": algorithm });
        let result = alice.operate("hash", payload).await.ok().json()["result"].clone();
        assert_eq!(result["algorithm"], algorithm);
        bytes(&result["hash"])
    };
    for (algorithm, start) in [
        ("SHA-256", [0xba, 0x78, 0x16, 0xbf]),
        ("SHA-384", [0xcb, 0x00, 0x75, 0x3f]),
        ("SHA-512", [0xdd, 0xaf, 0x35, 0xa1]),
    ] {
        assert_eq!(hash(json!("abc"), algorithm).await[..4], start);
    }
    use sha2::Digest as _;
    let canonical = sha2::Sha256::digest(br#"{"a":1,"b":[true]}"#).to_vec();
    assert_eq!(hash(json!({ "b": [true], "a": 1.0 }), "SHA-256").await, canonical);
}

//! `/operations`: data as bytes, associated data, digests and signature formats.

mod signatures;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256, Sha512};

use testkit::{Client, World};

async fn with_key<'w>(world: &'w World, r#use: &str, algorithm: &str) -> (Client<'w>, String) {
    let alice = world.application(algorithm).await;
    let service = alice.service.clone().unwrap();
    let key = world.key(&service, r#use, algorithm).await;
    (alice, key)
}

async fn result(client: &Client<'_>, operation: &str, payload: Value) -> Value {
    client.operate(operation, payload).await.ok().json()["result"].clone()
}

fn with(mut payload: Value, members: Value) -> Value {
    let Value::Object(members) = members else {
        panic!("no object: {members}");
    };
    payload.as_object_mut().unwrap().extend(members);
    payload
}

#[tokio::test]
async fn bytes_in_base64_are_encrypted_and_returned() {
    let world = World::new().await;
    let (alice, _) = with_key(&world, "data", "AES-256").await;
    for bytes in [&[0xff, 0, 0x80][..], b"\"", &[7; 70_000]] {
        let data = BASE64.encode(bytes);
        let order = json!({ "data": data, "encoding": "base64", "algorithm": "AES-256-GCM" });
        let sealed = result(&alice, "encrypt", order).await;
        let ciphertext = sealed["ciphertext"].as_str().unwrap();
        assert_eq!(BASE64.decode(ciphertext).unwrap().len(), bytes.len());

        let opened = with(sealed.clone(), json!({ "encoding": "base64" }));
        assert_eq!(result(&alice, "decrypt", opened).await, json!({ "data": data }));
        // Bytes that are not JSON fit no JSON response.
        for (members, code) in [
            (json!({}), "required"),
            (json!({ "encoding": null }), "required"),
            (json!({ "encoding": "json" }), "conflict"),
        ] {
            let refused = alice.operate("decrypt", with(sealed.clone(), members)).await;
            refused.invalid(&[("payload.encoding", code)]);
        }
    }
}

#[tokio::test]
async fn both_encodings_concern_the_same_bytes() {
    let world = World::new().await;
    let (alice, _) = with_key(&world, "data", "AES-128").await;
    let text = r#"{"a":1.0}"#;
    let algorithm = json!({ "algorithm": "AES-128-GCM" });
    let order = json!({ "data": BASE64.encode(text), "encoding": "base64" });
    let sealed = result(&alice, "encrypt", with(order, algorithm.clone())).await;
    let opened = alice.operate("decrypt", sealed).await.ok();
    assert!(opened.body.contains(r#"{"data":{"a":1.0}}"#), "{}", opened.body);

    let order = json!({ "data": [1], "encoding": "json" });
    let sealed = result(&alice, "encrypt", with(order, algorithm)).await;
    let opened = result(&alice, "decrypt", with(sealed, json!({ "encoding": "base64" }))).await;
    assert_eq!(opened["data"], BASE64.encode("[1]"));

    for (data, encoding) in [("grün", "json"), (&BASE64.encode("grün"), "base64")] {
        let order = json!({ "data": data, "encoding": encoding, "algorithm": "SHA-256" });
        let hash = result(&alice, "hash", order).await["hash"].clone();
        assert_eq!(hash, BASE64.encode(Sha256::digest("grün")));
    }
    let order = json!({ "data": "", "encoding": "base64", "algorithm": "SHA-512" });
    let hash = result(&alice, "hash", order).await["hash"].clone();
    assert_eq!(hash, BASE64.encode(Sha512::digest("")));
}

#[tokio::test]
async fn zero_bytes_can_be_encrypted() {
    let world = World::new().await;
    let (alice, _) = with_key(&world, "data", "AES-256").await;
    let order = json!({ "data": "", "encoding": "base64", "algorithm": "AES-256-GCM" });
    let sealed = result(&alice, "encrypt", order).await;
    assert_eq!(sealed["ciphertext"], "");
    let opened = with(sealed, json!({ "encoding": "base64" }));
    assert_eq!(result(&alice, "decrypt", opened).await["data"], "");
}

#[tokio::test]
async fn associated_data_is_authenticated() {
    let world = World::new().await;
    let (alice, _) = with_key(&world, "data", "AES-256").await;
    for aad in [&b"record 4711"[..], &[1; 4096]] {
        let aad = BASE64.encode(aad);
        let order = json!({ "data": 1, "aad": aad, "algorithm": "AES-256-GCM" });
        let sealed = result(&alice, "encrypt", order).await;
        let opened = with(sealed.clone(), json!({ "aad": aad }));
        assert_eq!(result(&alice, "decrypt", opened).await["data"], 1);
        for members in
            [json!({}), json!({ "aad": "" }), json!({ "aad": BASE64.encode("record 4712") })]
        {
            let refused = alice.operate("decrypt", with(sealed.clone(), members)).await;
            refused.refused(400, "DECRYPTION_FAILED");
        }
    }
    // No associated data is the same as zero bytes of it.
    let order = json!({ "data": 1, "aad": "", "algorithm": "AES-256-GCM" });
    let sealed = result(&alice, "encrypt", order).await;
    assert_eq!(result(&alice, "decrypt", sealed).await["data"], 1);
}

#[tokio::test]
async fn members_that_do_not_fit_are_refused() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let short = BASE64.encode([0; 31]);
    let right = BASE64.encode([0; 32]);
    let ecdsa =
        |members: Value| with(json!({ "data": right, "algorithm": "ECDSA-SHA256" }), members);
    let gcm = |members: Value| with(json!({ "data": 1, "algorithm": "AES-256-GCM" }), members);
    let large = BASE64.encode([0; 4097]);
    for (operation, payload, expected) in [
        ("encrypt", gcm(json!({ "encoding": "hex" })), vec![("payload.encoding", "unsupported")]),
        ("encrypt", gcm(json!({ "encoding": 1 })), vec![("payload.encoding", "type")]),
        ("encrypt", gcm(json!({ "encoding": "base64" })), vec![("payload.data", "type")]),
        (
            "encrypt",
            gcm(json!({ "encoding": "base64", "data": "Zh" })),
            vec![("payload.data", "format")],
        ),
        ("encrypt", gcm(json!({ "aad": large })), vec![("payload.aad", "length")]),
        ("encrypt", gcm(json!({ "aad": "*" })), vec![("payload.aad", "format")]),
        ("encrypt", gcm(json!({ "aad": 7 })), vec![("payload.aad", "type")]),
        ("encrypt", gcm(json!({ "prehashed": true })), vec![("payload.prehashed", "unknown")]),
        ("sign", ecdsa(json!({ "aad": "" })), vec![("payload.aad", "unknown")]),
        ("sign", ecdsa(json!({ "prehashed": "yes" })), vec![("payload.prehashed", "type")]),
        ("sign", ecdsa(json!({ "prehashed": true })), vec![("payload.encoding", "required")]),
        (
            "sign",
            ecdsa(json!({ "prehashed": true, "encoding": "json" })),
            vec![("payload.encoding", "conflict")],
        ),
        (
            "sign",
            ecdsa(json!({ "prehashed": true, "encoding": "base64", "data": short })),
            vec![("payload.data", "length")],
        ),
        (
            "sign",
            ecdsa(json!({ "prehashed": true, "encoding": "base64", "algorithm": "RSA-SHA384" })),
            vec![("payload.data", "length")],
        ),
        (
            "sign",
            ecdsa(json!({ "prehashed": true, "encoding": "base64", "algorithm": "Ed25519" })),
            vec![("payload.prehashed", "unsupported")],
        ),
        (
            "sign",
            ecdsa(json!({ "prehashed": true, "algorithm": "HMAC-SHA256" })),
            vec![("payload.prehashed", "unsupported"), ("payload.encoding", "required")],
        ),
        (
            "sign",
            ecdsa(json!({ "signatureFormat": "raw" })),
            vec![("payload.signatureFormat", "unsupported")],
        ),
        (
            "sign",
            ecdsa(json!({ "signatureFormat": "der", "algorithm": "RSA-PSS-SHA256" })),
            vec![("payload.signatureFormat", "unsupported")],
        ),
        (
            "verify",
            ecdsa(json!({ "prehashed": true, "signatureFormat": "p1363", "algorithm": "Ed25519" })),
            vec![
                ("payload.signature", "required"),
                ("payload.keyId", "required"),
                ("payload.signatureFormat", "unsupported"),
                ("payload.prehashed", "unsupported"),
                ("payload.encoding", "required"),
            ],
        ),
        (
            "hash",
            json!({ "data": "abcde", "algorithm": "SHA-256", "encoding": "base64" }),
            vec![("payload.data", "format")],
        ),
        (
            "hash",
            json!({ "data": "", "algorithm": "SHA-256", "prehashed": true, "signatureFormat": "der" }),
            vec![("payload.prehashed", "unknown"), ("payload.signatureFormat", "unknown")],
        ),
    ] {
        alice.operate(operation, payload).await.invalid(&expected);
    }
}

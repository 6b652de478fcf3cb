//! `/operations`: signatures, with every algorithm.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use testkit::{OPERATIONS, World};

const ALGORITHMS: [(&str, &str, usize); 11] = [
    ("RSA-SHA256", "RSA-2048", 256),
    ("RSA-SHA384", "RSA-2048", 256),
    ("RSA-SHA512", "RSA-2048", 256),
    ("RSA-PSS-SHA256", "RSA-2048", 256),
    ("RSA-PSS-SHA384", "RSA-2048", 256),
    ("RSA-PSS-SHA512", "RSA-2048", 256),
    ("ECDSA-SHA256", "P-256", 64),
    ("ECDSA-SHA384", "P-384", 96),
    ("ECDSA-SHA512", "P-521", 132),
    ("Ed25519", "Ed25519", 64),
    ("HMAC-SHA256", "HMAC-SHA256", 32),
];

#[tokio::test]
async fn only_the_signed_data_verifies() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().unwrap();
    let mut created: Vec<(&str, String)> = Vec::new();
    for (algorithm, kind, length) in ALGORITHMS {
        let key = match created.iter().find(|(known, _)| *known == kind) {
            Some((_, key)) => key.clone(),
            None => world.key(&service, "sig", kind).await,
        };
        created.push((kind, key.clone()));
        let payload = json!({ "data": { "b": 2, "a": 1 }, "algorithm": algorithm });
        let result = alice.operate("sign", payload).await.ok().json()["result"].clone();
        assert_eq!(result["algorithm"], algorithm);
        assert_eq!(result["keyId"], key);
        let signature = BASE64_STANDARD.decode(result["signature"].as_str().unwrap()).unwrap();
        assert_eq!(signature.len(), length, "{algorithm}");

        let verify_text = async |data: serde_json::Value, signature: &str| {
            let payload = json!({
                "data": data,
                "signature": signature,
                "algorithm": algorithm,
                "keyId": key,
            });
            alice.operate("verify", payload).await.ok().json()["result"].clone()
        };
        let verify = async |data: serde_json::Value, signature: &[u8]| {
            verify_text(data, &BASE64_STANDARD.encode(signature)).await
        };
        let valid = json!({ "valid": true });
        let invalid = json!({ "valid": false });
        // The order of members and the notation of numbers do not matter.
        assert_eq!(verify(json!({ "a": 1.0, "b": 2 }), &signature).await, valid, "{algorithm}");
        assert_eq!(verify(json!({ "a": 1, "b": 3 }), &signature).await, invalid);
        assert_eq!(verify(json!("{\"a\":1,\"b\":2}"), &signature).await, valid);
        for place in [0, length / 2, length - 1] {
            let mut changed = signature.clone();
            changed[place] ^= 1;
            assert_eq!(verify(json!({ "a": 1, "b": 2 }), &changed).await, invalid);
        }
        assert_eq!(verify(json!({ "a": 1, "b": 2 }), &[]).await, invalid);
        // Truncated or changed at the end, so that unused bits remain.
        for text in ["A", "AB=="] {
            let valid = verify_text(json!({ "a": 1, "b": 2 }), text).await;
            assert_eq!(valid, invalid, "{algorithm}");
        }
        assert_eq!(verify(json!({ "a": 1, "b": 2 }), &signature[1..]).await, invalid);
        assert_eq!(
            verify(json!({ "a": 1, "b": 2 }), &[&signature[..], &[0]].concat()).await,
            invalid
        );
        assert_eq!(verify(json!({ "a": 1, "b": 2 }), &vec![0; length]).await, invalid);
    }
}

#[tokio::test]
async fn ambiguous_json_is_not_signed() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    world.key(alice.service.as_ref().unwrap(), "sig", "P-256").await;
    for (data, code) in [
        (r#"{"a":1,"a":1}"#, "conflict"),
        (r#""\ud800""#, "format"),
        ("9007199254740993", "format"),
        ("[1e400]", "format"),
        ("18446744073709551616", "format"),
    ] {
        let body = format!(
            r#"{{"operation":"sign","payload":{{"data":{data},"algorithm":"ECDSA-SHA256"}}}}"#
        );
        let refused = alice.send_text(axum::http::Method::POST, OPERATIONS, &body).await;
        refused.invalid(&[("payload.data", code)]);
    }
}

#[tokio::test]
async fn a_key_supports_only_its_own_algorithms() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().unwrap();
    let ec = world.key(&service, "sig", "P-256").await;
    let envelopes = world.key(&service, "enc", "P-384").await;
    for (key, algorithm) in
        [(&ec, "ECDSA-SHA384"), (&ec, "RSA-SHA256"), (&envelopes, "ECDSA-SHA384")]
    {
        let payload = json!({ "data": 1, "algorithm": algorithm, "keyId": key });
        let refused = alice.operate("sign", payload).await;
        refused.invalid(&[("payload.algorithm", "unsupported")]);
    }
    let payload = json!({ "data": 1, "algorithm": "ECDSA-SHA256", "keyId": ec });
    alice.operate("sign", payload.clone()).await.ok();
    let payload = json!({ "data": 1, "algorithm": "RSA-SHA256" });
    alice.operate("sign", payload).await.refused(404, "KEY_NOT_FOUND");
}

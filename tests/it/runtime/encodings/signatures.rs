//! Signatures over bytes and digests, and their formats.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use serde_json::json;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

use super::{result, with, with_key};
use testkit::World;

#[tokio::test]
async fn bytes_are_signed_as_the_text_of_the_same_bytes() {
    let world = World::new().await;
    for (kind, algorithm) in [("P-256", "ECDSA-SHA256"), ("HMAC-SHA256", "HMAC-SHA256")] {
        let (alice, key) = with_key(&world, "sig", kind).await;
        let order = json!({
            "data": BASE64.encode("a message"), "encoding": "base64", "algorithm": algorithm,
        });
        let signed = result(&alice, "sign", order).await;
        let verify = json!({
            "data": "a message", "signature": signed["signature"],
            "algorithm": algorithm, "keyId": key,
        });
        assert_eq!(result(&alice, "verify", verify).await, json!({ "valid": true }));
    }
}

const PREHASHED: [(&str, &str); 9] = [
    ("RSA-SHA256", "RSA-2048"),
    ("RSA-SHA384", "RSA-2048"),
    ("RSA-SHA512", "RSA-2048"),
    ("RSA-PSS-SHA256", "RSA-2048"),
    ("RSA-PSS-SHA384", "RSA-2048"),
    ("RSA-PSS-SHA512", "RSA-2048"),
    ("ECDSA-SHA256", "P-256"),
    ("ECDSA-SHA384", "P-384"),
    ("ECDSA-SHA512", "P-521"),
];

fn digest(algorithm: &str, message: &str) -> String {
    BASE64.encode(match &algorithm[algorithm.len() - 3..] {
        "256" => Sha256::digest(message).to_vec(),
        "384" => Sha384::digest(message).to_vec(),
        _ => Sha512::digest(message).to_vec(),
    })
}

#[tokio::test]
async fn the_signature_of_a_digest_is_that_of_its_message() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().unwrap();
    for kind in ["RSA-2048", "P-256", "P-384", "P-521"] {
        let key = world.key(&service, "sig", kind).await;
        for (algorithm, _) in PREHASHED.iter().filter(|(_, of)| *of == kind) {
            let common = json!({ "algorithm": algorithm, "keyId": key });
            let hashed = |message: &str| {
                json!({
                    "data": digest(algorithm, message), "encoding": "base64", "prehashed": true,
                })
            };
            let plain = |message: &str| json!({ "data": message, "prehashed": false });
            let of_digest = result(&alice, "sign", with(hashed("one"), common.clone())).await;
            let of_message = result(&alice, "sign", with(plain("one"), common.clone())).await;
            for signature in [&of_digest["signature"], &of_message["signature"]] {
                let signature = json!({ "signature": signature });
                for (data, valid) in [
                    (hashed("one"), true),
                    (plain("one"), true),
                    (hashed("another"), false),
                    (plain("another"), false),
                ] {
                    let order = with(with(data, common.clone()), signature.clone());
                    let verified = result(&alice, "verify", order).await;
                    assert_eq!(verified, json!({ "valid": valid }), "{algorithm}");
                }
            }
        }
    }
}

#[tokio::test]
async fn ecdsa_signatures_have_two_formats() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().unwrap();
    for (algorithm, kind) in &PREHASHED[6..] {
        let key = world.key(&service, "sig", kind).await;
        let common = json!({ "data": "m", "algorithm": algorithm, "keyId": key });
        let formats = [None, Some("p1363"), Some("der")];
        for format in formats {
            let order = with(common.clone(), json!({ "signatureFormat": format }));
            let signature = result(&alice, "sign", order).await["signature"].clone();
            let bytes = BASE64.decode(signature.as_str().unwrap()).unwrap();
            let order = with(common.clone(), json!({ "signature": signature }));
            for claimed in formats {
                let order = with(order.clone(), json!({ "signatureFormat": claimed }));
                let is_der = |format: Option<&str>| format == Some("der");
                let valid = is_der(claimed) == is_der(format);
                let verified = result(&alice, "verify", order).await;
                assert_eq!(verified, json!({ "valid": valid }), "{algorithm} {bytes:?}");
            }
            let longer = BASE64.encode([&bytes[..], &[0]].concat());
            let members = json!({ "signature": longer, "signatureFormat": format });
            let verified = result(&alice, "verify", with(common.clone(), members)).await;
            assert_eq!(verified, json!({ "valid": false }));
        }
    }
}

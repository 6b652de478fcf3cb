//! `use`, `key_ops` and `alg` of a JWK must allow the use of the new key.

use serde_json::{Value, json};

use super::send;
use testkit::{Answer, World};

/// The P-256 key of RFC 7517, appendix A.2.
fn ec() -> Value {
    json!({
        "kty": "EC", "crv": "P-256",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    })
}

/// The Ed25519 key of RFC 8037, appendix A.2.
fn okp() -> Value {
    json!({
        "kty": "OKP", "crv": "Ed25519",
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    })
}

fn with(mut jwk: Value, members: &Value) -> Value {
    for (name, value) in members.as_object().expect("members") {
        jwk[name] = value.clone();
    }
    jwk
}

fn conflicts(key: &str, members: &[&str], refused: Answer) {
    let fields: Vec<_> = members.iter().map(|name| format!("{key}.{name}")).collect();
    let expected: Vec<_> = fields.iter().map(|field| (&**field, "conflict")).collect();
    refused.invalid(&expected);
}

#[tokio::test]
async fn a_jwk_for_another_use_is_refused() {
    let world = World::new().await;
    let service = world.service("partner").await;
    for (usage, members, fields) in [
        // The default use of an EC key is enc.
        (None, json!({ "use": "sig" }), &["use"][..]),
        (Some("enc"), json!({ "use": "sig" }), &["use"]),
        (Some("sig"), json!({ "use": "enc" }), &["use"]),
        (Some("enc"), json!({ "key_ops": ["sign", "verify"] }), &["key_ops"]),
        (Some("sig"), json!({ "key_ops": ["deriveKey"] }), &["key_ops"]),
        (Some("sig"), json!({ "key_ops": "verify" }), &["key_ops"]),
        (Some("sig"), json!({ "key_ops": [1] }), &["key_ops"]),
        (Some("enc"), json!({ "alg": "ES256" }), &["alg"]),
        (Some("enc"), json!({ "alg": "RSA-OAEP-256" }), &["alg"]),
        (Some("sig"), json!({ "alg": "ES384" }), &["alg"]),
        (Some("sig"), json!({ "alg": "ECDH-ES+A256KW" }), &["alg"]),
        (
            Some("enc"),
            json!({ "use": "sig", "key_ops": ["verify"], "alg": "ES256" }),
            &["alg", "key_ops", "use"],
        ),
    ] {
        let mut body = json!({ "publicKey": with(ec(), &members) });
        if let Some(usage) = usage {
            body["use"] = json!(usage);
        }
        let refused = send(&world, &service, body.clone()).await;
        conflicts("publicKey", fields, refused);
        let mut private = with(ec(), &members);
        private["d"] = json!("870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE");
        body["privateKey"] = private;
        body.as_object_mut().expect("members").remove("publicKey");
        let refused = send(&world, &service, body).await;
        conflicts("privateKey", fields, refused);
    }
    let wrong = json!({ "publicKey": with(ec(), &json!({ "use": 1, "alg": true })) });
    let refused = send(&world, &service, wrong).await;
    refused.invalid(&[("publicKey.use", "type"), ("publicKey.alg", "type")]);
}

#[tokio::test]
async fn a_jwk_for_the_same_use_is_imported() {
    let world = World::new().await;
    for (usage, jwk, members) in [
        ("enc", ec(), json!({ "use": "enc", "alg": "ECDH-ES+A256KW" })),
        ("enc", ec(), json!({ "key_ops": [] })),
        ("enc", ec(), json!({ "key_ops": ["deriveBits"], "use": null })),
        ("sig", ec(), json!({ "use": "sig", "alg": "ES256", "key_ops": ["verify"] })),
        ("sig", okp(), json!({ "use": "sig", "alg": "EdDSA" })),
        ("sig", okp(), json!({ "alg": "Ed25519", "x5t": "ignored" })),
    ] {
        let service = world.service(&members.to_string()).await;
        let body = json!({ "use": usage, "publicKey": with(jwk, &members) });
        let created = send(&world, &service, body).await.created().json();
        assert_eq!(created["use"], usage, "{members}");
    }
}

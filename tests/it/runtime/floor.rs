//! The cryptographic floor: nothing new is made with an algorithm below it, and what exists opens.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use engine::settings::Crypto;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use testkit::{
    Answer, Client, DATA_KEYS, Destination, Exposition, PATIENCE, PROTECT, PROTECT_BATCH, REWRAP,
    REWRAP_BATCH, World, jwe, within,
};

const WEAK_KEY: &str = "The cryptographic floor does not allow RSA-2048: its strength is 112 \
                        bits, and crypto.minimum_strength is 128";

fn minimum(bits: u16) -> Crypto {
    Crypto { minimum_strength: bits, ..Crypto::default() }
}

fn forbidding(names: &[&str]) -> Crypto {
    let forbidden = names.iter().map(|name| (*name).to_owned()).collect();
    Crypto { forbidden, ..Crypto::default() }
}

/// The same client at another instance.
fn at<'w>(world: &'w World, client: &Client<'_>) -> Client<'w> {
    world.client(client.key.as_deref().expect("a key of its own"))
}

/// A refusal with this message.
#[track_caller]
fn refused(answer: Answer, message: &str) {
    assert_eq!(answer.refused(403, "OPERATION_NOT_ALLOWED").message(), message);
}

/// A destination with a key of this algorithm, and an application that protects for it.
async fn arranged<'w>(
    world: &'w World,
    algorithm: &str,
    alg: &str,
) -> (Destination, Client<'w>, Value) {
    let destination = world.destination("destination", algorithm, alg).await;
    let alice = world.application("alice").bound_to(&destination.policy).await;
    let envelope = jwe(&alice.protect(json!(1)).await);
    (destination, alice, envelope)
}

#[tokio::test]
async fn a_weak_key_receives_no_envelope_and_opens_its_own() {
    let world = World::new().await;
    let (_, alice, envelope) = arranged(&world, "RSA-2048", "RSA-OAEP-256").await;
    let strict = world.another_with_floor(minimum(128)).await;
    let alice = at(&strict, &alice);
    for (path, body) in [
        (PROTECT, json!({ "payload": 1 })),
        (REWRAP, json!({ "jwe": envelope })),
        (DATA_KEYS, json!({})),
    ] {
        refused(alice.post(path, body).await, WEAK_KEY);
    }
    for (path, item) in
        [(PROTECT_BATCH, json!({ "payload": 1 })), (REWRAP_BATCH, json!({ "jwe": envelope }))]
    {
        let answer = alice.post(path, json!({ "items": [item] })).await.ok().json();
        assert_eq!(answer["items"][0]["error"]["message"], WEAK_KEY, "{path}");
    }
    assert_eq!(alice.unprotect(&envelope).await.ok().json()["payload"], 1);
}

#[tokio::test]
async fn an_envelope_moves_from_a_weak_key_to_a_strong_one() {
    let world = World::new().await;
    let (_, alice, envelope) = arranged(&world, "RSA-2048", "RSA-OAEP-256").await;
    let target = world.destination("target", "P-256", "ECDH-ES+A256KW").await;
    let strict = world.another_with_floor(minimum(128)).await;
    let alice = at(&strict, &alice);
    let body = json!({ "jwe": envelope, "toPolicyNumber": target.policy });
    let moved = jwe(&alice.post(REWRAP, body).await);
    let body = json!({ "jwe": moved, "policyNumber": target.policy });
    assert_eq!(alice.post(testkit::UNPROTECT, body).await.ok().json()["payload"], 1);
}

#[tokio::test]
async fn the_algorithms_of_a_policy_are_held_to_the_floor() {
    let world = World::new().await;
    let (destination, alice, _) = arranged(&world, "P-256", "ECDH-ES+A128KW").await;
    for (crypto, change, message) in [
        (
            forbidding(&["ECDH-ES+A128KW"]),
            json!({ "alg": "ECDH-ES+A128KW" }),
            "The cryptographic floor does not allow ECDH-ES+A128KW: crypto.forbidden names it",
        ),
        (
            forbidding(&["A128GCM", "SHA-512"]),
            json!({ "alg": "ECDH-ES+A256KW", "enc": "A128GCM" }),
            "The cryptographic floor does not allow A128GCM: crypto.forbidden names it",
        ),
    ] {
        world.change_policy(&destination, change).await;
        let envelope = jwe(&alice.protect(json!(1)).await);
        let strict = world.another_with_floor(crypto).await;
        let alice = at(&strict, &alice);
        refused(alice.protect(json!(1)).await, message);
        alice.unprotect(&envelope).await.ok();
    }
}

#[tokio::test]
async fn approved_only_refuses_sha_1() {
    let world = World::new().await;
    let (_, alice, envelope) = arranged(&world, "RSA-2048", "RSA-OAEP").await;
    let crypto = Crypto { approved_only: true, ..Crypto::default() };
    let strict = world.another_with_floor(crypto).await;
    let alice = at(&strict, &alice);
    let message = "The cryptographic floor does not allow RSA-OAEP: it is not FIPS-approved, and \
                   crypto.approved_only is on";
    refused(alice.protect(json!(1)).await, message);
    alice.unprotect(&envelope).await.ok();
}

#[tokio::test]
async fn no_failure_mode_passes_a_payload_below_the_floor() {
    let world = World::new().await;
    let (destination, alice, _) = arranged(&world, "RSA-2048", "RSA-OAEP-256").await;
    let strict = world.another_with_floor(minimum(128)).await;
    let alice = at(&strict, &alice);
    for mode in ["passthrough", "drop", "error"] {
        let inactive = json!({ "status": "inactive", "failureMode": mode });
        strict.change_policy(&destination, inactive).await;
        refused(alice.protect(json!(1)).await, WEAK_KEY);
    }
    // What the caller may not do is reported before.
    let nobody = json!({ "allowedServiceIds": [destination.service] });
    strict.change_policy(&destination, nobody).await;
    let message = alice.protect(json!(1)).await.refused(403, "OPERATION_NOT_ALLOWED").message();
    assert!(message.contains("policy does not allow"), "{message}");
    // A frozen destination is reported later.
    let somebody = json!({ "allowedServiceIds": ["*"], "status": "active" });
    strict.change_policy(&destination, somebody).await;
    let service = format!("/admin/services/{}", destination.service);
    strict.admin().patch(&service, json!({ "status": "frozen" })).await.ok();
    refused(alice.protect(json!(1)).await, WEAK_KEY);
}

#[tokio::test]
async fn a_weak_data_key_is_refused() {
    let world = World::new().await;
    let (_, alice, _) = arranged(&world, "P-384", "ECDH-ES+A256KW").await;
    let strict = world.another_with_floor(minimum(192)).await;
    let alice = at(&strict, &alice);
    let message = "The cryptographic floor does not allow AES-128: its strength is 128 bits, and \
                   crypto.minimum_strength is 192";
    refused(alice.post(DATA_KEYS, json!({ "algorithm": "AES-128" })).await, message);
    alice.post(DATA_KEYS, json!({ "algorithm": "AES-256" })).await.ok();
}

#[tokio::test]
async fn weak_keys_of_operations_decrypt_and_verify_only() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().expect("a service");
    for (usage, algorithm) in [("data", "AES-128"), ("sig", "P-256")] {
        world.key(&service, usage, algorithm).await;
    }
    let strict = world.another_with_floor(minimum(192)).await;
    let there = at(&strict, &alice);
    let plain = json!({ "data": "x", "algorithm": "AES-128-GCM" });
    let sealed = alice.operate("encrypt", plain.clone()).await.ok().json()["result"].clone();
    let message = "The cryptographic floor does not allow AES-128-GCM: its strength is 128 bits, \
                   and crypto.minimum_strength is 192";
    refused(there.operate("encrypt", plain).await, message);
    let opened = there.operate("decrypt", sealed).await.ok().json();
    assert_eq!(opened["result"]["data"], "x");

    let message = json!({ "data": "x", "algorithm": "ECDSA-SHA256" });
    let mut signed = alice.operate("sign", message.clone()).await.ok().json()["result"].clone();
    let refusal = "The cryptographic floor does not allow ECDSA-SHA256: its strength is 128 bits, \
                   and crypto.minimum_strength is 192";
    refused(there.operate("sign", message).await, refusal);
    signed["data"] = json!("x");
    assert_eq!(there.operate("verify", signed).await.ok().json()["result"]["valid"], true);
}

#[tokio::test]
async fn a_forbidden_key_signs_nothing_with_an_allowed_scheme() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().expect("a service");
    let key = world.key(&service, "sig", "RSA-2048").await;
    let strict = world.another_with_floor(minimum(128)).await;
    let there = at(&strict, &alice);
    let message = json!({ "data": "x", "algorithm": "RSA-PSS-SHA256", "keyId": key });
    let mut signed = alice.operate("sign", message.clone()).await.ok().json()["result"].clone();
    refused(there.operate("sign", message.clone()).await, WEAK_KEY);
    // The latest activation decides without a key ID, also where it is refused.
    let any = json!({ "data": "x", "algorithm": "RSA-PSS-SHA256" });
    refused(there.operate("sign", any).await, WEAK_KEY);
    signed["data"] = json!("x");
    assert_eq!(there.operate("verify", signed).await.ok().json()["result"]["valid"], true);
    // The record names the key.
    let record = world.admin().get("/admin/audit?outcome=refused").await.ok().json();
    assert_eq!(record["items"][0]["key_id"], json!(key));
}

#[tokio::test]
async fn a_forbidden_hash_is_refused() {
    let world = World::with_floor(forbidding(&["SHA-384"])).await;
    let alice = world.application("alice").await;
    let hash = |name: &str| json!({ "data": "x", "algorithm": name });
    let message = "The cryptographic floor does not allow SHA-384: crypto.forbidden names it";
    refused(alice.operate("hash", hash("SHA-384")).await, message);
    alice.operate("hash", hash("SHA-256")).await.ok();
}

#[tokio::test]
async fn no_key_below_the_floor_is_given_to_those_who_seal_themselves() {
    let world = World::new().await;
    let (destination, alice, _) = arranged(&world, "RSA-2048", "RSA-OAEP-256").await;
    let path = format!("/api/v1/policies/{}", destination.policy);
    assert_ne!(alice.get(&path).await.ok().json()["key"], Value::Null);
    let service = format!("/admin/services/{}", destination.service);
    world.admin().patch(&service, json!({ "publishKeys": true })).await.ok();
    let keys = format!("/.well-known/jwks/{}", destination.service);
    let published = world.anonymous().get(&keys).await.ok().json();
    assert_eq!(published["keys"].as_array().map(Vec::len), Some(1));
    let strict = world.another_with_floor(minimum(128)).await;
    refused(at(&strict, &alice).get(&path).await, WEAK_KEY);
    let published = strict.anonymous().get(&keys).await.ok().json();
    assert_eq!(published["keys"], json!([]));
    // Partners would use the published algorithm.
    let strict = world.another_with_floor(forbidding(&["RSA-OAEP-256"])).await;
    let published = strict.anonymous().get(&keys).await.ok().json();
    assert_eq!(published["keys"], json!([]));
}

#[tokio::test]
async fn legacy_uses_are_counted() {
    let world = World::new().await;
    let (_, alice, envelope) = arranged(&world, "RSA-2048", "RSA-OAEP-256").await;
    let strict = world.another_with_floor(minimum(128)).await;
    let alice = at(&strict, &alice);
    for _ in 0..2 {
        alice.unprotect(&envelope).await.ok();
    }
    let mut broken = envelope.clone();
    broken["tag"] = json!("AAAAAAAAAAAAAAAAAAAAAA");
    alice.unprotect(&broken).await.refused(500, "INTERNAL_ERROR");
    let page = metrics(&strict).await;
    let labels = [("operation", "unprotect"), ("algorithm", "RSA-2048")];
    assert!((page.sum("sealward_floor_legacy_uses_total", &labels) - 2.0).abs() < 0.5);
    // Without a floor, no use is one of legacy.
    assert!(metrics(&world).await.sum("sealward_floor_legacy_uses_total", &[]) < 0.5);
}

#[tokio::test]
async fn instances_with_different_floors_see_each_other() {
    let world = World::new().await;
    let strict = world.another_with_floor(minimum(128)).await;
    let differing = async |world: &World, number: f64| {
        let page = metrics(world).await;
        let sum = page.sum("sealward_floor_differing_instances", &[]);
        (sum - number).abs() < 0.5
    };
    let patience = PATIENCE + Duration::from_secs(5);
    within(patience, async || differing(&world, 1.0).await).await;
    within(patience, async || differing(&strict, 1.0).await).await;
    // A third one agrees with the second.
    let other = world.another_with_floor(minimum(128)).await;
    within(patience, async || differing(&world, 2.0).await).await;
    within(patience, async || differing(&other, 1.0).await).await;
}

async fn metrics(world: &World) -> Exposition {
    let request = Request::get("/metrics").body(Body::empty()).unwrap();
    let page = world.metrics(None).await.oneshot(request).await.unwrap();
    Exposition::parse(&Answer::of(page).await.ok().body)
}

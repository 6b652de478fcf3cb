//! Expired keys.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use serde_json::json;

use testkit::World;

const HOUR: Duration = Duration::from_secs(60 * 60);

#[tokio::test]
async fn an_expired_key_does_not_encrypt_or_sign() {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    let destination = world.destination("partner", "P-256", "ECDH-ES+A256KW").await;
    let alice = world.application("alice").bound_to(&destination.policy).await;
    let own = alice.service.clone().expect("a service");
    let sealing = world.key(&own, "data", "AES-256").await;
    let signing = world.key(&own, "sig", "Ed25519").await;
    let soon = world.clock.now().plus(HOUR).to_string();
    for key in [&destination.key, &sealing, &signing] {
        let payload = json!({ "expiresAt": soon });
        let path = format!("/admin/keys/{key}");
        world.admin().put(&path, payload).await.ok();
    }
    let encrypt = json!({ "data": "x", "algorithm": "AES-256-GCM" });
    let sign = json!({ "data": "x", "algorithm": "Ed25519" });
    let jwe = alice.protect(json!(1)).await.ok().json()["jwe"].clone();
    let sealed = alice.operate("encrypt", encrypt.clone()).await.ok().json()["result"].clone();
    let mut signed = alice.operate("sign", sign.clone()).await.ok().json()["result"].clone();
    signed["data"] = json!("x");

    world.clock.advance(HOUR);
    let refused = alice.protect(json!(1)).await;
    refused.refused(500, "DESTINATION_KEY_NOT_FOUND");
    for (operation, payload, key) in [("encrypt", encrypt, &sealing), ("sign", sign, &signing)] {
        let by_default = alice.operate(operation, payload.clone()).await;
        by_default.refused(404, "KEY_NOT_FOUND");
        let mut named = payload;
        named["keyId"] = json!(key);
        let refused = alice.operate(operation, named).await;
        let refused = refused.refused(403, "OPERATION_NOT_ALLOWED");
        assert!(refused.message().contains("expired"), "{}", refused.message());
    }
    alice.unprotect(&jwe).await.ok();
    alice.operate("decrypt", sealed).await.ok();
    let verified = alice.operate("verify", signed).await.ok().json();
    assert_eq!(verified["result"]["valid"], json!(true), "{verified}");
    let path = format!("/admin/keys/{signing}");
    let shown = world.admin().get(&path).await.ok().json();
    assert_eq!(shown["status"], "active", "expiry changes no status");

    // The new key replaces the expired one.
    let younger = world.key(&own, "sig", "Ed25519").await;
    let payload = json!({ "data": "x", "algorithm": "Ed25519" });
    let created = alice.operate("sign", payload).await.ok().json();
    assert_eq!(created["result"]["keyId"], json!(younger));
}

/// A partner that reads them again stops to use an expired key. Signatures stay verifiable.
#[tokio::test]
async fn an_expired_envelope_key_is_not_published() {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    let service = world.service("partner").await;
    let admin = world.admin();
    admin.patch(&format!("/admin/services/{service}"), json!({ "publishKeys": true })).await.ok();
    let sealing = world.key(&service, "enc", "P-256").await;
    let signing = world.key(&service, "sig", "Ed25519").await;
    let soon = world.clock.now().plus(HOUR).to_string();
    for key in [&sealing, &signing] {
        admin.put(&format!("/admin/keys/{key}"), json!({ "expiresAt": soon })).await.ok();
    }
    let published = async || {
        let jwks = world.anonymous().get(&format!("/.well-known/jwks/{service}")).await.ok();
        let keys = jwks.json()["keys"].as_array().expect("keys").clone();
        let kids = keys.iter().map(|key| key["kid"].as_str().expect("a kid").to_owned());
        kids.collect::<BTreeSet<_>>()
    };
    assert_eq!(published().await, BTreeSet::from([sealing, signing.clone()]));
    world.clock.advance(HOUR);
    assert_eq!(published().await, BTreeSet::from([signing]));
}

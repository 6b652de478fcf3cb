//! `GET /api/v1/caller` and `GET /api/v1/policies/{policyNumber}`.

use std::time::Duration;

use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use serde_json::{Value, json};

use testkit::{World, jwe};

const CALLER: &str = "/api/v1/caller";

#[tokio::test]
async fn a_caller_can_read_its_identity() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .with("allowedOperations", json!(["protect", "sign"]))
        .await;
    let found = alice.get(CALLER).await.ok().json();
    let id = found["credential"]["id"].as_str().unwrap();
    assert!(id.starts_with("ak_"), "{id}");
    assert_eq!(
        found,
        json!({
            "serviceId": alice.service,
            "credential": { "type": "api_key", "id": id },
            "policyNumber": destination.policy,
            "allowedOperations": ["protect", "sign"],
            "rateLimit": { "requestsPerSecond": 100, "burst": 200 },
        })
    );

    let bob = world.application("bob").await;
    let found = bob.get(CALLER).await.ok().json();
    assert_eq!((&found["policyNumber"], &found["allowedOperations"]), (&Value::Null, &Value::Null));
    world.admin().get(CALLER).await.refused(403, "FORBIDDEN");
}

#[tokio::test]
async fn a_policy_names_the_key_of_new_envelopes() {
    let world = World::new().await;
    for (algorithm, alg) in [("P-256", "ECDH-ES+A256KW"), ("RSA-2048", "RSA-OAEP-256")] {
        let destination = world.destination(algorithm, algorithm, alg).await;
        let alice = world.application(alg).bound_to(&destination.policy).await;
        let path = format!("/api/v1/policies/{}", destination.policy);
        let found = alice.get(&path).await.ok().json();
        let admin = world.admin();
        let key = admin.get(&format!("/admin/keys/{}", destination.key)).await;
        let mut public = key.ok().json()["publicKey"].clone();
        public["kid"] = json!(destination.key);
        public["use"] = json!("enc");
        public["alg"] = json!(alg);
        assert_eq!(
            found,
            json!({
                "id": destination.policy_id,
                "policyNumber": destination.policy,
                "status": "active",
                "failureMode": "error",
                "keyOwnership": "service_managed",
                "alg": alg,
                "enc": "A256GCM",
                "contextRequired": false,
                "requireBinding": false,
                "headers": null,
                "key": public,
            })
        );

        let change = json!({ "status": "inactive", "contextRequired": true });
        world.change_policy(&destination, change).await;
        let expired = json!({ "status": "retired" });
        world.change_key(&destination.key, expired).await;
        let found = alice.get(&path).await.ok().json();
        assert_eq!(
            (&found["status"], &found["contextRequired"], &found["key"]),
            (&json!("inactive"), &json!(true), &Value::Null)
        );
    }
}

#[tokio::test]
async fn only_callers_that_can_protect_can_read_a_policy() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let path = format!("/api/v1/policies/{}", destination.policy);
    let alice = world.application("alice").await;
    alice.get(&path).await.ok();
    for unknown in ["POL-999999", "a%20b", "%ff", &"A".repeat(65)] {
        let missing = alice.get(&format!("/api/v1/policies/{unknown}")).await;
        missing.refused(404, "POLICY_NOT_FOUND");
    }
    let signer =
        world.application("signer").with("allowedOperations", json!(["sign", "unprotect"])).await;
    signer.get(&path).await.refused(403, "OPERATION_NOT_ALLOWED");
    world.admin().get(&path).await.refused(403, "FORBIDDEN");
    let anonymous = world.anonymous().get(&path).await;
    anonymous.refused(401, "AUTHENTICATION_FAILED");

    let change = json!({ "allowedOperations": ["unprotect"] });
    world.change_policy(&destination, change).await;
    alice.get(&path).await.refused(403, "OPERATION_NOT_ALLOWED");
    let change = json!({
        "allowedOperations": ["protect"], "allowedServiceIds": [destination.service],
    });
    world.change_policy(&destination, change).await;
    alice.get(&path).await.refused(403, "OPERATION_NOT_ALLOWED");
}

#[tokio::test]
async fn lookups_count_in_the_rate_limit_and_are_not_audited() {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock.clone(), Stage::Development).await;
    let (destination, alice) = world.bound_application().await;
    let path = format!("/api/v1/policies/{}", destination.policy);
    for look_up in (0..200).map(|n| if n % 2 == 0 { CALLER } else { &path }) {
        alice.get(look_up).await.ok();
    }
    let limited = alice.get(CALLER).await;
    let limited = limited.refused(429, "RATE_LIMIT_EXCEEDED");
    assert_eq!(limited.header("x-ratelimit-remaining"), "0");
    assert_eq!(limited.header("retry-after"), "1");
    let limited = alice.get(&path).await;
    limited.refused(429, "RATE_LIMIT_EXCEEDED");

    clock.advance(Duration::from_secs(1));
    jwe(&alice.protect(json!(1)).await);
    let records = world.admin().get("/admin/audit").await.ok().json();
    assert_eq!(records["items"].as_array().unwrap().len(), 1, "{records}");
}

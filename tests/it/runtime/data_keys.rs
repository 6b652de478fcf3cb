//! `/data-keys`: keys with which applications encrypt large data themselves.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use super::binding::policy;
use testkit::{DATA_KEYS, UNPROTECT, World, jwe};

#[tokio::test]
async fn the_envelope_of_a_data_key_opens_to_the_key() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    for (algorithm, bytes) in [(None, 32), (Some("AES-256"), 32), (Some("AES-128"), 16)] {
        let made = alice.post(DATA_KEYS, json!({ "algorithm": algorithm })).await.ok();
        let answer = made.json();
        assert_eq!(answer["requestId"].as_str(), Some(made.header("x-request-id")));
        assert_eq!(answer["algorithm"], algorithm.unwrap_or("AES-256"));
        let key = BASE64_STANDARD.decode(made.text("key")).unwrap();
        assert_eq!(key.len(), bytes);
        let opened = alice.unprotect(&jwe(&made)).await.ok();
        assert_eq!(opened.json()["payload"], answer["key"]);
        let again = alice.post(DATA_KEYS, json!({ "algorithm": algorithm })).await;
        assert_ne!(again.text("key"), made.text("key"));
    }
    let context = json!({ "file": "backup.tar" });
    let body = json!({ "plaintext": false, "context": context });
    let made = alice.post(DATA_KEYS, body).await.ok();
    let answer = made.json();
    let names: Vec<_> = answer.as_object().unwrap().keys().collect();
    assert_eq!(names, ["algorithm", "jwe", "requestId"]);
    let body = json!({ "jwe": jwe(&made), "context": context });
    let opened = alice.post(UNPROTECT, body).await.ok();
    let key = BASE64_STANDARD.decode(opened.text("payload")).unwrap();
    assert_eq!(key.len(), 32);
}

#[tokio::test]
async fn a_data_key_is_recorded_as_an_encryption() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let made = alice.post(DATA_KEYS, json!({})).await.ok();
    let sql = "SELECT audit::text FROM crypto_operations_audit AS audit";
    let rows: Vec<String> = sqlx::query_scalar(sql).fetch_all(&world.pool).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert!(!rows[0].contains(&made.text("key")), "{rows:?}");
    let listed = world.admin().get("/admin/audit").await.ok().json();
    let record = &listed["items"][0];
    assert_eq!(record["endpoint"], DATA_KEYS);
    assert_eq!(record["operation_type"], "encrypt");
    assert_eq!(record["key_id"], destination.key);
    assert_eq!(record["policy_number"], destination.policy);
}

#[tokio::test]
async fn a_data_key_needs_protect_under_an_active_policy() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let application = world.application("bob").bound_to(&destination.policy);
    let bob = application.with("allowedOperations", json!(["unprotect"])).await;
    let refused = bob.post(DATA_KEYS, json!({})).await;
    refused.refused(403, "OPERATION_NOT_ALLOWED");
    let carol = world.application("carol").await;
    carol.post(DATA_KEYS, json!({})).await.invalid(&[("policyNumber", "required")]);
    let refused = carol.post(DATA_KEYS, json!({ "policyNumber": "POL-404" })).await;
    refused.refused(404, "POLICY_NOT_FOUND");
    let body = json!({ "algorithm": "AES-512", "plaintext": "no", "payload": 1 });
    let expected = [("algorithm", "unsupported"), ("plaintext", "type"), ("payload", "unknown")];
    alice.post(DATA_KEYS, body).await.invalid(&expected);

    let held = json!({ "keyOwnership": "destination_managed" });
    let held = policy(&world, &destination, held).await;
    let body = json!({ "policyNumber": held.policy, "context": { "file": "1" } });
    alice.post(DATA_KEYS, body).await.invalid(&[("context", "unsupported")]);
    let body = json!({ "policyNumber": held.policy });
    alice.post(DATA_KEYS, body).await.ok();

    world.change_policy(&destination, json!({ "contextRequired": true })).await;
    alice.post(DATA_KEYS, json!({})).await.invalid(&[("context", "required")]);
    for failure_mode in ["error", "passthrough", "drop"] {
        let change = json!({ "status": "inactive", "failureMode": failure_mode });
        world.change_policy(&destination, change).await;
        let body = json!({ "context": { "file": "1" } });
        alice.post(DATA_KEYS, body).await.refused(403, "POLICY_NOT_ACTIVE");
    }
}

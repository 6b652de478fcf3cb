//! `/protect`: the state table of the interface, and the choice of policy and key.

use serde_json::json;

use testkit::{World, jwe};

#[tokio::test]
async fn an_active_policy_returns_an_envelope() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    for failure_mode in ["error", "passthrough", "drop"] {
        world.change_policy(&destination, json!({ "failureMode": failure_mode })).await;
        let alice = alice.clone().with("x-request-id", "my own name");
        let answer = alice.protect(json!({ "card": "4111" })).await.ok();
        let json = answer.json();
        assert_eq!(json["requestId"], "my own name");
        assert_eq!(json["messageType"], "ProtectedPayload");
        assert_eq!(json["operations"], json!(["encrypt"]));
        let members: Vec<_> = json["jwe"].as_object().unwrap().keys().collect();
        assert_eq!(members, ["ciphertext", "encrypted_key", "iv", "protected", "tag"]);
        assert!(json["jwe"].as_object().unwrap().values().all(|member| member.is_string()));
        assert_eq!(json.as_object().unwrap().len(), 4, "{json}");
        assert!(!answer.body.contains("4111"));
    }
}

#[tokio::test]
async fn an_inactive_policy_applies_its_failure_mode() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let payload = json!({ "n": 1 });

    world.change_policy(&destination, json!({ "status": "inactive" })).await;
    alice.protect(payload.clone()).await.refused(403, "POLICY_NOT_ACTIVE");

    world.change_policy(&destination, json!({ "failureMode": "passthrough" })).await;
    let passed = alice.protect(payload.clone()).await.ok().json();
    assert_eq!(passed["messageType"], "ProtectedPayload");
    assert_eq!(passed["operations"], json!([]));
    assert_eq!(passed["payload"], payload);
    assert!(passed["warning"].as_str().unwrap().contains("not active"));
    assert_eq!(passed.as_object().unwrap().len(), 5, "{passed}");

    world.change_policy(&destination, json!({ "failureMode": "drop" })).await;
    let dropped = alice.protect(payload).await.ok().json();
    assert_eq!(dropped["messageType"], "ProtectedPayload");
    assert_eq!(dropped["operations"], json!([]));
    assert_eq!(dropped["dropped"], true);
    assert!(dropped["message"].as_str().unwrap().contains("not active"));
    assert_eq!(dropped.as_object().unwrap().len(), 5, "{dropped}");

    world.change_policy(&destination, json!({ "status": "active" })).await;
    jwe(&alice.protect(json!(null)).await);
}

#[tokio::test]
async fn a_named_policy_overrides_the_bound_one() {
    let world = World::new().await;
    let bound = world.some_destination().await;
    let named = world.destination("named", "P-256", "ECDH-ES+A128KW").await;
    let alice = world.application("alice").bound_to(&bound.policy).await;
    let kid = |answer: &testkit::Answer| {
        use base64::Engine as _;
        let protected = jwe(answer)["protected"].as_str().unwrap().to_owned();
        let header = base64::prelude::BASE64_URL_SAFE_NO_PAD.decode(protected).unwrap();
        let header: serde_json::Value = serde_json::from_slice(&header).unwrap();
        header["kid"].as_str().unwrap().to_owned()
    };
    assert_eq!(kid(&alice.protect(json!(1)).await), bound.key);
    assert_eq!(kid(&alice.protect_under(&named.policy, json!(1)).await), named.key);
}

#[tokio::test]
async fn a_policy_must_be_named_and_exist() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    alice.protect(json!(1)).await.invalid(&[("policyNumber", "required")]);
    alice.protect_under("POL-none", json!(1)).await.refused(404, "POLICY_NOT_FOUND");
    alice.protect_under("no number at all", json!(1)).await.refused(404, "POLICY_NOT_FOUND");
}

#[tokio::test]
async fn protect_requires_an_active_key() {
    let world = World::new().await;
    let service = world.service("keyless").await;
    let policy = world.policy(&service).await;
    let alice = world.application("alice").bound_to(&policy).await;
    alice.protect(json!(1)).await.refused(500, "DESTINATION_KEY_NOT_FOUND");

    // A key of the other family is not used.
    world.key(&service, "enc", "P-256").await;
    alice.protect(json!(1)).await.refused(500, "DESTINATION_KEY_NOT_FOUND");

    let key = world.key(&service, "enc", "RSA-2048").await;
    jwe(&alice.protect(json!(1)).await);
    for status in ["retired", "disabled"] {
        world.change_key(&key, json!({ "status": status })).await;
        alice.protect(json!(1)).await.refused(500, "DESTINATION_KEY_NOT_FOUND");
    }
}

//! `/rewrap`: a new envelope with the same payload, which is not returned.

mod permissions;

use axum::http::Method;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use serde_json::{Value, json};

use super::binding::policy;
use super::uniform::{envelope_for, seen};
use testkit::{Answer, Client, Destination, PROTECT, REWRAP, UNPROTECT, World, header_of, jwe};

async fn rewrap(client: &Client<'_>, members: Value) -> Answer {
    client.post(REWRAP, members).await
}

/// Operation, status, policy, key, code and outcome of each record.
type Row = (String, i16, Option<String>, Option<String>, Option<String>, String);

async fn records(world: &World) -> Vec<Row> {
    let path = "/admin/audit?limit=200";
    let listed = world.admin().get(path).await.ok().json();
    let items = listed["items"].as_array().unwrap();
    let of_rewrap = items.iter().filter(|item| item["endpoint"] == REWRAP);
    let text = |item: &Value, name: &str| item[name].as_str().map(str::to_owned);
    let mut rows: Vec<Row> = of_rewrap
        .map(|item| {
            (
                text(item, "operation_type").unwrap(),
                i16::try_from(item["response_status"].as_i64().unwrap()).unwrap(),
                text(item, "policy_number"),
                text(item, "key_id"),
                text(item, "error_code"),
                text(item, "outcome").unwrap(),
            )
        })
        .collect();
    rows.sort();
    rows
}

fn row(operation: &str, status: i16, policy: &str, key: Option<&str>, code: Option<&str>) -> Row {
    let outcome = match status {
        200 => "done",
        500.. => "failed",
        _ => "refused",
    };
    (
        operation.to_owned(),
        status,
        Some(policy.to_owned()),
        key.map(str::to_owned),
        code.map(str::to_owned),
        outcome.to_owned(),
    )
}

#[tokio::test]
async fn an_envelope_moves_to_the_newest_key_and_keeps_its_payload() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let body = r#"{"payload":{"z": 1.0,"a":"\u0041", "n":123456789012345678901234567890}}"#;
    let sealed = alice.send_text(Method::POST, PROTECT, body).await;
    let old = jwe(&sealed);
    let newer = world.key(&destination.service, "enc", "P-256").await;

    let answer = rewrap(&alice, sealed.json()).await.ok();
    let json = answer.json();
    assert_eq!(json["messageType"], "ProtectedPayload");
    assert_eq!(json["operations"], json!(["decrypt", "encrypt"]));
    assert_eq!(json["requestId"].as_str(), Some(answer.header("x-request-id")));
    assert_eq!(json.as_object().unwrap().len(), 4, "{json}");
    let new = jwe(&answer);
    assert_eq!(header_of(&old)["kid"], destination.key);
    assert_eq!(header_of(&new)["kid"], newer);
    assert_eq!(header_of(&new)["pol"], destination.policy_id);
    let opened = alice.unprotect(&new).await.ok().body;
    let expected = r#""payload":{"z": 1.0,"a":"\u0041", "n":123456789012345678901234567890}}"#;
    assert!(opened.ends_with(expected), "{opened}");
    let expected = [
        row("decrypt", 200, &destination.policy, Some(&destination.key), None),
        row("encrypt", 200, &destination.policy, Some(&newer), None),
    ];
    assert_eq!(records(&world).await, expected);

    // The legacy form, and an envelope of another program without `kid` and `pol`.
    let legacy = BASE64URL.encode(old.to_string());
    let created = rewrap(&alice, json!({ "protectedPayload": legacy })).await;
    alice.unprotect(&jwe(&created)).await.ok();
    let current = Destination { key: newer, ..destination };
    let foreign = envelope_for(&world, &current, |header| {
        header.as_object_mut().unwrap().remove("kid");
    });
    let created = rewrap(&alice, json!({ "jwe": foreign.await })).await;
    assert_eq!(header_of(&jwe(&created))["kid"], current.key);
}

#[tokio::test]
async fn the_new_envelope_has_the_new_context_or_the_old_one() {
    let world = World::new().await;
    let one = world.some_destination().await;
    let alice = world.application("alice").bound_to(&one.policy).await;
    let (old, new) = (json!({ "tenant": "acme" }), json!({ "tenant": "evil" }));
    let body = json!({ "payload": "secret", "context": old });
    let sealed = jwe(&alice.post(PROTECT, body).await);
    let opens = async |envelope: &Value, context: &Value| {
        let body = json!({ "jwe": envelope, "context": context });
        alice.post(UNPROTECT, body).await.status == 200
    };

    let kept = jwe(&rewrap(&alice, json!({ "jwe": sealed, "context": old })).await);
    assert!(opens(&kept, &old).await);
    assert_ne!(header_of(&kept)["ctx"], header_of(&sealed)["ctx"]);
    let body = json!({ "jwe": sealed, "context": old, "toContext": new });
    let changed = jwe(&rewrap(&alice, body).await);
    assert!(opens(&changed, &new).await && !opens(&changed, &old).await);
    let body = json!({ "jwe": sealed, "context": new, "toContext": old });
    let refused = rewrap(&alice, body).await;
    refused.refused(500, "INTERNAL_ERROR");

    let free = jwe(&alice.protect(json!(1)).await);
    world.change_policy(&one, json!({ "contextRequired": true })).await;
    let refused = rewrap(&alice, json!({ "jwe": free })).await;
    refused.invalid(&[("toContext", "required")]);
    let bound = rewrap(&alice, json!({ "jwe": free, "toContext": new })).await;
    assert!(opens(&jwe(&bound), &new).await);
}

#[tokio::test]
async fn rewrap_alone_changes_a_context_that_it_knows() {
    let world = World::new().await;
    let one = world.some_destination().await;
    let alice = world.application("alice").bound_to(&one.policy).await;
    let rewrapper = world.application("rewrapper").bound_to(&one.policy);
    let rewrapper = rewrapper.with("allowedOperations", json!(["rewrap"]));
    let rewrapper = rewrapper.await;
    let (old, new) = (json!({ "tenant": "acme" }), json!({ "tenant": "other" }));
    let sealed = alice.post(PROTECT, json!({ "payload": 1, "context": old }));
    let sealed = jwe(&sealed.await);
    for context in [json!(null), new.clone()] {
        let body = json!({ "jwe": sealed, "context": context, "toContext": new });
        let refused = rewrap(&rewrapper, body).await;
        refused.refused(500, "INTERNAL_ERROR");
    }
    let body = json!({ "jwe": sealed, "context": old, "toContext": new });
    let changed = jwe(&rewrap(&rewrapper, body).await);
    let opening = json!({ "jwe": changed, "context": new });
    let opened = alice.post(UNPROTECT, opening).await.ok();
    assert_eq!(opened.json()["payload"], 1);
}

#[tokio::test]
async fn a_destination_that_holds_its_key_can_be_the_target_and_not_the_source() {
    let world = World::new().await;
    let one = world.some_destination().await;
    let change = json!({ "keyOwnership": "destination_managed" });
    let held = policy(&world, &one, change).await;
    let alice = world.application("alice").bound_to(&one.policy).await;
    let context = json!({ "tenant": "acme" });
    let body = json!({ "payload": "secret", "context": context });
    let sealed = jwe(&alice.post(PROTECT, body).await);
    let mut body = json!({ "jwe": sealed, "context": context, "toPolicyNumber": held.policy });
    let created = header_of(&jwe(&rewrap(&alice, body.clone()).await));
    assert_eq!((&created["pol"], &created["ctx"]), (&Value::Null, &Value::Null));
    body["toContext"] = context;
    let refused = rewrap(&alice, body).await;
    refused.invalid(&[("toContext", "unsupported")]);
    let body = json!({ "jwe": sealed, "policyNumber": held.policy, "toPolicyNumber": one.policy });
    let refused = rewrap(&alice, body).await;
    refused.refused(400, "UNPROTECT_NOT_AVAILABLE");
}

#[tokio::test]
async fn an_inactive_policy_is_refused_as_target_in_every_failure_mode() {
    let world = World::new().await;
    let one = world.some_destination().await;
    let other = policy(&world, &one, json!({})).await;
    let alice = world.application("alice").bound_to(&one.policy).await;
    let sealed = jwe(&alice.protect(json!(1)).await);
    for failure_mode in ["error", "passthrough", "drop"] {
        let change = json!({ "status": "inactive", "failureMode": failure_mode });
        world.change_policy(&one, change).await;
        let refused = rewrap(&alice, json!({ "jwe": sealed })).await;
        refused.refused(403, "POLICY_NOT_ACTIVE");
        // Its envelopes stay readable, so they can be rewrapped.
        let body = json!({ "jwe": sealed, "toPolicyNumber": other.policy });
        rewrap(&alice, body).await.ok();
    }
}

#[tokio::test]
async fn rewrap_refuses_the_same_envelopes_as_unprotect() {
    let world = World::new().await;
    let one = world.some_destination().await;
    let alice = world.application("alice").bound_to(&one.policy).await;
    let alice = alice.with("x-request-id", "always the same");
    let sealed = jwe(&alice.protect(json!(1)).await);
    let mut damaged = sealed.clone();
    damaged["tag"] = json!("AAAAAAAAAAAAAAAAAAAAAA");
    let mut short = sealed.clone();
    short.as_object_mut().unwrap().remove("iv");
    let bodies = [
        json!({ "jwe": damaged }),
        json!({ "jwe": sealed, "context": { "tenant": "acme" } }),
        json!({ "jwe": short }),
        json!({ "jwe": sealed, "protectedPayload": "e30" }),
        json!({ "protectedPayload": "e30" }),
        json!({}),
        json!({ "jwe": sealed, "policyNumber": "POL-404" }),
        json!({ "jwe": sealed, "context": { "tenant": 1 } }),
        json!([]),
    ];
    for body in bodies {
        let expected = alice.post(UNPROTECT, body.clone()).await;
        let found = rewrap(&alice, body.clone()).await;
        assert_eq!(seen(&found), seen(&expected), "{body}");
        assert_ne!(found.status, 200);
    }
    let refused = rewrap(&alice, json!({ "jwe": sealed, "toPolicy": "POL-000001" })).await;
    refused.invalid(&[("toPolicy", "unknown")]);
    let body = json!({ "jwe": sealed, "toPolicyNumber": "POL-404" });
    rewrap(&alice, body).await.refused(404, "POLICY_NOT_FOUND");
    let body = json!({ "jwe": sealed, "toContext": { "tenant": 1 } });
    rewrap(&alice, body).await.invalid(&[("toContext.tenant", "type")]);
}

#[tokio::test]
async fn a_refused_or_failed_rewrap_has_two_records() {
    let world = World::new().await;
    let one = world.some_destination().await;
    let (number, key) = (one.policy.clone(), one.key.clone());
    let alice = world.application("alice").bound_to(&number).await;
    let mut sealed = jwe(&alice.protect(json!(1)).await);
    let body = json!({ "jwe": sealed, "policyNumber": number, "toPolicyNumber": "POL-404" });
    rewrap(&alice, body).await.refused(404, "POLICY_NOT_FOUND");
    let code = Some("POLICY_NOT_FOUND");
    let expected =
        [row("decrypt", 404, &number, None, code), row("encrypt", 404, "POL-404", None, code)];
    assert_eq!(records(&world).await, expected);
    sealed["tag"] = json!("AAAAAAAAAAAAAAAAAAAAAA");
    let body = json!({ "jwe": sealed });
    rewrap(&alice, body).await.refused(500, "INTERNAL_ERROR");
    let code = Some("INTERNAL_ERROR");
    let found = records(&world).await;
    for operation in ["decrypt", "encrypt"] {
        assert!(found.contains(&row(operation, 500, &number, Some(&key), code)), "{found:?}");
    }
    alice.send_text(Method::POST, REWRAP, "{").await.refused(400, "INVALID_REQUEST");
    assert_eq!(records(&world).await.len(), 6);
}

#[tokio::test]
async fn the_database_never_holds_the_payload() {
    let world = World::new().await;
    let one = world.some_destination().await;
    let alice = world.application("alice").bound_to(&one.policy).await;
    let sealed = jwe(&alice.protect(json!("a plaintext of its own")).await);
    rewrap(&alice, json!({ "jwe": sealed })).await.ok();
    let sql = "SELECT audit::text FROM crypto_operations_audit AS audit";
    let rows: Vec<String> = sqlx::query_scalar(sql).fetch_all(&world.pool).await.unwrap();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| !row.contains("a plaintext")), "{rows:?}");
}

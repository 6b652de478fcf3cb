//! The context of an envelope.

use axum::http::Method;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use serde_json::{Value, json};

use super::binding::header;
use super::uniform::{envelope_for, seen};
use testkit::{Answer, Client, PROTECT, UNPROTECT, World, jwe};

async fn protect(client: &Client<'_>, context: Value) -> Answer {
    let body = json!({ "payload": "secret", "context": context });
    client.post(PROTECT, body).await
}

async fn unprotect(client: &Client<'_>, envelope: &Value, context: Value) -> Answer {
    let body = json!({ "jwe": envelope, "context": context });
    client.post(UNPROTECT, body).await
}

fn acme() -> Value {
    json!({ "tenant": "acme", "record": "4711" })
}

#[tokio::test]
async fn an_envelope_opens_with_its_context_alone() {
    let world = World::new().await;
    for (algorithm, alg) in [("P-256", "ECDH-ES+A256KW"), ("RSA-2048", "RSA-OAEP-256")] {
        let destination = world.destination(algorithm, algorithm, alg).await;
        let alice = world.application(alg).bound_to(&destination.policy).await;
        let alice = alice.with("x-request-id", "always the same");
        let bound = jwe(&protect(&alice, acme()).await);
        let free = jwe(&alice.protect(json!("secret")).await);

        let opened = unprotect(&alice, &bound, acme()).await.ok();
        assert_eq!(opened.json()["payload"], "secret");
        // The order of members and the escapes of a string do not matter.
        let body =
            format!(r#"{{"jwe":{bound},"context":{{"record":"47\u00311", "tenant" : "acme"}}}}"#);
        alice.send_text(Method::POST, UNPROTECT, &body).await.ok();
        let legacy = BASE64URL.encode(bound.to_string());
        let body = json!({ "protectedPayload": legacy, "context": acme() });
        alice.post(UNPROTECT, body).await.ok();
        alice.unprotect(&free).await.ok();

        let mut damaged = bound.clone();
        damaged["tag"] = json!("AAAAAAAAAAAAAAAAAAAAAA");
        let reference = unprotect(&alice, &damaged, acme()).await;
        let reference = seen(&reference.refused(500, "INTERNAL_ERROR"));
        let mut wrong = vec![
            (&bound, json!({ "tenant": "acme", "record": "4712" })),
            (&bound, json!({ "tenant": "acme" })),
            (&bound, json!({ "tenant": "acme", "Record": "4711" })),
            (&free, acme()),
        ];
        wrong.push((&bound, json!({ "tenant": "acme", "record": "4711", "x": "" })));
        for (envelope, context) in wrong {
            let answer = unprotect(&alice, envelope, context.clone()).await;
            assert_eq!(seen(&answer), reference, "{context}");
        }
        assert_eq!(seen(&alice.unprotect(&bound).await), reference, "missing");
    }
}

#[tokio::test]
async fn ctx_differs_between_envelopes_of_one_context() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let mut found = Vec::new();
    for _ in 0..2 {
        let created = header(&jwe(&protect(&alice, acme()).await));
        assert!(!created.contains("acme"), "{created}");
        let created: Value = serde_json::from_str(&created).unwrap();
        let ctx = created["ctx"].as_str().unwrap().to_owned();
        assert_eq!(BASE64URL.decode(&ctx).unwrap().len(), 32);
        let names: Vec<_> = created.as_object().unwrap().keys().cloned().collect();
        assert_eq!(names, ["alg", "ctx", "cty", "enc", "epk", "kid", "pol"]);
        found.push(ctx);
    }
    assert_ne!(found[0], found[1]);
}

#[tokio::test]
async fn an_unknown_ctx_matches_no_context() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    for ctx in ["", "a text", &"A".repeat(43)] {
        let envelope = envelope_for(&world, &destination, |header| header["ctx"] = json!(ctx));
        let envelope = envelope.await;
        alice.unprotect(&envelope).await.refused(500, "INTERNAL_ERROR");
        unprotect(&alice, &envelope, acme()).await.refused(500, "INTERNAL_ERROR");
    }
}

#[tokio::test]
async fn contexts_have_limits() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let of = |count: usize| -> Value {
        (0..count)
            .map(|number| (number.to_string(), json!("")))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let long = |length: usize| json!({ "a": "x".repeat(length) });
    for context in [of(1), of(32), long(4_088)] {
        let envelope = jwe(&protect(&alice, context.clone()).await);
        unprotect(&alice, &envelope, context).await.ok();
    }
    let envelope = jwe(&alice.protect(json!(1)).await);
    for (context, field, code) in [
        (of(0), "context", "length"),
        (of(33), "context", "length"),
        (long(4_089), "context", "length"),
        (json!([]), "context", "type"),
        (json!("acme"), "context", "type"),
        (json!({ "a": 1 }), "context.a", "type"),
        (json!({ "a": {} }), "context.a", "type"),
        (json!({ "a": "\u{0}" }), "context.a", "format"),
    ] {
        let expected = [(field, code)];
        protect(&alice, context.clone()).await.invalid(&expected);
        unprotect(&alice, &envelope, context).await.invalid(&expected);
    }
    let twice = r#""context":{"a":"1","\u0061":"1"}"#;
    for (path, body) in [
        (PROTECT, format!(r#"{{"payload":1,{twice}}}"#)),
        (UNPROTECT, format!(r#"{{"jwe":{envelope},{twice}}}"#)),
    ] {
        let answer = alice.send_text(Method::POST, path, &body).await;
        answer.invalid(&[("context.a", "conflict")]);
    }
}

#[tokio::test]
async fn a_policy_can_require_a_context() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let before = jwe(&alice.protect(json!(1)).await);
    let change = json!({ "contextRequired": true });
    world.change_policy(&destination, change).await;
    let missing = [("context", "required")];
    alice.protect(json!(1)).await.invalid(&missing);
    jwe(&protect(&alice, acme()).await);
    // The rule applies only to sealing.
    alice.unprotect(&before).await.ok();
    // The context is checked after the permission and before the state of the policy.
    let change = json!({ "status": "inactive" });
    world.change_policy(&destination, change).await;
    alice.protect(json!(1)).await.invalid(&missing);
    protect(&alice, acme()).await.refused(403, "POLICY_NOT_ACTIVE");
    let change = json!({ "allowedOperations": ["unprotect"] });
    world.change_policy(&destination, change).await;
    alice.protect(json!(1)).await.refused(403, "OPERATION_NOT_ALLOWED");
}

#[tokio::test]
async fn a_destination_that_holds_the_key_has_neither_context_nor_binding() {
    let world = World::new().await;
    let (destination, alice) = world.bound_application().await;
    let path = format!("/admin/policies/{}", destination.policy_id);
    let both = json!({ "contextRequired": true, "requireBinding": true });
    world.change_policy(&destination, both.clone()).await;
    let managed = json!({ "keyOwnership": "destination_managed" });
    let expected = [("contextRequired", "unsupported"), ("requireBinding", "unsupported")];
    let changed = world.admin().put(&path, managed.clone()).await;
    changed.invalid(&expected);
    let none = json!({ "contextRequired": false, "requireBinding": false });
    world.change_policy(&destination, none).await;
    world.change_policy(&destination, managed).await;
    world.admin().put(&path, both).await.invalid(&expected);
    let read = world.admin().get(&path).await.ok().json();
    let flags = (&read["contextRequired"], &read["requireBinding"]);
    assert_eq!(flags, (&json!(false), &json!(false)));

    alice.protect(json!(1)).await.ok();
    protect(&alice, acme()).await.invalid(&[("context", "unsupported")]);
}

#[tokio::test]
async fn the_audit_log_keeps_ctx_and_never_the_context() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let context = json!({ "tenant": "a-context-to-search-for" });
    let envelope = jwe(&protect(&alice, context.clone()).await);
    let created: Value = serde_json::from_str(&header(&envelope)).unwrap();
    unprotect(&alice, &envelope, context).await.ok();
    alice.unprotect(&envelope).await.refused(500, "INTERNAL_ERROR");
    alice.protect(json!(1)).await.ok();
    let rows: Vec<(Option<String>, String)> = sqlx::query_as(
        "SELECT ctx, audit::text FROM crypto_operations_audit AS audit ORDER BY ts, id",
    )
    .fetch_all(&world.pool)
    .await
    .unwrap();
    let ctx = created["ctx"].as_str();
    let found: Vec<_> = rows.iter().map(|(ctx, _)| ctx.as_deref()).collect();
    assert_eq!(found, [ctx, ctx, ctx, None]);
    assert!(rows.iter().all(|(_, row)| !row.contains("search-for")));
    let listed = world.admin().get("/admin/audit?limit=4").await.ok().json();
    assert_eq!(listed["items"][3]["ctx"].as_str(), ctx);
    assert_eq!(listed["items"][0]["ctx"], Value::Null);
}

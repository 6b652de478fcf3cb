//! Invalid members of request bodies.

use axum::http::Method;
use serde_json::{Value, json};

use testkit::{OPERATIONS, PROTECT, UNPROTECT, World, jwe};

#[tokio::test]
async fn fields_are_checked_before_the_policy() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let protect = async |body: Value| alice.post(PROTECT, body).await;
    protect(json!({ "policyNumber": "POL-none" })).await.invalid(&[("payload", "required")]);
    protect(json!({})).await.invalid(&[("payload", "required"), ("policyNumber", "required")]);
    protect(json!([])).await.invalid(&[("", "type")]);
    protect(json!({ "payload": 1, "policyNumber": 1 })).await.invalid(&[("policyNumber", "type")]);
    protect(json!({ "payload": 1, "policyNumber": null }))
        .await
        .invalid(&[("policyNumber", "required")]);
    let twice = r#"{"payload":1,"p\u0061yload":2,"policyNumber":"x"}"#;
    let answer = alice.send_text(Method::POST, PROTECT, twice).await;
    answer.invalid(&[("payload", "conflict")]);
}

#[tokio::test]
async fn unknown_members_are_refused_at_every_level() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let envelope = jwe(&alice.protect(json!(1)).await);
    let hash = json!({ "data": 1, "algorithm": "SHA-256", "aad": "x" });
    let problems = [
        (
            PROTECT,
            json!({ "payload": 1, "policynumber": "x" }),
            "policynumber",
            "is unknown: did you mean policyNumber?",
        ),
        (
            PROTECT,
            json!({ "payload": 1, "requestId": "x" }),
            "requestId",
            "is unknown: leave it out",
        ),
        (UNPROTECT, json!({ "jwe": envelope, "Jwe": 1 }), "Jwe", "is unknown: did you mean jwe?"),
        (
            OPERATIONS,
            json!({ "operation": "hash", "payload": hash }),
            "payload.aad",
            "is unknown: leave it out",
        ),
        (
            OPERATIONS,
            json!({ "operation": "hash", "Payload": 1,
                "payload": { "data": 1, "algorithm": "SHA-256" } }),
            "Payload",
            "is unknown: did you mean payload?",
        ),
    ];
    for (path, body, field, message) in problems {
        let answer = alice.post(path, body).await;
        let details = &answer.json()["error"]["details"];
        assert_eq!(details[0]["message"], message, "{details}");
        answer.invalid(&[(field, "unknown")]);
    }
    // The members of a payload are not checked.
    alice.protect(json!({ "policynumber": 1 })).await.ok();
}

#[tokio::test]
async fn a_response_of_protect_is_a_valid_request_of_unprotect() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let protected = alice.protect(json!({ "a": 1 })).await.ok().json();
    let opened = alice.post(UNPROTECT, protected).await.ok();
    assert_eq!(opened.json()["payload"], json!({ "a": 1 }));
}

#[tokio::test]
async fn null_equals_an_absent_optional_member() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let body = json!({ "payload": null, "policyNumber": null });
    let envelope = jwe(&alice.post(PROTECT, body).await.ok());
    let body = json!({ "jwe": envelope, "protectedPayload": null, "policyNumber": null });
    let opened = alice.post(UNPROTECT, body).await.ok();
    assert_eq!(opened.json()["payload"], json!(null));
    alice.post(UNPROTECT, json!({ "jwe": null })).await.invalid(&[("jwe", "required")]);

    let admin = world.admin();
    let body = json!({ "name": "nulls", "tier": null, "publishKeys": null, "description": null });
    let service = admin.post("/admin/services", body).await.created();
    let path = format!("/admin/services/{}", service.text("id"));
    let change = json!({ "name": null, "tier": "professional", "rateLimit": null });
    let changed = admin.put(&path, change).await.ok().json();
    assert_eq!(changed["name"], "nulls");
    assert_eq!(changed["tier"], "professional");
    admin.post("/admin/services", json!({ "name": null })).await.invalid(&[("name", "required")]);
}

#[tokio::test]
async fn u_0000_in_a_string_is_a_client_error() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let envelope = jwe(&alice.protect(json!(1)).await);
    let mut requests = vec![
        (PROTECT, json!({ "payload": 1, "policyNumber": "\0" })),
        (UNPROTECT, json!({ "protectedPayload": "\0" })),
        (UNPROTECT, json!({ "jwe": envelope, "policyNumber": "POL\0" })),
        (OPERATIONS, json!({ "operation": "\0", "payload": {} })),
    ];
    for member in ["protected", "encrypted_key", "iv", "ciphertext", "tag"] {
        let mut damaged = envelope.clone();
        damaged[member] = json!("AA\0A");
        requests.push((UNPROTECT, json!({ "jwe": damaged })));
    }
    for member in ["algorithm", "keyId", "signature"] {
        let mut payload =
            json!({ "data": 1, "algorithm": "Ed25519", "keyId": "x", "signature": "" });
        payload[member] = json!("\0");
        requests.push((OPERATIONS, json!({ "operation": "verify", "payload": payload })));
    }
    for (path, body) in requests {
        let status = alice.post(path, body.clone()).await.status.as_u16();
        assert!(matches!(status, 400 | 404), "{status} for {body}");
    }
}

#[tokio::test]
async fn all_problems_of_an_operation_are_reported() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let ask = async |body: Value| alice.post(OPERATIONS, body).await;
    ask(json!({})).await.invalid(&[("operation", "required"), ("payload", "required")]);
    ask(json!({ "operation": "Encrypt", "payload": {} }))
        .await
        .invalid(&[("operation", "unsupported")]);
    ask(json!({ "operation": "hash", "payload": "x" })).await.invalid(&[("payload", "type")]);
    alice.operate("decrypt", json!({ "iv": "*", "tag": 1, "algorithm": "AES" })).await.invalid(&[
        ("payload.ciphertext", "required"),
        ("payload.iv", "format"),
        ("payload.tag", "type"),
        ("payload.algorithm", "unsupported"),
        ("payload.keyId", "required"),
    ]);
    alice.operate("verify", json!({})).await.invalid(&[
        ("payload.data", "required"),
        ("payload.signature", "required"),
        ("payload.algorithm", "required"),
        ("payload.keyId", "required"),
    ]);
    for algorithm in ["MD5", "sha-256", "SHA256", ""] {
        let refused = alice.operate("hash", json!({ "data": 1, "algorithm": algorithm })).await;
        let message = refused.json()["error"]["details"][0]["message"].to_string();
        assert!(message.contains("SHA-256, SHA-384, SHA-512"), "{message}");
        refused.invalid(&[("payload.algorithm", "unsupported")]);
    }
}

#[tokio::test]
async fn an_unknown_key_is_not_found() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    for key in ["", "key_", "key_01h455vb4pex5vsknk084sn02q", "svc_01h455vb4pex5vsknk084sn02q"] {
        let payload = json!({ "data": 1, "algorithm": "Ed25519", "keyId": key });
        alice.operate("sign", payload).await.refused(404, "KEY_NOT_FOUND");
    }
}

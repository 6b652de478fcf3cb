//! Every bad input that the contract names, in the order in which it is refused.

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::{Value, json};

use super::uniform::envelope_for;
use crate::support::{OPERATIONS, PROTECT, UNPROTECT, World, jwe};

const PATHS: [&str; 3] = [PROTECT, UNPROTECT, OPERATIONS];

#[tokio::test]
async fn malformed_json_is_refused_first() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let deep = format!(r#"{{"payload":{}{}}}"#, "[".repeat(128), "]".repeat(128));
    let broken = [
        "",
        "{",
        "nul",
        "{'a':1}",
        "{\"a\":1,}",
        "[1] 2",
        "\u{feff}{}",
        &deep,
    ];
    for path in PATHS {
        for body in broken {
            for person in [&alice, &world.anonymous(), &world.admin()] {
                let answer = person.send_text(Method::POST, path, body).await;
                answer.invalid(&[("", "format")]);
            }
        }
    }
}

#[tokio::test]
async fn text_that_is_not_utf_8_is_malformed_json() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let request = Request::post(PROTECT)
        .header(
            "authorization",
            format!("Bearer {}", alice.key.as_ref().unwrap()),
        )
        .header("content-type", "application/json")
        .body(Body::from(b"{\"payload\":\"\xff\"}".to_vec()))
        .unwrap();
    world.send(request).await.invalid(&[("", "format")]);
}

#[tokio::test]
async fn an_invalid_key_is_refused_before_missing_fields() {
    let world = World::new().await;
    for path in PATHS {
        for body in ["{}", "[]", "1", "null", "\"text\""] {
            let answer = world.anonymous().send_text(Method::POST, path, body).await;
            let answer = answer.refused(401, "AUTHENTICATION_FAILED");
            assert_eq!(answer.header("www-authenticate"), "Bearer");
            assert!(answer.headers.get("x-ratelimit-limit").is_none());
        }
    }
}

#[tokio::test]
async fn a_body_must_be_declared_as_json() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let key = format!("Bearer {}", alice.key.as_ref().unwrap());
    let send = async |media: Option<&str>| {
        let mut request = Request::post(PROTECT).header("authorization", &key);
        if let Some(media) = media {
            request = request.header("content-type", media);
        }
        world.send(request.body(Body::from("{}")).unwrap()).await
    };
    for media in [
        None,
        Some("text/plain"),
        Some("application/jsonx"),
        Some(""),
    ] {
        send(media).await.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    for media in ["application/json; charset=utf-8", "Application/JSON"] {
        send(Some(media)).await.refused(400, "INVALID_REQUEST");
    }
}

#[tokio::test]
async fn a_body_with_a_content_encoding_is_refused() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    for (person, path) in [(&alice, PROTECT), (&world.admin(), "/admin/services")] {
        let person = person.clone().with("content-encoding", "gzip");
        let answer = person.post(path, json!({})).await;
        let answer = answer.refused(415, "UNSUPPORTED_MEDIA_TYPE");
        assert!(answer.message().contains("Content-Encoding"));
        assert_eq!(answer.header("accept-encoding"), "identity");
    }
}

#[tokio::test]
async fn a_request_id_is_printable_ascii() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
    let longest = "x".repeat(128);
    for name in ["a", "with spaces inside", "\"quoted\\\"", &longest] {
        let answer = alice
            .clone()
            .with("x-request-id", name)
            .protect(json!(1))
            .await
            .ok();
        assert_eq!(answer.text("requestId"), name);
        assert_eq!(answer.header("x-request-id"), name);
    }
    let answer = alice
        .clone()
        .with("x-request-id", "")
        .protect(json!(1))
        .await
        .ok();
    assert!(answer.text("requestId").starts_with("req_"));
    let longer = "x".repeat(129);
    for (name, code) in [(longer.as_str(), "length"), ("\u{fc}", "format")] {
        let answer = alice
            .clone()
            .with("x-request-id", name)
            .protect(json!(1))
            .await;
        assert!(answer.header("x-request-id").starts_with("req_"));
        answer.invalid(&[("X-Request-Id", code)]);
    }
}

#[tokio::test]
async fn fields_are_checked_before_the_policy() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let protect = async |body: Value| alice.post(PROTECT, body).await;
    protect(json!({ "policyNumber": "POL-none" }))
        .await
        .invalid(&[("payload", "required")]);
    protect(json!({}))
        .await
        .invalid(&[("payload", "required"), ("policyNumber", "required")]);
    protect(json!([])).await.invalid(&[("", "type")]);
    protect(json!({ "payload": 1, "policyNumber": 1 }))
        .await
        .invalid(&[("policyNumber", "type")]);
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
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
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
        (
            UNPROTECT,
            json!({ "jwe": envelope, "Jwe": 1 }),
            "Jwe",
            "is unknown: did you mean jwe?",
        ),
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
    // The members of a payload are the client's own.
    alice.protect(json!({ "policynumber": 1 })).await.ok();
}

#[tokio::test]
async fn an_answer_of_protect_can_be_sent_back_whole() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
    let protected = alice.protect(json!({ "a": 1 })).await.ok().json();
    let opened = alice.post(UNPROTECT, protected).await.ok();
    assert_eq!(opened.json()["payload"], json!({ "a": 1 }));
}

#[tokio::test]
async fn null_is_the_same_as_no_optional_member() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
    let body = json!({ "payload": null, "policyNumber": null });
    let envelope = jwe(&alice.post(PROTECT, body).await.ok());
    let body = json!({ "jwe": envelope, "protectedPayload": null, "policyNumber": null });
    let opened = alice.post(UNPROTECT, body).await.ok();
    assert_eq!(opened.json()["payload"], json!(null));
    alice
        .post(UNPROTECT, json!({ "jwe": null }))
        .await
        .invalid(&[("jwe", "required")]);

    let admin = world.admin();
    let body = json!({ "name": "nulls", "tier": null, "publishKeys": null, "description": null });
    let service = admin.post("/admin/services", body).await.created();
    let path = format!("/admin/services/{}", service.text("id"));
    let change = json!({ "name": null, "tier": "professional", "rateLimit": null });
    let changed = admin.put(&path, change).await.ok().json();
    assert_eq!(changed["name"], "nulls");
    assert_eq!(changed["tier"], "professional");
    admin
        .post("/admin/services", json!({ "name": null }))
        .await
        .invalid(&[("name", "required")]);
}

#[tokio::test]
async fn u_0000_in_a_string_is_a_client_error() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
    let envelope = jwe(&alice.protect(json!(1)).await);
    let mut requests = vec![
        (PROTECT, json!({ "payload": 1, "policyNumber": "\0" })),
        (UNPROTECT, json!({ "protectedPayload": "\0" })),
        (
            UNPROTECT,
            json!({ "jwe": envelope, "policyNumber": "POL\0" }),
        ),
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
        requests.push((
            OPERATIONS,
            json!({ "operation": "verify", "payload": payload }),
        ));
    }
    for (path, body) in requests {
        let status = alice.post(path, body.clone()).await.status.as_u16();
        assert!(matches!(status, 400 | 404), "{status} for {body}");
    }
}

#[tokio::test]
async fn unsupported_jose_headers_are_refused() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
    for (member, value) in [
        ("zip", json!("DEF")),
        ("crit", json!(["exp"])),
        ("p2c", json!(1_000_000)),
        ("jku", json!("https://example.org")),
        ("jwk", json!({})),
        ("x5u", json!("https://example.org")),
        ("x5c", json!([])),
    ] {
        let envelope = envelope_for(&world, &destination, |header| header[member] = value).await;
        let refused = alice.unprotect(&envelope).await;
        refused.invalid(&[(&format!("jwe.protected.{member}"), "unsupported")]);
    }
    for (member, value) in [
        ("alg", "RSA1_5"),
        ("alg", "dir"),
        ("alg", "none"),
        ("enc", "A256CBC-HS512"),
    ] {
        let envelope = envelope_for(&world, &destination, |header| header[member] = json!(value));
        let refused = alice.unprotect(&envelope.await).await;
        refused.invalid(&[(&format!("jwe.protected.{member}"), "unsupported")]);
    }
    let long = "x".repeat(100_000);
    let envelope = envelope_for(&world, &destination, |header| header["x"] = json!(long)).await;
    alice
        .unprotect(&envelope)
        .await
        .invalid(&[("jwe.protected", "length")]);
    let mut plain = envelope_for(&world, &destination, |_| {}).await;
    plain["protected"] = json!("{\"alg\":1}");
    alice
        .unprotect(&plain)
        .await
        .invalid(&[("jwe.protected", "format")]);
}

#[tokio::test]
async fn an_algorithm_that_does_not_fit_the_named_key_is_refused() {
    let world = World::new().await;
    let ec = world.some_destination().await;
    let rsa = world.destination("rsa", "RSA-2048", "RSA-OAEP-256").await;
    let alice = world.application("alice").bound_to(&ec.policy).await;
    let envelope = envelope_for(&world, &rsa, |header| header["kid"] = json!(ec.key)).await;
    alice
        .unprotect(&envelope)
        .await
        .invalid(&[("jwe.protected.alg", "conflict")]);
}

#[tokio::test]
async fn an_algorithm_that_fits_no_active_key_is_refused() {
    let world = World::new().await;
    let ec = world.some_destination().await;
    let rsa = world.destination("rsa", "RSA-2048", "RSA-OAEP-256").await;
    let alice = world.application("alice").bound_to(&ec.policy).await;
    // It names a key of another service, which says nothing here.
    let envelope = envelope_for(&world, &rsa, |_| {}).await;
    alice
        .unprotect(&envelope)
        .await
        .invalid(&[("jwe.protected.alg", "conflict")]);
    let compact = ["protected", "encrypted_key", "iv", "ciphertext", "tag"]
        .map(|member| envelope[member].as_str().unwrap())
        .join(".");
    alice
        .post(UNPROTECT, json!({ "protectedPayload": compact }))
        .await
        .invalid(&[("protectedPayload.protected.alg", "conflict")]);
}

#[tokio::test]
async fn all_problems_of_an_operation_are_reported() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let ask = async |body: Value| alice.post(OPERATIONS, body).await;
    ask(json!({}))
        .await
        .invalid(&[("operation", "required"), ("payload", "required")]);
    ask(json!({ "operation": "Encrypt", "payload": {} }))
        .await
        .invalid(&[("operation", "unsupported")]);
    ask(json!({ "operation": "hash", "payload": "x" }))
        .await
        .invalid(&[("payload", "type")]);
    alice
        .operate(
            "decrypt",
            json!({ "iv": "*", "tag": 1, "algorithm": "AES" }),
        )
        .await
        .invalid(&[
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
        let refused = alice
            .operate("hash", json!({ "data": 1, "algorithm": algorithm }))
            .await;
        let told = refused.json()["error"]["details"][0]["message"].to_string();
        assert!(told.contains("SHA-256, SHA-384, SHA-512"), "{told}");
        refused.invalid(&[("payload.algorithm", "unsupported")]);
    }
}

#[tokio::test]
async fn an_unknown_key_is_not_found() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    for key in [
        "",
        "key_",
        "key_01h455vb4pex5vsknk084sn02q",
        "svc_01h455vb4pex5vsknk084sn02q",
    ] {
        let order = json!({ "data": 1, "algorithm": "Ed25519", "keyId": key });
        alice
            .operate("sign", order)
            .await
            .refused(404, "KEY_NOT_FOUND");
    }
}

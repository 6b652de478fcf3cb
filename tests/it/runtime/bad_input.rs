//! Invalid requests, in the order of their checks: JSON, headers, credentials.

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::json;

use testkit::{OPERATIONS, PROTECT, UNPROTECT, World};

const PATHS: [&str; 3] = [PROTECT, UNPROTECT, OPERATIONS];

#[tokio::test]
async fn malformed_json_is_refused_first() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let deep = format!(r#"{{"payload":{}{}}}"#, "[".repeat(128), "]".repeat(128));
    let broken = ["", "{", "nul", "{'a':1}", "{\"a\":1,}", "[1] 2", "\u{feff}{}", &deep];
    for path in PATHS {
        for body in broken {
            for client in [&alice, &world.anonymous(), &world.admin()] {
                let answer = client.send_text(Method::POST, path, body).await;
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
        .header("authorization", format!("Bearer {}", alice.key.as_ref().unwrap()))
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
    for media in [None, Some("text/plain"), Some("application/jsonx"), Some("")] {
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
    for (client, path) in [(&alice, PROTECT), (&world.admin(), "/admin/services")] {
        let client = client.clone().with("content-encoding", "gzip");
        let answer = client.post(path, json!({})).await;
        let answer = answer.refused(415, "UNSUPPORTED_MEDIA_TYPE");
        assert!(answer.message().contains("Content-Encoding"));
        assert_eq!(answer.header("accept-encoding"), "identity");
    }
}

#[tokio::test]
async fn a_request_id_is_printable_ascii() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let longest = "x".repeat(128);
    for name in ["a", "with spaces inside", "\"quoted\\\"", &longest] {
        let answer = alice.clone().with("x-request-id", name).protect(json!(1)).await.ok();
        assert_eq!(answer.text("requestId"), name);
        assert_eq!(answer.header("x-request-id"), name);
    }
    let answer = alice.clone().with("x-request-id", "").protect(json!(1)).await.ok();
    assert!(answer.text("requestId").starts_with("req_"));
    let longer = "x".repeat(129);
    for (name, code) in [(longer.as_str(), "length"), ("\u{fc}", "format")] {
        let answer = alice.clone().with("x-request-id", name).protect(json!(1)).await;
        assert!(answer.header("x-request-id").starts_with("req_"));
        answer.invalid(&[("X-Request-Id", code)]);
    }
}

//! Limits of a batch: items, tokens of the rate limit, time and size.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{batch, outcomes, refused, still};
use testkit::{Answer, PROTECT_BATCH, REWRAP_BATCH, UNPROTECT_BATCH, World};

#[tokio::test]
async fn a_batch_has_1_to_1000_items() {
    let (world, _) = still().await;
    let (_, alice) = world.bound_application().await;
    for path in [PROTECT_BATCH, UNPROTECT_BATCH, REWRAP_BATCH] {
        batch(&alice, path, json!([])).await.invalid(&[("items", "length")]);
        batch(&alice, path, json!(vec![1; 1_001])).await.invalid(&[("items", "length")]);
        batch(&alice, path, json!({})).await.invalid(&[("items", "type")]);
        alice.post(path, json!({})).await.invalid(&[("items", "required")]);
        alice.post(path, json!([])).await.invalid(&[("", "type")]);
        let body = json!({ "items": [1], "policyNumber": "POL-000001" });
        alice.post(path, body).await.invalid(&[("policyNumber", "unknown")]);
    }
    let body = json!({ "items": [1], "requestId": "1" });
    alice.post(PROTECT_BATCH, body).await.invalid(&[("requestId", "unknown")]);
    let sql = "SELECT count(*), count(item) FROM crypto_operations_audit";
    let counts: (i64, i64) = sqlx::query_as(sql).fetch_one(&world.pool).await.unwrap();
    // A refused rewrap has two records.
    assert_eq!(counts, (6 + 6 + 12 + 1, 0));
}

#[tokio::test]
async fn an_item_costs_a_token_and_a_large_batch_leaves_a_debt() {
    let (world, clock) = still().await;
    let (_, alice) = world.bound_application().await;
    let ask = async |count: usize| {
        let payloads = vec![json!({ "payload": 1 }); count];
        batch(&alice, PROTECT_BATCH, json!(payloads)).await
    };
    let remaining = |answer: &Answer| answer.header("x-ratelimit-remaining").to_owned();
    // The standard tier: 100 a second, 200 at once.
    assert_eq!(remaining(&ask(150).await.ok()), "50");
    let limited = ask(60).await.refused(429, "RATE_LIMIT_EXCEEDED");
    assert_eq!(remaining(&limited), "50");
    assert_eq!(remaining(&ask(50).await.ok()), "0");
    clock.advance(Duration::from_millis(1_990));
    ask(500).await.refused(429, "RATE_LIMIT_EXCEEDED");
    clock.advance(Duration::from_millis(10));
    assert_eq!(remaining(&ask(500).await.ok()), "0");
    // 300 tokens of debt take three seconds.
    clock.advance(Duration::from_secs(3));
    ask(1).await.refused(429, "RATE_LIMIT_EXCEEDED");
    clock.advance(Duration::from_millis(10));
    ask(1).await.ok();
}

/// A batch that opens envelopes and announces the largest body.
fn announced(key: &str, body: Body) -> Request<Body> {
    let request = Request::post(UNPROTECT_BATCH)
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .header("content-length", 33_000_000);
    request.body(body).unwrap()
}

#[tokio::test]
async fn a_batch_takes_a_token_before_its_body_is_read() {
    let (world, _) = still().await;
    let alice = world.application("alice").await;
    let is_read = Arc::new(Notify::new());
    let reading = Arc::clone(&is_read);
    let body = stream::poll_fn(move |_| -> Poll<Option<io::Result<Vec<u8>>>> {
        reading.notify_one();
        Poll::Pending
    });
    let key = alice.key.clone().unwrap();
    tokio::select! {
        answer = world.send(announced(&key, Body::from_stream(body))) => panic!("{answer:?}"),
        () = is_read.notified() => {}
    }
    let health = alice.get("/api/v1/health").await;
    assert_eq!(health.header("x-ratelimit-remaining"), "199");
}

#[tokio::test]
async fn over_the_limit_a_body_is_read_for_its_syntax_only() {
    const FRAME: usize = 16 * 1024;
    let (world, _) = still().await;
    let alice = world.application("alice").await;
    batch(&alice, PROTECT_BATCH, json!(vec![json!({}); 200])).await.ok();
    let key = alice.key.clone().unwrap();
    let sent = Arc::new(AtomicUsize::new(0));
    let sending = Arc::clone(&sent);
    let frames = stream::repeat_with(move || {
        sending.fetch_add(FRAME, Ordering::Relaxed);
        io::Result::Ok(vec![b' '; FRAME])
    });
    let without_length = Request::post(UNPROTECT_BATCH)
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .body(Body::from_stream(frames));
    let limited = world.send(without_length.unwrap()).await;
    limited.refused(429, "RATE_LIMIT_EXCEEDED");
    let read = sent.load(Ordering::Relaxed);
    assert!(read <= 64 * 1024 + FRAME, "{read}");
    let limited = world.send(announced(&key, Body::empty())).await;
    limited.refused(429, "RATE_LIMIT_EXCEEDED");
    let broken = alice.send_text(Method::POST, UNPROTECT_BATCH, "{").await;
    broken.refused(400, "INVALID_REQUEST");
}

#[tokio::test]
async fn a_refused_batch_takes_a_token_if_its_body_is_large() {
    let (world, _) = still().await;
    let alice = world.application("alice").await;
    batch(&alice, PROTECT_BATCH, json!(vec![json!({}); 150])).await.ok();
    let remaining = async |item: Value| {
        let refused = batch(&alice, PROTECT_BATCH, json!(vec![item; 60])).await;
        refused.refused(429, "RATE_LIMIT_EXCEEDED");
        let health = alice.get("/api/v1/health").await;
        health.header("x-ratelimit-remaining").to_owned()
    };
    assert_eq!(remaining(json!({})).await, "50");
    assert_eq!(remaining(json!({ "payload": "x".repeat(2_048) })).await, "49");
}

#[tokio::test]
async fn items_that_cannot_begin_in_time_are_503() {
    let (world, clock) = still().await;
    let (_, alice) = world.bound_application().await;
    let text = json!({ "items": [{ "payload": 1 }, { "payload": 2 }] }).to_string();
    let key = alice.key.clone().unwrap();
    let send = async |late: Duration| {
        // Time passes while the body arrives.
        let (clock, text) = (clock.clone(), text.clone());
        let body = stream::once(async move {
            clock.advance(late);
            Ok::<_, io::Error>(text)
        });
        let request = Request::post(PROTECT_BATCH)
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .body(Body::from_stream(body));
        world.send(request.unwrap()).await.ok()
    };
    // The time limit of the requests of the tests is 120 s.
    let in_time = send(Duration::from_secs(115)).await;
    assert_eq!(outcomes(&in_time), [(200, None), (200, None)]);
    let late = send(Duration::from_millis(115_001)).await;
    assert_eq!(outcomes(&late), vec![refused(503, "SERVICE_UNAVAILABLE"); 2]);
    let sql = "SELECT count(*) FROM crypto_operations_audit WHERE response_status = 503";
    let recorded: i64 = sqlx::query_scalar(sql).fetch_one(&world.pool).await.unwrap();
    assert_eq!(recorded, 2);
}

#[tokio::test]
async fn the_body_of_a_batch_has_its_own_limit() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let item = json!({ "payload": "x".repeat(512 * 1024) });
    let sealed = batch(&alice, PROTECT_BATCH, json!(vec![item.clone(); 31])).await.ok();
    assert!(outcomes(&sealed).iter().all(|outcome| outcome.0 == 200));
    // The response is larger than the request, and opening it is possible.
    assert!(sealed.body.len() > 16 * 1024 * 1024);
    let opened = alice.send_text(Method::POST, UNPROTECT_BATCH, &sealed.body).await.ok();
    assert!(outcomes(&opened).iter().all(|outcome| outcome.0 == 200));
    let refused = batch(&alice, PROTECT_BATCH, json!(vec![item; 33])).await;
    refused.refused(413, "PAYLOAD_TOO_LARGE");
}

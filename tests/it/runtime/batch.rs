//! `/protect/batch`, `/unprotect/batch` and `/rewrap/batch`.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use futures_util::stream;
use sealward::clock::{Clock, Timestamp};
use sealward::settings::Stage;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{
    Answer, Client, PATIENCE, PROTECT_BATCH, REWRAP_BATCH, UNPROTECT, UNPROTECT_BATCH, World,
    header_of, within,
};

async fn batch(client: &Client<'_>, path: &str, items: Value) -> Answer {
    client.post(path, json!({ "items": items })).await
}

fn items(answer: &Answer) -> Vec<Value> {
    answer.json()["items"].as_array().unwrap().clone()
}

/// The statuses and codes of the items.
fn outcomes(answer: &Answer) -> Vec<(u64, Option<String>)> {
    let outcome = |item: &Value| {
        let code = item["error"]["code"].as_str().map(str::to_owned);
        (item["status"].as_u64().unwrap(), code)
    };
    items(answer).iter().map(outcome).collect()
}

fn refused(status: u64, code: &str) -> (u64, Option<String>) {
    (status, Some(code.to_owned()))
}

/// A world with a clock that the test moves.
async fn still() -> (World, Clock) {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    (World::at(clock.clone(), Stage::Development).await, clock)
}

#[tokio::test]
async fn the_items_of_a_response_are_in_the_order_of_the_request() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
    let payloads: Vec<Value> = (0..50).map(|n| json!({ "payload": { "n": n } })).collect();
    let sealed = batch(&alice, PROTECT_BATCH, json!(payloads)).await.ok();
    assert_eq!(
        sealed.json()["requestId"].as_str(),
        Some(sealed.header("x-request-id"))
    );
    assert_eq!(sealed.json().as_object().unwrap().len(), 2);
    for item in items(&sealed) {
        let names: Vec<_> = item.as_object().unwrap().keys().collect();
        assert_eq!(names, ["jwe", "messageType", "operations", "status"]);
        assert_eq!(item["status"], 200);
    }
    let newer = world.key(&destination.service, "enc", "P-256").await;
    // The response of one batch is the body of the next.
    let rewrapped = alice.post(REWRAP_BATCH, sealed.json()).await.ok();
    for item in items(&rewrapped) {
        assert_eq!(item["operations"], json!(["decrypt", "encrypt"]));
        assert_eq!(header_of(&item["jwe"])["kid"], newer);
    }
    let opened = alice.post(UNPROTECT_BATCH, rewrapped.json()).await.ok();
    for (n, item) in items(&opened).iter().enumerate() {
        let expected = json!({ "status": 200, "operations": ["decrypt"], "payload": { "n": n } });
        assert_eq!(*item, expected);
    }
}

#[tokio::test]
async fn payloads_in_a_batch_keep_their_text() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
    let body = r#" {"items" : [ {"payload":{"z": 1.0,"a":"]}, {"}} , {"payload":null}]}"#;
    let sealed = alice.send_text(Method::POST, PROTECT_BATCH, body).await;
    let opened = alice.post(UNPROTECT_BATCH, sealed.json()).await.ok();
    let expected = concat!(
        r#""items":[{"status":200,"operations":["decrypt"],"payload":{"z": 1.0,"a":"]}, {"}},"#,
        r#"{"status":200,"operations":["decrypt"],"payload":null}]}"#
    );
    assert!(opened.body.ends_with(expected), "{}", opened.body);
}

#[tokio::test]
async fn an_item_that_fails_does_not_fail_others() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
    let large = "x".repeat(1024 * 1024);
    let payloads = json!([
        { "payload": 1 },
        { "payload": 1 },
        7,
        {},
        { "payload": 1, "policyNumber": "POL-404" },
        { "payload": large },
        { "payload": 1, "context": { "a": 1 } },
        { "payload": 1, "status": 200 },
    ]);
    let answer = batch(&alice, PROTECT_BATCH, payloads).await.ok();
    let invalid = || refused(400, "INVALID_REQUEST");
    let expected = [
        (200, None),
        (200, None),
        invalid(),
        invalid(),
        refused(404, "POLICY_NOT_FOUND"),
        refused(413, "PAYLOAD_TOO_LARGE"),
        invalid(),
        invalid(),
    ];
    assert_eq!(outcomes(&answer), expected);
    let field = |item: &Value| {
        let field = item["error"]["details"][0]["field"].as_str();
        field.map(str::to_owned)
    };
    let fields: Vec<_> = items(&answer).iter().filter_map(field).collect();
    assert_eq!(fields, ["", "payload", "context.a", "status"]);

    let sealed = items(&answer)[0]["jwe"].clone();
    let mut damaged = sealed.clone();
    damaged["tag"] = json!("AAAAAAAAAAAAAAAAAAAAAA");
    let opening = json!([
        { "jwe": sealed },
        { "jwe": sealed },
        { "jwe": damaged },
        { "protectedPayload": "e30" },
        [],
    ]);
    for (path, last) in [(UNPROTECT_BATCH, "payload"), (REWRAP_BATCH, "jwe")] {
        let answer = batch(&alice, path, opening.clone()).await.ok();
        let expected = [
            (200, None),
            (200, None),
            refused(500, "INTERNAL_ERROR"),
            refused(400, "INVALID_PROTECTED_PAYLOAD"),
            invalid(),
        ];
        assert_eq!(outcomes(&answer), expected);
        assert!(!items(&answer)[1][last].is_null());
    }
}

#[tokio::test]
async fn a_failure_mode_applies_to_each_item() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
    for (failure_mode, member) in [("passthrough", "payload"), ("drop", "dropped")] {
        let change = json!({ "status": "inactive", "failureMode": failure_mode });
        world.change_policy(&destination, change).await;
        let answer = batch(&alice, PROTECT_BATCH, json!([{ "payload": 1 }]))
            .await
            .ok();
        let item = &items(&answer)[0];
        assert_eq!(item["operations"], json!([]));
        assert!(!item[member].is_null(), "{item}");
    }
}

#[tokio::test]
async fn a_batch_has_1_to_1000_items() {
    let (world, _) = still().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
    for path in [PROTECT_BATCH, UNPROTECT_BATCH, REWRAP_BATCH] {
        batch(&alice, path, json!([]))
            .await
            .invalid(&[("items", "length")]);
        batch(&alice, path, json!(vec![1; 1_001]))
            .await
            .invalid(&[("items", "length")]);
        batch(&alice, path, json!({}))
            .await
            .invalid(&[("items", "type")]);
        alice
            .post(path, json!({}))
            .await
            .invalid(&[("items", "required")]);
        alice.post(path, json!([])).await.invalid(&[("", "type")]);
        let body = json!({ "items": [1], "policyNumber": "POL-000001" });
        alice
            .post(path, body)
            .await
            .invalid(&[("policyNumber", "unknown")]);
    }
    let body = json!({ "items": [1], "requestId": "1" });
    alice
        .post(PROTECT_BATCH, body)
        .await
        .invalid(&[("requestId", "unknown")]);
    let sql = "SELECT count(*), count(item) FROM crypto_operations_audit";
    let counts: (i64, i64) = sqlx::query_as(sql).fetch_one(&world.pool).await.unwrap();
    // A refused rewrap has two records.
    assert_eq!(counts, (6 + 6 + 12 + 1, 0));
}

#[tokio::test]
async fn all_items_are_recorded_in_one_commit() {
    let (world, _) = still().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
    let alice = alice.with("x-request-id", "a batch");
    let mut payloads = vec![json!({ "payload": 1 }); 1_000];
    payloads[998] = json!({ "payload": 1, "policyNumber": "POL-404" });
    let sealed = batch(&alice, PROTECT_BATCH, json!(payloads)).await.ok();
    assert_eq!(items(&sealed).len(), 1_000);
    let sql = "SELECT count(*), count(DISTINCT item), min(item), max(item), \
               count(DISTINCT xmin::text) FROM crypto_operations_audit WHERE request_id = 'a batch'";
    let row: (i64, i64, i16, i16, i64) = sqlx::query_as(sql).fetch_one(&world.pool).await.unwrap();
    assert_eq!(row, (1_000, 1_000, 0, 999, 1));
    let sql = "SELECT item, response_status, error_code, policy_number, outcome \
               FROM crypto_operations_audit WHERE item >= 998 ORDER BY item";
    type Row = (i16, i16, Option<String>, String, String);
    let rows: Vec<Row> = sqlx::query_as(sql).fetch_all(&world.pool).await.unwrap();
    let failed = Some("POLICY_NOT_FOUND".to_owned());
    let expected = [
        (998, 404, failed, "POL-404".to_owned(), "refused".to_owned()),
        (
            999,
            200,
            None,
            destination.policy.clone(),
            "done".to_owned(),
        ),
    ];
    assert_eq!(rows, expected);
    let listed = world
        .admin()
        .get("/admin/audit?status=404")
        .await
        .ok()
        .json();
    assert_eq!(listed["items"][0]["item"], 998);
    assert_eq!(listed["items"][0]["endpoint"], PROTECT_BATCH);
}

#[tokio::test]
async fn an_item_of_a_rewrap_has_two_records() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
    let sealed = batch(&alice, PROTECT_BATCH, json!([{ "payload": 1 }]))
        .await
        .ok();
    let jwe = items(&sealed)[0]["jwe"].clone();
    batch(&alice, REWRAP_BATCH, json!([{ "jwe": jwe }, {}]))
        .await
        .ok();
    let sql = "SELECT item, operation_type, response_status FROM crypto_operations_audit \
               WHERE endpoint = $1 ORDER BY item, operation_type";
    let query = sqlx::query_as(sql).bind(REWRAP_BATCH);
    let rows: Vec<(i16, String, i16)> = query.fetch_all(&world.pool).await.unwrap();
    let row = |item, operation: &str, status| (item, operation.to_owned(), status);
    let expected = [
        row(0, "decrypt", 200),
        row(0, "encrypt", 200),
        row(1, "decrypt", 400),
        row(1, "encrypt", 400),
    ];
    assert_eq!(rows, expected);
}

#[tokio::test]
async fn an_item_costs_a_token_and_a_large_batch_leaves_a_debt() {
    let (world, clock) = still().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
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
    batch(&alice, PROTECT_BATCH, json!(vec![json!({}); 200]))
        .await
        .ok();
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
async fn items_that_cannot_begin_in_time_are_503() {
    let (world, clock) = still().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
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
    assert_eq!(
        outcomes(&late),
        vec![refused(503, "SERVICE_UNAVAILABLE"); 2]
    );
    let sql = "SELECT count(*) FROM crypto_operations_audit WHERE response_status = 503";
    let recorded: i64 = sqlx::query_scalar(sql)
        .fetch_one(&world.pool)
        .await
        .unwrap();
    assert_eq!(recorded, 2);
}

#[tokio::test]
async fn a_batch_stops_when_its_client_disconnects_and_records_all_items() {
    let (world, clock) = still().await;
    let destination = world.destination("rsa", "RSA-4096", "RSA-OAEP-256").await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
    let sealed = batch(&alice, PROTECT_BATCH, json!([{ "payload": 1 }]))
        .await
        .ok();
    let envelope = json!({ "jwe": items(&sealed)[0]["jwe"] });
    alice.post(UNPROTECT, envelope.clone()).await.ok();
    clock.advance(Duration::from_secs(60));
    let begun = async || {
        let health = alice.get("/api/v1/health").await;
        health.header("x-ratelimit-remaining") == "0"
    };
    let envelopes = vec![envelope; 1_000];
    tokio::select! {
        answer = batch(&alice, UNPROTECT_BATCH, json!(envelopes)) => panic!("{answer:?}"),
        () = async { while !begun().await {} } => {}
    }
    let count = async |status: i16| -> i64 {
        let sql = "SELECT count(item) FROM crypto_operations_audit \
                   WHERE endpoint = $1 AND response_status = $2";
        let query = sqlx::query_scalar(sql).bind(UNPROTECT_BATCH).bind(status);
        query.fetch_one(&world.pool).await.unwrap()
    };
    within(PATIENCE, async || {
        count(200).await + count(503).await == 1_000
    })
    .await;
    assert!(count(503).await > 0);
}

#[tokio::test]
async fn the_body_of_a_batch_has_its_own_limit() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world
        .application("alice")
        .bound_to(&destination.policy)
        .await;
    let item = json!({ "payload": "x".repeat(512 * 1024) });
    let sealed = batch(&alice, PROTECT_BATCH, json!(vec![item.clone(); 31]))
        .await
        .ok();
    assert!(outcomes(&sealed).iter().all(|outcome| outcome.0 == 200));
    // The response is larger than the request, and opening it is possible.
    assert!(sealed.body.len() > 16 * 1024 * 1024);
    let opened = alice
        .send_text(Method::POST, UNPROTECT_BATCH, &sealed.body)
        .await
        .ok();
    assert!(outcomes(&opened).iter().all(|outcome| outcome.0 == 200));
    let refused = batch(&alice, PROTECT_BATCH, json!(vec![item; 33])).await;
    refused.refused(413, "PAYLOAD_TOO_LARGE");
}

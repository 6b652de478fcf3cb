//! Large bodies share a bounded memory.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::task::Poll;

use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use engine::settings::{Limits, Span, Stage};
use formats::clock::{Clock, Timestamp};
use futures_util::{StreamExt as _, stream};
use sealward::server::Answers as _;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use testkit::{Client, World};

const BATCH: &str = "/api/v1/unprotect/batch";
const OPERATIONS: &str = "/api/v1/operations";

/// This number of the largest bodies use all memory of a caller.
const OF_ONE_CALLER: usize = 4;

/// A request with a body of `length` bytes.
fn request(key: &str, path: &str, length: usize, body: Body) -> Request<Body> {
    Request::post(path)
        .header(header::HOST, "it")
        .header(header::AUTHORIZATION, format!("Bearer {key}"))
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::CONTENT_LENGTH, length)
        .body(body)
        .expect("a request")
}

/// Announces one of the largest bodies, sends more than 64 KiB of it, and stops. Returns when the service
/// waits for the rest.
async fn stall(world: &World, client: &Client<'_>) -> JoinHandle<()> {
    let (waiting, waits) = oneshot::channel();
    let begin = stream::once(async { Ok::<_, Infallible>(Bytes::from(vec![b' '; 65 * 1024])) });
    let rest = stream::once(async move {
        waiting.send(()).expect("the test waits");
        std::future::pending().await
    });
    let body = Body::from_stream(begin.chain(rest));
    let key = client.key.as_ref().expect("a key of its own");
    let request = request(key, BATCH, Limits::default().largest_body(), body);
    let front = world.front();
    let stalled = tokio::spawn(async move { drop(front.answer(request).await) });
    waits.await.expect("the service reads the body");
    stalled
}

#[tokio::test]
async fn slow_bodies_of_one_service_do_not_delay_another() {
    let patient = World::new().await;
    let (busy, other) = (patient.application("busy").await, patient.application("other").await);
    // A body waits for a quarter of the time limit.
    let world = patient.another_within(Span::seconds(8)).await;
    let on = |client: &Client<'_>| world.client(client.key.as_ref().expect("a key of its own"));
    let large = json!({ "operation": "hash",
        "payload": { "algorithm": "SHA-256", "data": "x".repeat(100 * 1024) } });
    let small = json!({ "operation": "hash",
        "payload": { "algorithm": "SHA-256", "data": "x" } });
    let mut stalled = Vec::new();
    for _ in 0..OF_ONE_CALLER {
        stalled.push(stall(&world, &busy).await);
    }
    let (busy, other) = (on(&busy), on(&other));
    for body in [&large, &small] {
        other.post(OPERATIONS, body.clone()).await.ok();
    }
    busy.post(OPERATIONS, small).await.ok();
    let refused = busy.post(OPERATIONS, large.clone()).await;
    let refused = refused.refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(refused.header("retry-after"), "1");
    let sql = "SELECT response_status::int4 FROM crypto_operations_audit WHERE error_message = $1";
    let recorded: Vec<i32> = sqlx::query_scalar(sql)
        .bind("too many large bodies are in memory")
        .fetch_all(&world.pool)
        .await
        .expect("the audit log");
    assert_eq!(recorded, [503]);
    for stalled in stalled {
        stalled.abort();
        drop(stalled.await);
    }
    busy.post(OPERATIONS, large).await.ok();
}

#[tokio::test]
async fn responses_keep_the_memory_of_their_requests_until_they_are_read() {
    let world = World::new().await;
    let busy = world.application("busy").await;
    let key = busy.key.as_ref().expect("a key of its own");
    let mut body = br#"{"items":[{}]}"#.to_vec();
    body.resize(Limits::default().largest_body(), b' ');
    let body = Bytes::from(body);
    let mut unread = Vec::new();
    for _ in 0..OF_ONE_CALLER {
        let request = request(key, BATCH, body.len(), Body::from(body.clone()));
        let response = world.front().answer(request).await;
        assert_eq!(response.status(), 200);
        unread.push(response);
    }
    let large = json!({ "operation": "hash",
        "payload": { "algorithm": "SHA-256", "data": "x".repeat(100 * 1024) } });
    let refused = busy.post(OPERATIONS, large.clone()).await;
    refused.refused(503, "SERVICE_UNAVAILABLE");
    drop(unread);
    busy.post(OPERATIONS, large).await.ok();
}

/// A short request can have a long answer.
#[tokio::test]
async fn long_answers_to_short_requests_use_memory_until_they_are_read() {
    let world = World::new().await;
    let other = world.application("other").await;
    let fast = json!({ "name": "fast", "tier": "enterprise",
        "rateLimit": { "requestsPerSecond": 10_000, "burst": 10_000 } });
    let service = world.admin().post("/admin/services", fast).await.created().text("id");
    let key = json!({ "name": "key", "type": "live", "serviceId": service });
    let key = &world.admin().post("/admin/api-keys", key).await.created().text("secret");
    let path = "/v1/transit/random/131071";
    let mut unread = Vec::new();
    let refused = loop {
        let response = world.front().answer(request(key, path, 0, Body::empty())).await;
        if response.status() != 200 {
            break response.status();
        }
        unread.push(response);
        assert!(unread.len() < 1_000, "no limit");
    };
    assert_eq!(refused, 503);
    other.post(path, json!({})).await.ok();
    drop(unread);
    world.client(key).post(path, json!({})).await.ok();
}

/// A body that never comes.
fn pending() -> Body {
    Body::from_stream(stream::pending::<Result<Bytes, Infallible>>())
}

/// At least the number of bodies of refused requests that are read at the same time.
const MANY: usize = 1_000;

/// Sends many requests whose bodies never end. Some are answered at once with this status.
async fn few_bodies_are_read(world: &World, request: impl Fn() -> Request<Body>, status: u16) {
    let mut requests = JoinSet::new();
    for _ in 0..MANY {
        let (front, request) = (world.front(), request());
        requests.spawn(async move { front.answer(request).await.status().as_u16() });
    }
    for _ in 0..MANY / 2 {
        let answered = requests.join_next().await.expect("a request");
        assert_eq!(answered.expect("an answer"), status);
    }
}

#[tokio::test]
async fn over_the_rate_limit_few_bodies_are_read_at_the_same_time() {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    let limit = json!({ "name": "limited", "tier": "enterprise", "rateLimit": { "requestsPerSecond": 1, "burst": 1 } });
    let service = world.admin().post("/admin/services", limit).await;
    let service = service.created().text("id");
    let key = json!({ "name": "key", "type": "live", "serviceId": service });
    let key = world.admin().post("/admin/api-keys", key).await;
    let key = key.created().text("secret");
    let client = world.client(&key);
    let hash = json!({ "operation": "hash", "payload": { "algorithm": "SHA-256", "data": "x" } });
    client.post(OPERATIONS, hash).await.ok();
    let announced = || request(&key, OPERATIONS, 60 * 1024, pending());
    few_bodies_are_read(&world, announced, 429).await;
}

#[tokio::test]
async fn without_a_credential_few_bodies_are_read_at_the_same_time() {
    let world = World::new().await;
    let announced = || request("unknown", OPERATIONS, 60 * 1024, pending());
    few_bodies_are_read(&world, announced, 401).await;
}

/// The request from this address.
fn from(address: [u8; 4], mut request: Request<Body>) -> Request<Body> {
    let peer = ConnectInfo(SocketAddr::from((address, 50_000)));
    request.extensions_mut().insert(peer);
    request
}

/// Sends requests whose bodies never end, and waits until the service reads them.
async fn open(world: &World, requests: impl IntoIterator<Item = Request<Body>>) -> JoinSet<()> {
    let mut unfinished = JoinSet::new();
    for request in requests {
        let (reading, reads) = oneshot::channel();
        let mut reading = Some(reading);
        let body = Body::from_stream(stream::poll_fn(move |_| {
            let _ = reading.take().map(|reading| reading.send(()));
            Poll::<Option<Result<Bytes, Infallible>>>::Pending
        }));
        let (front, request) = (world.front(), request.map(|_| body));
        unfinished.spawn(async move { drop(front.answer(request).await) });
        reads.await.expect("the service reads the body");
    }
    unfinished
}

#[tokio::test]
async fn unfinished_bodies_of_visitors_close_no_sign_in_page() {
    let world = World::new().await;
    let unknown = (0..256_u16).map(|number| {
        let [_, place] = number.to_be_bytes();
        let request = request("unknown", OPERATIONS, 60 * 1024, Body::empty());
        from([192, 0, 2, place / 64], request)
    });
    let form =
        |address| from(address, request("unknown", "/dashboard/sign-in", 100, Body::empty()));
    let refused = open(&world, unknown).await;
    let forms = open(&world, (0..64).map(|_| form([192, 0, 2, 0]))).await;
    let page = Request::get("/dashboard/sign-in").header(header::HOST, "it");
    let page = from([192, 0, 2, 0], page.body(Body::empty()).expect("a request"));
    assert_eq!(world.front().answer(page).await.status(), 200);
    let crowded = world.front().answer(form([192, 0, 2, 0])).await;
    assert_eq!(crowded.status(), 503);
    // It was read, and lacks its form token.
    let read = world.front().answer(form([192, 0, 2, 9])).await;
    assert_eq!(read.status(), 403);
    drop((refused, forms));
}

#[tokio::test]
async fn an_unfinished_form_of_a_visitor_is_refused_after_seconds() {
    let world = World::new().await;
    let form = request("unknown", "/dashboard/sign-in", 100, pending());
    let refused = world.front().answer(form).await;
    assert_eq!(refused.status(), 413);
}

#[tokio::test]
async fn few_forms_of_visitors_are_read_at_the_same_time() {
    let world = World::new().await;
    let announced = || request("unknown", "/dashboard/sign-in", 100, pending());
    few_bodies_are_read(&world, announced, 503).await;
}

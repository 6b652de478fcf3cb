//! Large bodies share a bounded memory.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::{Request, header};
use futures_util::{StreamExt as _, stream};
use sealward::server::Answers as _;
use sealward::settings::{Limits, Span};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use crate::support::{Client, World};

const BATCH: &str = "/api/v1/unprotect/batch";
const OPERATIONS: &str = "/api/v1/operations";

/// This number of the largest bodies use all memory of a caller.
const OF_ONE_CALLER: usize = 4;

/// Announces one of the largest bodies, sends more than 64 KiB of it, and stops. Returns when the service
/// waits for the rest.
async fn stall(world: &World, client: &Client<'_>) -> JoinHandle<()> {
    let (waiting, waits) = oneshot::channel();
    let begin = stream::once(async { Ok::<_, Infallible>(Bytes::from(vec![b' '; 65 * 1024])) });
    let rest = stream::once(async move {
        waiting.send(()).expect("the test waits");
        std::future::pending().await
    });
    let key = client.key.as_ref().expect("a key of its own");
    let request = Request::post(BATCH)
        .header(header::HOST, "it")
        .header(header::AUTHORIZATION, format!("Bearer {key}"))
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::CONTENT_LENGTH, Limits::default().largest_body())
        .body(Body::from_stream(begin.chain(rest)))
        .expect("a request");
    let front = world.front();
    let stalled = tokio::spawn(async move { drop(front.answer(request).await) });
    waits.await.expect("the service reads the body");
    stalled
}

#[tokio::test]
async fn slow_bodies_of_one_service_do_not_delay_another() {
    let patient = World::new().await;
    let (busy, other) = (
        patient.application("busy").await,
        patient.application("other").await,
    );
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
async fn without_a_credential_few_bodies_are_read_at_the_same_time() {
    /// At least the number of bodies that are read.
    const MANY: usize = 1_000;
    let world = World::new().await;
    let mut requests = JoinSet::new();
    for _ in 0..MANY {
        let request = Request::post(OPERATIONS)
            .header(header::HOST, "it")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::CONTENT_LENGTH, 60 * 1024)
            .body(Body::from_stream(stream::pending::<
                Result<Bytes, Infallible>,
            >()))
            .expect("a request");
        let front = world.front();
        requests.spawn(async move { front.answer(request).await.status().as_u16() });
    }
    // The bodies that are read never end, so only the others are refused.
    for _ in 0..500 {
        let status = requests
            .join_next()
            .await
            .expect("a request")
            .expect("an answer");
        assert_eq!(status, 401);
    }
}

//! Work on large bodies leaves the threads that serve requests. The metrics count its jobs.

use serde_json::{Value, json};

use super::metrics::Growth;
use testkit::{
    OPERATIONS, PROTECT, PROTECT_BATCH, REWRAP, REWRAP_BATCH, UNPROTECT, UNPROTECT_BATCH, World,
};

/// From this size, work that scans, encrypts or copies is long.
const LARGE: usize = 256 * 1024;

/// From this size, making a canonical form is long.
const LARGE_TO_CANONICALISE: usize = 16 * 1024;

/// The number of jobs that `post` adds with a low and a high cost, and the response.
async fn expect_jobs(
    world: &World,
    low: f64,
    high: f64,
    post: impl AsyncFnOnce() -> Value,
) -> Value {
    let mut response = Value::Null;
    let growth = Growth::during(world, async || response = post().await).await;
    for (cost, jobs) in [("low", low), ("high", high)] {
        growth.is("sealward_large_body_jobs_total", &[("cost", cost)], jobs);
    }
    response
}

#[tokio::test(flavor = "multi_thread")]
async fn each_step_on_a_large_body_is_a_job() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world.application("alice").bound_to(&destination.policy);
    let alice = alice.await;
    let post = async |path: &str, body: Value| alice.post(path, body).await.ok().json();
    let large = json!({ "payload": "x".repeat(LARGE) });

    // Parse, read, seal.
    let protected = async || post(PROTECT, large.clone()).await;
    let protected = expect_jobs(&world, 3.0, 0.0, protected).await;
    let envelope = json!({ "jwe": protected["jwe"] });
    // Parse, read, open, write.
    for path in [UNPROTECT, REWRAP] {
        let opened = async || post(path, envelope.clone()).await;
        expect_jobs(&world, 4.0, 0.0, opened).await;
    }
    // Count, split, and write the response; parse, read and seal the item.
    let batch = async || post(PROTECT_BATCH, json!({ "items": [large] })).await;
    expect_jobs(&world, 6.0, 0.0, batch).await;
    // The same with one step more to open and write the item.
    for path in [UNPROTECT_BATCH, REWRAP_BATCH] {
        let batch = async || post(path, json!({ "items": [envelope] })).await;
        expect_jobs(&world, 7.0, 0.0, batch).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_canonical_form_is_a_job_with_a_high_cost() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    for (size, low, high) in [
        (LARGE_TO_CANONICALISE / 2, 0.0, 0.0),
        (LARGE_TO_CANONICALISE, 0.0, 1.0),
        (LARGE, 1.0, 1.0),
    ] {
        let body = json!({ "operation": "hash",
            "payload": { "algorithm": "SHA-256", "data": ["x".repeat(size)] } });
        let hash = async || alice.post(OPERATIONS, body).await.ok().json();
        expect_jobs(&world, low, high, hash).await;
    }
}

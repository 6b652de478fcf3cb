//! Downloads of the audit log whose reader loses the right in the middle.

use axum::body::Body;
use axum::http::Request;
use futures_util::StreamExt as _;
use sealward::server::Answers as _;

use engine::ledger::Log;

use crate::dashboard::Browser;
use crate::ledger::{covered, hash, sealed_world};
use testkit::{World, rewrite};

/// Writes so many records that a download has several chunks. Their IDs contain their time.
async fn fill(world: &World) {
    sqlx::raw_sql(
        "SELECT make_audit_day((now() AT TIME ZONE 'UTC')::date);
         INSERT INTO crypto_operations_audit
             (id, ts, request_id, operation_type, payload_size_bytes, response_status, response_time_ms,
              outcome)
         SELECT (lpad(to_hex(floor(extract(epoch FROM ts) * 1000)::bigint), 12, '0')
                    || '70008' || lpad(to_hex(number), 15, '0'))::uuid,
                ts, 'r', 'hash', 1, 200, 1, 'done'
           FROM date_trunc('milliseconds', now()) AS ts, generate_series(1, 2500) AS number",
    )
    .execute(&world.pool)
    .await
    .expect("records");
}

/// A download of the records by an auditor. `change` runs after its first chunk. Returns the number of
/// further chunks, and whether the download is complete.
async fn download(world: &World, change: Option<&'static str>) -> (usize, bool) {
    let auditor = world.administrator(&["auditor"]).await;
    let key = auditor.key.as_deref().expect("a key");
    let request = Request::get("/admin/audit")
        .header("authorization", format!("Bearer {key}"))
        .header("accept", "application/x-ndjson")
        .body(Body::empty())
        .expect("a request");
    let response = world.front().answer(request).await;
    assert_eq!(response.status(), 200);
    let mut chunks = response.into_body().into_data_stream();
    chunks.next().await.expect("a chunk").expect("records");
    if let Some(change) = change {
        rewrite(&world.pool, change).await;
    }
    let mut further = 0;
    while let Some(chunk) = chunks.next().await {
        if chunk.is_err() {
            return (further, false);
        }
        further += 1;
    }
    (further, true)
}

#[tokio::test]
async fn a_download_ends_early_if_its_reader_loses_the_right() {
    let world = World::new().await;
    fill(&world).await;
    assert_eq!(download(&world, None).await, (2, true));
    for change in [
        "UPDATE api_keys SET revoked_at = now() WHERE 'auditor' = ANY (roles)",
        "UPDATE api_keys SET expires_at = now() WHERE 'auditor' = ANY (roles)",
        "UPDATE api_keys SET roles = '{custodian}' WHERE 'auditor' = ANY (roles)",
    ] {
        assert_eq!(download(&world, Some(change)).await, (0, false), "{change}");
    }
}

#[tokio::test]
async fn a_download_ends_early_if_its_session_ends() {
    let world = World::new().await;
    fill(&world).await;
    let mut browser = Browser::signed_in(&world).await;
    let request = Request::get("/dashboard/audit/export.ndjson")
        .header("cookie", browser.cookie.clone().expect("a cookie"))
        .body(Body::empty())
        .expect("a request");
    let response = world.front().answer(request).await;
    assert_eq!(response.status(), 200);
    let mut chunks = response.into_body().into_data_stream();
    chunks.next().await.expect("a chunk").expect("records");
    let left = browser.send("/dashboard/sign-out", &[]).await;
    assert_eq!(left.status, 303);
    assert!(chunks.next().await.expect("an end").is_err());
}

#[tokio::test]
async fn a_download_in_log_order_ends_where_the_log_ended_at_its_start() {
    let world = sealed_world().await;
    hash(&world, 3).await;
    covered(&world, Log::Operations, 3).await;
    let request = Request::get("/admin/audit?order=log_index")
        .header("authorization", format!("Bearer {}", world.admin_key()))
        .header("accept", "application/x-ndjson")
        .body(Body::empty())
        .expect("a request");
    let mut chunks = world.front().answer(request).await.into_body().into_data_stream();
    let first = chunks.next().await.expect("a chunk").expect("records");
    assert_eq!(first.split(|byte| *byte == b'\n').count(), 3 + 1);
    hash(&world, 2).await;
    covered(&world, Log::Operations, 5).await;
    assert!(chunks.next().await.is_none());
}

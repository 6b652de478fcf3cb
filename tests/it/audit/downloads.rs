//! Downloads of the audit log whose reader loses the right in the middle.

use axum::body::Body;
use axum::http::Request;
use futures_util::StreamExt as _;
use sealward::server::Answers as _;

use crate::support::World;

/// Writes so many records that a download has several chunks.
async fn fill(world: &World) {
    sqlx::raw_sql(
        "INSERT INTO crypto_operations_audit
             (id, ts, request_id, operation_type, payload_size_bytes, response_status, response_time_ms)
         SELECT gen_random_uuid(), now(), 'r', 'hash', 1, 200, 1 FROM generate_series(1, 2500)",
    )
    .execute(&world.pool)
    .await
    .expect("records");
}

/// A download of the records by an auditor. `change` runs after its first chunk. Returns the number of
/// further chunks, and whether the download is complete.
async fn download(world: &World, change: &'static str) -> (usize, bool) {
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
    sqlx::raw_sql(change)
        .execute(&world.pool)
        .await
        .expect("the change");
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
    assert_eq!(download(&world, "SELECT").await, (2, true));
    for change in [
        "UPDATE api_keys SET revoked_at = now() WHERE 'auditor' = ANY (roles)",
        "UPDATE api_keys SET expires_at = now() WHERE 'auditor' = ANY (roles)",
        "UPDATE api_keys SET roles = '{custodian}' WHERE 'auditor' = ANY (roles)",
    ] {
        assert_eq!(download(&world, change).await, (0, false), "{change}");
    }
}

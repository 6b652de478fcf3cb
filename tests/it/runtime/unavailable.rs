//! Without the audit log, no result is returned.

use std::time::Duration;

use serde_json::json;

use testkit::{PATIENCE, PROTECT, UNPROTECT, World, jwe, within};

#[tokio::test]
async fn without_the_audit_log_every_request_is_refused() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let jwe = jwe(&alice.protect(json!("a secret")).await);

    sqlx::raw_sql("ALTER TABLE crypto_operations_audit RENAME TO hidden")
        .execute(&world.pool)
        .await
        .unwrap();
    let protected = alice.post(PROTECT, json!({ "payload": "a secret" })).await;
    let protected = protected.refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(protected.header("retry-after"), "1");
    let opened = alice.post(UNPROTECT, json!({ "jwe": jwe })).await;
    let opened = opened.refused(503, "SERVICE_UNAVAILABLE");
    assert!(!opened.body.contains("a secret"));
    // Refusals also need a record.
    alice.post(PROTECT, json!({})).await.refused(503, "SERVICE_UNAVAILABLE");
    let health = alice.get("/api/v1/health").await;
    assert_eq!(health.json()["checks"]["audit"]["status"], "unavailable");

    sqlx::raw_sql("ALTER TABLE hidden RENAME TO crypto_operations_audit")
        .execute(&world.pool)
        .await
        .unwrap();
    within(PATIENCE, async || alice.unprotect(&jwe).await.status == 200).await;
}

#[tokio::test]
async fn a_record_is_written_after_the_client_disconnects() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let jwe = jwe(&alice.protect(json!(1)).await);
    let alice = alice.with("x-request-id", "gone");
    let mut writer = world.pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE crypto_operations_audit IN EXCLUSIVE MODE")
        .execute(&mut *writer)
        .await
        .unwrap();
    let unprotect = alice.unprotect(&jwe);
    // The envelope is open, and the response waits for its record.
    let patience = tokio::time::timeout(Duration::from_millis(500), unprotect);
    assert!(patience.await.is_err(), "answered without a record");
    writer.rollback().await.unwrap();
    within(PATIENCE, async || {
        let sql = "SELECT count(*) FROM crypto_operations_audit WHERE request_id = 'gone'";
        let count: i64 = sqlx::query_scalar(sql).fetch_one(&world.pool).await.unwrap();
        count == 1
    })
    .await;
}

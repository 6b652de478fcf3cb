//! The audit records of a batch.

use std::time::Duration;

use serde_json::json;

use super::{batch, items, still};
use testkit::{PATIENCE, PROTECT_BATCH, REWRAP_BATCH, UNPROTECT, UNPROTECT_BATCH, World, within};

#[tokio::test]
async fn all_items_are_recorded_in_one_commit() {
    let (world, _) = still().await;
    let (destination, alice) = world.bound_application().await;
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
        (999, 200, None, destination.policy.clone(), "done".to_owned()),
    ];
    assert_eq!(rows, expected);
    let listed = world.admin().get("/admin/audit?status=404").await.ok().json();
    assert_eq!(listed["items"][0]["item"], 998);
    assert_eq!(listed["items"][0]["endpoint"], PROTECT_BATCH);
}

#[tokio::test]
async fn an_item_of_a_rewrap_has_two_records() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let sealed = batch(&alice, PROTECT_BATCH, json!([{ "payload": 1 }])).await.ok();
    let jwe = items(&sealed)[0]["jwe"].clone();
    batch(&alice, REWRAP_BATCH, json!([{ "jwe": jwe }, {}])).await.ok();
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
async fn a_batch_stops_when_its_client_disconnects_and_records_all_items() {
    let (world, clock) = still().await;
    let destination = world.destination("rsa", "RSA-4096", "RSA-OAEP-256").await;
    let alice = world.application("alice").bound_to(&destination.policy).await;
    let sealed = batch(&alice, PROTECT_BATCH, json!([{ "payload": 1 }])).await.ok();
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
    let count = async |message: &str| -> i64 {
        let sql = "SELECT count(item) FROM crypto_operations_audit \
                   WHERE endpoint = $1 AND response_status = 499 AND error_message LIKE $2";
        let query = sqlx::query_scalar(sql).bind(UNPROTECT_BATCH).bind(message);
        query.fetch_one(&world.pool).await.unwrap()
    };
    within(PATIENCE, async || count("%").await == 1_000).await;
    assert!(count("%; the operation was not done").await > 0);
}

//! Failures while an approval makes its change.

use serde_json::json;

use super::{Office, approve, proposed, status};

const FAIL: &str = "
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER fail BEFORE INSERT ON keys FOR EACH ROW EXECUTE FUNCTION fail();
";

#[tokio::test]
async fn a_failed_approval_leaves_no_key_and_can_be_repeated() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let service = office.open.service("billing").await;
    let body = json!({ "serviceId": service, "generate": true, "algorithm": "P-256" });
    let change = proposed(&ada.post("/admin/keys", body).await);
    let database = &office.open.pool;
    sqlx::raw_sql(FAIL)
        .execute(database)
        .await
        .expect("a trigger");
    approve(&bob, &change)
        .await
        .refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(status(&ada, &change).await, "pending");
    let approvals = ada.get(&super::path(&change)).await.ok().json()["approvals"].clone();
    assert_eq!(approvals, json!([]));
    // The intent goes with the object in the token.
    let intents = "SELECT count(*) FROM key_intents";
    let left: i64 = sqlx::query_scalar(intents)
        .fetch_one(database)
        .await
        .expect("a count");
    assert_eq!(left, 0);

    sqlx::raw_sql("DROP TRIGGER fail ON keys")
        .execute(database)
        .await
        .expect("no trigger");
    let applied = approve(&bob, &change).await.ok().json();
    assert_eq!(applied["status"], "applied");
}

//! Failures while an approval makes its change.

use std::time::Duration;

use engine::change_kind::ChangeKind;
use serde_json::json;
use sqlx::AssertSqlSafe;

use super::{Office, approve, proposed, status};
use crate::admin::{fail_commits_of_keys, intents};
use testkit::{PATIENCE, within};

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
    sqlx::raw_sql(FAIL).execute(database).await.expect("a trigger");
    approve(&bob, &change).await.refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(status(&ada, &change).await, "pending");
    let approvals = ada.get(&super::path(&change)).await.ok().json()["approvals"].clone();
    assert_eq!(approvals, json!([]));
    // The intent goes with the object in the token.
    assert_eq!(intents(database).await, 0);

    sqlx::raw_sql("DROP TRIGGER fail ON keys").execute(database).await.expect("no trigger");
    let applied = approve(&bob, &change).await.ok().json();
    assert_eq!(applied["status"], "applied");
}

/// The use case of an approval can take long. Its commit checks the approval again.
#[tokio::test]
async fn the_commit_checks_the_approvals_and_the_expiry_again() {
    for (meanwhile, message) in [
        (
            "INSERT INTO revisions SELECT 'api_keys', id, revision + 1, 'revoked' FROM api_keys
              WHERE person = 'eve'",
            "The change is stale: an approver lost the role in the meantime",
        ),
        (
            "UPDATE changes SET expires_at = '2001-01-01'",
            "The change is stale: the change was decided or expired in the meantime",
        ),
        (
            "UPDATE changes SET status = 'rejected', revision = revision + 1",
            "The change is stale: the change was decided or expired in the meantime",
        ),
    ] {
        let office = Office::requiring(&ChangeKind::ALL, 2).await;
        let [ada, bob] = office.two_owners().await;
        let eve = office.person("eve", &["owner"]).await;
        let change = proposed(&ada.post("/admin/policies", office.policy("one").await).await);
        approve(&eve, &change).await.ok();
        let trigger = format!(
            "CREATE FUNCTION meanwhile() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
             BEGIN {meanwhile}; RETURN NEW; END $$;
             CREATE TRIGGER meanwhile BEFORE INSERT ON policies
                FOR EACH ROW EXECUTE FUNCTION meanwhile();"
        );
        let database = &office.open.pool;
        let created = sqlx::raw_sql(AssertSqlSafe(trigger)).execute(database);
        created.await.expect("a trigger");
        let refused = approve(&bob, &change).await.refused(409, "CONFLICT");
        assert_eq!(refused.message(), message);
        let policies = ada.get("/admin/policies").await.ok().json();
        assert_eq!(policies["items"], json!([]));
    }
}

#[tokio::test]
async fn a_refused_approval_is_refused_again() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let mut body = office.policy("one").await;
    body["policyNumber"] = json!("TAKEN");
    let change = proposed(&ada.post("/admin/policies", body.clone()).await);
    let admin = office.open.admin();
    admin.post("/admin/policies", body).await.created();
    let bob = bob.with("idempotency-key", "one");
    for _ in 0..2 {
        let refused = approve(&bob, &change).await;
        assert!(!refused.headers.contains_key("idempotency-replayed"));
        refused.refused(409, "CONFLICT");
        assert_eq!(status(&ada, &change).await, "stale");
    }
}

/// The commit fails, so the approval does not know whether it succeeded.
#[tokio::test]
async fn what_a_failed_commit_leaves_in_the_token_is_removed() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let service = office.open.service("billing").await;
    let body = json!({ "serviceId": service, "generate": true, "algorithm": "AES-256" });
    let change = proposed(&ada.post("/admin/keys", body).await);
    let database = &office.open.pool;
    fail_commits_of_keys(database).await;
    approve(&bob, &change).await.refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(status(&ada, &change).await, "pending");
    assert_eq!(intents(database).await, 1);
    office.open.clock.advance(Duration::from_secs(16 * 60));
    let _third = office.open.requiring(&ChangeKind::ALL, 1).await;
    within(PATIENCE, async || intents(database).await == 0).await;
}

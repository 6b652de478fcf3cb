//! The database is rolled back, and its rows with it: applications are refused until an operator has found out why.

use serde_json::{Value, json};

use super::fixture::Kept;
use testkit::{Answer, OPERATIONS, PATIENCE, Process, Site, within};

const ANCHOR: &str = "SEALWARD_AUDIT_SEAL_ANCHOR";

async fn hash(process: &Process, key: &str) -> Answer {
    let payload = json!({ "data": 1, "algorithm": "SHA-256" });
    process.client(key).post(OPERATIONS, json!({ "operation": "hash", "payload": payload })).await
}

async fn readiness(process: &Process) -> u16 {
    process.anonymous().get("/readyz").await.status.as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn applications_are_refused_until_the_origin_is_new() {
    let site = Site::new().await;
    let keys = site.run(&["audit", "init"]).success().stdout;
    let kept = Kept::of_site(&site, &keys);
    let anchor = kept.anchor();
    let anchor = anchor.to_str().expect("a path of text");
    let process = Process::start_with(&site, &[(ANCHOR, anchor)]).await;
    let key = process.application("billing").await.key.expect("a key");
    hash(&process, &key).await.ok();
    kept.covered(1).await;
    kept.keep_heads().await;
    let lost = process.application("orders").await.key.expect("a key");
    hash(&process, &key).await.ok();
    kept.covered(2).await;
    process.terminate();
    kept.roll_back().await;
    kept.execute(
        "DELETE FROM api_keys WHERE id = (SELECT id FROM api_keys ORDER BY id DESC LIMIT 1)",
    )
    .await;

    let process = Process::start_with(&site, &[(ANCHOR, anchor)]).await;
    assert_eq!(readiness(&process).await, 503);
    let refused = hash(&process, &key).await;
    assert!(!refused.header("retry-after").is_empty());
    refused.refused(503, "SERVICE_UNAVAILABLE");
    let health: Value = process.client(&key).get("/api/v1/health").await.json();
    assert_eq!(health["status"], "unavailable");
    assert_eq!(health["checks"]["records"]["status"], "unavailable");
    // The database has lost the other key.
    hash(&process, &lost).await.refused(503, "SERVICE_UNAVAILABLE");
    // Administrators find out why.
    process.admin().get("/admin/services").await.ok();
    process.admin().get("/admin/audit").await.ok();

    site.run_with(&["audit", "init", "--new-origin"], ANCHOR, anchor).success();
    within(PATIENCE, async || readiness(&process).await == 200).await;
    hash(&process, &key).await.ok();
}

/// The owner of the schema rolls the database back and removes what the anchor is compared with.
#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_is_not_disguised() {
    let site = Site::new().await;
    let keys = site.run(&["audit", "init"]).success().stdout;
    let kept = Kept::of_site(&site, &keys);
    let anchor = kept.anchor();
    let anchor = anchor.to_str().expect("a path of text");
    let process = Process::start_with(&site, &[(ANCHOR, anchor)]).await;
    let key = process.application("billing").await.key.expect("a key");
    hash(&process, &key).await.ok();
    kept.covered(1).await;
    process.terminate();
    for change in [
        "UPDATE audit_log_heads SET origin = 'example.com/other' WHERE log = 1",
        "DELETE FROM audit_log_keys",
        "DELETE FROM audit_log_heads",
    ] {
        kept.execute(change).await;
        let process = Process::start_with(&site, &[(ANCHOR, anchor)]).await;
        assert_eq!(readiness(&process).await, 503, "{change}");
        hash(&process, &key).await.refused(503, "SERVICE_UNAVAILABLE");
        process.terminate();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_under_a_running_instance_stops_it() {
    let site = Site::new().await;
    let keys = site.run(&["audit", "init"]).success().stdout;
    let kept = Kept::of_site(&site, &keys);
    let process = Process::start(&site).await;
    let key = process.application("billing").await.key.expect("a key");
    hash(&process, &key).await.ok();
    kept.covered(1).await;
    kept.keep_heads().await;
    hash(&process, &key).await.ok();
    kept.covered(2).await;
    kept.roll_back().await;
    within(PATIENCE, async || readiness(&process).await == 503).await;
    hash(&process, &key).await.refused(503, "SERVICE_UNAVAILABLE");
}

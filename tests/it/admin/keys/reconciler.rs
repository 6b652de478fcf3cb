//! Comparison of token and records in health checks and `sealward doctor`.

use serde_json::{Value, json};
use testkit::{PATIENCE, within};
use testkit::{Process, Site};

#[tokio::test(flavor = "multi_thread")]
async fn health_and_doctor_report_missing_and_orphaned_keys() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let service = process.service("losing").await;
    let key = process.key(&service, "enc", "P-256").await;
    let hsm = async |process: &Process| {
        let health = process.admin().get("/api/v1/health").await;
        health.json()["checks"]["hsm"].clone()
    };
    within(PATIENCE, async || hsm(&process).await["status"] == "ok").await;
    process.kill();

    // The record names a missing object.
    site.rewrite("UPDATE keys SET token_id = '\\x00ff'").await;
    let report = site.doctor();
    assert_eq!(report["records"]["missing"], json!([key]));
    let orphans = report["records"]["orphans"].as_array().expect("orphans");
    assert_eq!(orphans.len(), 1, "the object must be an orphan: {orphans:?}");

    let process = Process::start(&site).await;
    let mut health = Value::Null;
    within(PATIENCE, async || {
        health = hsm(&process).await;
        health["status"] == "degraded"
    })
    .await;
    assert_eq!(health["missingKeys"], json!([key]));
}

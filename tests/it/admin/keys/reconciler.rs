//! Comparison of token and records in health checks and `sealward doctor`.

use serde_json::{Value, json};
use testkit::{PATIENCE, within};
use testkit::{Process, Site};

#[tokio::test(flavor = "multi_thread")]
async fn health_and_doctor_report_missing_and_orphaned_keys() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let service = process.post("/admin/services", &json!({ "name": "losing" }))["id"].clone();
    let body = json!({ "serviceId": service, "generate": true, "algorithm": "P-256" });
    let key = process.post("/admin/keys", &body)["id"].clone();
    within(PATIENCE, async || {
        process.get("/api/v1/health")["checks"]["hsm"]["status"] == "ok"
    })
    .await;
    process.kill();

    // The record names a missing object.
    let mut database = site.connect().await;
    sqlx::query("UPDATE keys SET token_id = '\\x00ff'")
        .execute(&mut database)
        .await
        .expect("change the record");
    let report = site.doctor();
    assert_eq!(report["records"]["missing"], json!([key]));
    let orphans = report["records"]["orphans"].as_array().expect("orphans");
    assert_eq!(
        orphans.len(),
        1,
        "the object must be an orphan: {orphans:?}"
    );

    let process = Process::start(&site).await;
    let mut health = Value::Null;
    within(PATIENCE, async || {
        health = process.get("/api/v1/health")["checks"]["hsm"].clone();
        health["status"] == "degraded"
    })
    .await;
    assert_eq!(health["missingKeys"], json!([key]));
}

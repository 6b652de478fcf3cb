//! Token and records compared, as operators see it.

use crate::process::{PATIENCE, Process, Site};
use crate::support::within;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn health_and_doctor_report_missing_and_orphaned_keys() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let service = process.post("/admin/services", &json!({ "name": "losing" }))["id"].clone();
    let order = json!({ "serviceId": service, "generate": true, "algorithm": "P-256" });
    let key = process.post("/admin/keys", &order)["id"].clone();
    within(PATIENCE, async || {
        process.get("/api/v1/health")["checks"]["hsm"]["status"] == "ok"
    })
    .await;
    process.kill();

    // The record now names an object that is not there.
    let mut database = site.connect().await;
    sqlx::query("UPDATE keys SET token_id = '\\x00ff'")
        .execute(&mut database)
        .await
        .expect("a record to spoil");
    let report = site.doctor();
    assert_eq!(report["records"]["missing"], json!([key]));
    let orphans = report["records"]["orphans"].as_array().expect("orphans");
    assert_eq!(
        orphans.len(),
        1,
        "the object has lost its record: {orphans:?}"
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

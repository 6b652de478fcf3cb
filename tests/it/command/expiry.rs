//! Warnings of keys that expire soon, in the log and in the metrics.

use std::collections::BTreeMap;
use std::time::Duration;

use formats::clock::Clock;
use serde_json::{Value, json};

use testkit::{PATIENCE, within};
use testkit::{Process, Site};

const HOUR: Duration = Duration::from_secs(60 * 60);

const STAGES: [&str; 4] = ["30d", "7d", "1d", "expired"];

/// Generates a key that expires after these hours, and returns its ID.
async fn key(process: &Process, service: &str, hours: u32, activate: bool) -> Value {
    let end = Clock::system().now().plus(HOUR * hours);
    let order = json!({ "serviceId": service, "name": format!("{hours} hours"), "activate": activate,
        "algorithm": "AES-256", "generate": true, "expiresAt": end });
    let key = process.admin().post("/admin/keys", order).await.created();
    assert_eq!(key.text("expiresAt"), end.to_string());
    json!(key.text("id"))
}

/// The keys that the log names, by the time that they have left.
fn logged(process: &Process) -> BTreeMap<String, Vec<Value>> {
    let mut logged: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in process.log().lines() {
        let line: Value = serde_json::from_str(line).expect("a line in JSON");
        let message = line["message"].as_str().unwrap_or_default();
        if message.contains("expires soon or has expired") {
            assert_eq!(line["level"], "WARN", "{line}");
            let within = line["within"].as_str().expect("a stage");
            logged.entry(within.to_owned()).or_default().push(line["key"].clone());
        }
    }
    logged
}

#[tokio::test(flavor = "multi_thread")]
async fn an_active_key_is_logged_and_counted_30_7_and_1_days_before_it_expires() {
    let site = Site::new().await;
    let variables = [("SEALWARD_METRICS_LISTEN", "127.0.0.1:0")];
    let process = Process::start_with(&site, &variables).await;
    let service = process.service("expiring").await;
    key(&process, &service, 31 * 24, true).await;
    key(&process, &service, 12, false).await;
    let mut expiring = Vec::new();
    for hours in [29 * 24, 6 * 24, 23, 1] {
        expiring.push(key(&process, &service, hours, true).await);
    }
    assert_eq!(logged(&process), BTreeMap::new());
    process.terminate();
    let sql = "UPDATE keys SET expires_at = now() - interval '1 hour' WHERE name = '1 hours'";
    site.rewrite(sql).await;

    // The service looks for such keys when it starts.
    let process = Process::start_with(&site, &variables).await;
    let counts = || {
        let page = process.metrics();
        STAGES.map(|stage| page.sum("sealward_keys_expiring", &[("within", stage)]))
    };
    within(PATIENCE, async || counts() == [1.0; 4]).await;
    let expected = STAGES.into_iter().zip(expiring);
    let expected = expected.map(|(stage, key)| (stage.to_owned(), vec![key]));
    assert_eq!(logged(&process), expected.collect());
}

//! The rotation of keys by the service, with tokens that fail or lack a key.

use faulty_token::Fault;
use serde_json::{Value, json};

use testkit::{LABEL, Process, Site};
use testkit::{PATIENCE, within};

const CKR_DEVICE_ERROR: u64 = 0x30;

/// Generates a key that is due for rotation when the service starts the next time.
async fn due(site: &Site) -> String {
    let process = Process::start(site).await;
    let service = process.service("rotating").await;
    let order = json!({ "serviceId": service, "algorithm": "P-256", "generate": true,
        "rotationDays": 1 });
    let key = process.admin().post("/admin/keys", order).await.created();
    process.terminate();
    let sql = "UPDATE keys SET activated_at = activated_at - interval '1 day'";
    site.rewrite(sql).await;
    key.text("id")
}

/// The statuses of all keys, oldest first.
async fn statuses(process: &Process) -> Vec<Value> {
    let keys = process.admin().get("/admin/keys").await.ok().json();
    let keys = keys["items"].as_array().expect("items").iter();
    keys.map(|key| key["status"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_fails_while_it_makes_a_successor_is_tried_again() {
    let site = Site::with_faults().await;
    due(&site).await;
    let fails = Fault::Return(CKR_DEVICE_ERROR).on("C_GenerateKeyPair");
    site.faults().rules(&[fails.thread("hsm-worker")]);
    let process = Process::start(&site).await;
    within(PATIENCE, async || process.log().contains("the successor of a key was not created"))
        .await;
    assert_eq!(statuses(&process).await, ["active"]);
    process.terminate();
    site.faults().rules(&[]);
    let process = Process::start(&site).await;
    within(PATIENCE, async || statuses(&process).await == ["retired", "active"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_successor_waits_until_every_token_holds_it() {
    // Tokens take turns to make keys. Here the first one has to make the successor, because it remains.
    for _ in 0..10 {
        let site = Site::new().await;
        wait_for_second_token(&site).await;
        // With one token again, every token holds it.
        let process = Process::start(&site).await;
        let lacks = || process.log().contains("no token holds this key");
        let is_active = async || statuses(&process).await == ["retired", "active"];
        within(PATIENCE, async || lacks() || is_active().await).await;
        if !lacks() {
            return;
        }
    }
    panic!("the second token makes all keys");
}

/// Makes a successor on one of two tokens, which waits for the other one.
async fn wait_for_second_token(site: &Site) {
    let key = due(site).await;
    site.add_softhsm("second");
    let both = site.tokens_with(&[LABEL, "second"]);
    let process = Process::start_with(site, &[("SEALWARD_HSM_TOKENS", &both)]).await;
    within(PATIENCE, async || {
        let log = process.log();
        log.contains("the successor of a key is not active yet")
            && log.contains("a token does not hold the key")
    })
    .await;
    assert_eq!(statuses(&process).await, ["active", "retired"]);
    let key = process.admin().get(&format!("/admin/keys/{key}")).await;
    assert_eq!(key.text("status"), "active");
    process.terminate();
}

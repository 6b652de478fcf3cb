//! The records of operations.

use serde_json::{Value, json};

use super::{Site, encode};

/// The records of requests with this ID, in the order of their items.
async fn records(site: &Site, request: &str) -> Vec<Value> {
    let page = site.world.admin().get(&format!("/admin/audit?requestId={request}")).await.ok();
    let mut records = page.json()["items"].as_array().unwrap().clone();
    let order = |record: &Value| (record["item"].as_i64(), record["operation_type"].to_string());
    records.sort_by_key(order);
    records
}

#[tokio::test]
async fn each_operation_has_its_record() {
    let site = Site::new().await;
    let data = site.key("orders", "data", "AES-256").await;
    let signer = site.key("signer", "sig", "P-256").await;
    let mac = site.key("mac", "sig", "HMAC-SHA256").await;
    let ciphertext = site.vault().encrypted("orders", "hello").await;
    let body = json!({ "input": "" });
    let signature = site.vault().done("transit/sign/signer", body).await["signature"].clone();
    for (path, body, operation, key) in [
        ("encrypt/orders", json!({ "plaintext": "aGVsbG8=" }), "encrypt", Some(&data)),
        ("decrypt/orders", json!({ "ciphertext": ciphertext }), "decrypt", Some(&data)),
        ("datakey/wrapped/orders", json!({}), "encrypt", Some(&data)),
        ("sign/signer", json!({ "input": "" }), "sign", Some(&signer)),
        ("verify/signer", json!({ "input": "", "signature": signature }), "verify", Some(&signer)),
        ("hmac/mac", json!({ "input": "" }), "sign", Some(&mac)),
        ("hash/sha2-256", json!({ "input": "" }), "hash", None),
    ] {
        let vault = site.vault().with("x-request-id", path);
        vault.done(&format!("transit/{path}"), body).await;
        let records = records(&site, path).await;
        let [record] = &records[..] else { panic!("{path}: {records:?}") };
        assert_eq!(record["operation_type"], operation, "{path}");
        assert_eq!(record["key_id"], json!(key), "{path}");
        assert_eq!((&record["response_status"], &record["outcome"]), (&json!(200), &json!("done")));
        assert_eq!(record["application_id"], json!(site.service));
        let endpoint = format!("/v1/transit/{}", path.split('/').next().unwrap());
        assert_eq!(record["endpoint"], json!(endpoint));
    }
}

#[tokio::test]
async fn a_rewrap_has_two_records() {
    let site = Site::new().await;
    let first = site.key("orders", "data", "AES-256").await;
    let ciphertext = site.vault().encrypted("orders", "hello").await;
    let second = site.key("orders", "data", "AES-256").await;
    let vault = site.vault().with("x-request-id", "both");
    vault.done("transit/rewrap/orders", json!({ "ciphertext": ciphertext })).await;
    let records = records(&site, "both").await;
    let found: Vec<_> = records.iter().map(|it| (&it["operation_type"], &it["key_id"])).collect();
    let expected = [(&json!("decrypt"), &json!(first)), (&json!("encrypt"), &json!(second))];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn each_item_has_its_record() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault().with("x-request-id", "batch");
    let body = json!({ "batch_input": [{ "plaintext": encode("one") }, {}, { "plaintext": "?" }] });
    let answer = vault.write("transit/encrypt/orders", body).await;
    assert_eq!(answer.status, 400);
    let records = records(&site, "batch").await;
    let found: Vec<_> = records
        .iter()
        .map(|it| {
            (it["item"].clone(), it["response_status"].clone(), it["payload_size_bytes"].clone())
        })
        .collect();
    let expected = [(0, 200, 4), (1, 400, 0), (2, 400, 0)];
    let expected = expected.map(|(item, status, size)| (json!(item), json!(status), json!(size)));
    assert_eq!(found, expected);
}

#[tokio::test]
async fn refusals_are_recorded_with_the_status_of_this_api() {
    let site = Site::new().await;
    let vault = site.vault().with("x-request-id", "refused");
    vault.write("transit/encrypt/unknown", json!({ "plaintext": "" })).await;
    let records = records(&site, "refused").await;
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["response_status"], 400);
    assert_eq!(records[0]["error_code"], "KEY_NOT_FOUND");
    assert_eq!(records[0]["outcome"], "refused");
}

#[tokio::test]
async fn random_bytes_and_reads_of_keys_have_no_record() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault().with("x-request-id", "unrecorded");
    vault.done("transit/random/16", json!({})).await;
    vault.read("transit/keys/orders").await.ok();
    vault.list("transit/keys").await.ok();
    vault.read("auth/token/lookup-self").await.ok();
    assert_eq!(records(&site, "unrecorded").await, Vec::<Value>::new());
}

//! Several operations in one request.

use serde_json::{Value, json};

use super::{Site, Vault, data, encode, refused};

#[tokio::test]
async fn items_keep_their_order_and_their_references() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    let plaintexts: Vec<String> = (0..40).map(|n| format!("plaintext {n}")).collect();
    let items: Vec<Value> = plaintexts
        .iter()
        .enumerate()
        .map(|(place, text)| json!({ "plaintext": encode(text), "reference": place.to_string() }))
        .collect();
    let sealed = vault.done("transit/encrypt/orders", json!({ "batch_input": items })).await;
    let sealed = sealed["batch_results"].as_array().unwrap().clone();
    let items: Vec<Value> = sealed
        .iter()
        .map(|it| json!({ "ciphertext": it["ciphertext"], "reference": it["reference"] }))
        .collect();
    for path in ["decrypt", "rewrap"] {
        let body = json!({ "batch_input": items });
        let done = vault.done(&format!("transit/{path}/orders"), body).await;
        let results = done["batch_results"].as_array().unwrap();
        for (place, result) in results.iter().enumerate() {
            assert_eq!(result["reference"], place.to_string());
            if path == "decrypt" {
                assert_eq!(result["plaintext"], encode(&plaintexts[place]));
            }
        }
        assert_eq!(results.len(), plaintexts.len());
    }
}

#[tokio::test]
async fn a_reference_is_a_text_or_a_number() {
    let site = Site::new().await;
    site.key("signer", "sig", "P-256").await;
    let items = json!([{ "input": "", "reference": 5 }, { "input": "", "reference": [] }]);
    let body = json!({ "batch_input": items });
    let done = site.vault().done("transit/sign/signer", body).await;
    assert_eq!(done["batch_results"][0]["reference"], "5");
    assert_eq!(done["batch_results"][1]["error"], "reference must be a string");
}

#[tokio::test]
async fn one_failed_item_fails_encryption_and_decryption_with_all_results() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    let good = vault.encrypted("orders", "hello").await;
    let items = json!([{ "ciphertext": good, "reference": "a" }, { "ciphertext": "no", "reference": "b" }, {}, 7]);
    let expected = json!([
        { "plaintext": "aGVsbG8=", "reference": "a" },
        { "error": "invalid ciphertext: no prefix", "plaintext": "", "reference": "b" },
        { "error": "missing ciphertext to decrypt", "plaintext": "", "reference": "" },
        { "error": "failed to decode JSON input: the body is not an object", "plaintext": "", "reference": "" },
    ]);
    for (code, status) in
        [(Value::Null, 400), (json!(207), 207), (json!("200"), 200), (json!(0), 400)]
    {
        let body = json!({ "batch_input": items, "partial_failure_response_code": code });
        let answer = vault.write("transit/decrypt/orders", body).await;
        assert_eq!(answer.status, status, "{code}");
        assert_eq!(answer.json()["data"]["batch_results"], expected);
        assert_eq!(answer.json().get("errors"), None);
    }
    // Without a success, the other status does not apply.
    let body =
        json!({ "batch_input": [{ "ciphertext": "no" }], "partial_failure_response_code": 200 });
    assert_eq!(vault.write("transit/decrypt/orders", body).await.status, 400);
    let body = json!({ "batch_input": [{ "plaintext": "" }, { "plaintext": "?" }] });
    let answer = vault.write("transit/encrypt/orders", body).await;
    assert_eq!(answer.status, 400);
    let failed = json!({ "error": "illegal base64 data at input byte 0", "reference": "" });
    assert_eq!(answer.json()["data"]["batch_results"][1], failed);
}

#[tokio::test]
async fn failed_items_of_other_operations_fail_alone() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    site.key("signer", "sig", "P-256").await;
    site.key("mac", "sig", "HMAC-SHA256").await;
    let vault = site.vault();
    let results = async |path: &str, items: Value| {
        let body = json!({ "batch_input": items });
        data(vault.write(&format!("transit/{path}"), body).await)["batch_results"].clone()
    };
    let error = json!("missing input");
    let signed = results("sign/signer", json!([{ "input": "" }, { "reference": "b" }])).await;
    assert_eq!(signed[1], json!({ "error": error, "key_version": 0, "reference": "b" }));
    let valid = json!({ "input": "", "signature": signed[0]["signature"] });
    let verified =
        results("verify/signer", json!([valid, { "reference": "b", "input": "" }])).await;
    assert_eq!(verified[0], json!({ "valid": true, "reference": "" }));
    let error = "exactly one of 'signature' and 'hmac' must be given";
    assert_eq!(verified[1], json!({ "error": error, "valid": false, "reference": "b" }));
    let macs = results("hmac/mac", json!([{ "input": "" }, {}])).await;
    assert!(macs[0]["hmac"].as_str().unwrap().starts_with("vault:v1:"));
    assert_eq!(macs[1], json!({ "error": "missing input for HMAC", "reference": "" }));
    let rewrapped = results("rewrap/orders", json!([{ "ciphertext": "no" }])).await;
    assert_eq!(rewrapped[0], json!({ "error": "invalid ciphertext: no prefix", "reference": "" }));
}

#[tokio::test]
async fn a_batch_that_is_none_is_refused_as_a_whole() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    let item = json!({ "plaintext": "" });
    for (batch, text) in [
        (json!([]), "missing batch input to process"),
        (json!({}), "failed to decode JSON input: batch_input is not an array"),
        (json!("x"), "failed to decode JSON input: batch_input is not an array"),
        (json!(vec![item.clone(); 1_001]), "batch_input must have at most 1000 items"),
        (
            json!([item, { "plaintext": "", "context": "YQ==" }]),
            "context should be set either in all the request blocks or in none",
        ),
    ] {
        let body = json!({ "batch_input": batch });
        refused(&vault.write("transit/encrypt/orders", body).await, 400, &[text]);
    }
}

#[tokio::test]
async fn a_refusal_of_the_whole_call_is_no_result_of_items() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    site.key("signer", "sig", "P-256").await;
    let key = json!({ "name": "reader", "type": "live", "serviceId": site.service,
        "allowedOperations": ["decrypt"] });
    let token = site.world.admin().post("/admin/api-keys", key).await.created().text("secret");
    let reader = Vault::of(&site.world, &token);
    for (path, items) in [
        ("encrypt/orders", json!([{ "plaintext": "" }, { "plaintext": "" }])),
        ("sign/signer", json!([{ "input": "" }])),
        ("sign/signer", json!([{ "input": "" }, { "input": "?" }])),
    ] {
        let path = format!("transit/{path}");
        let answer = reader.write(&path, json!({ "batch_input": items })).await;
        refused(&answer, 403, &["permission denied"]);
    }
    let body = json!({ "batch_input": [{ "input": "" }] });
    let answer = site.vault().write("transit/sign/unknown", body).await;
    refused(&answer, 400, &["signing key not found"]);
}

#[tokio::test]
async fn wishes_that_no_item_would_follow_are_refused() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    site.key("rsa", "sig", "RSA-2048").await;
    let vault = site.vault();
    for (member, value) in
        [("associated_data", json!("YWFk")), ("key_version", json!(9)), ("context", json!("YQ=="))]
    {
        let mut body = json!({ "batch_input": [{ "plaintext": "" }] });
        body[member] = value;
        let text = format!("{member} is not supported beside batch_input");
        refused(&vault.write("transit/encrypt/orders", body).await, 400, &[&text]);
    }
    let latest = json!({ "batch_input": [{ "plaintext": "" }], "key_version": "0" });
    vault.done("transit/encrypt/orders", latest).await;
    let items = json!([{ "input": "", "signature_algorithm": "pkcs1v15" }, { "input": "" }]);
    let done = vault.done("transit/sign/rsa", json!({ "batch_input": items })).await;
    let error = "signature_algorithm is not supported in batch_input, but beside it";
    assert_eq!(done["batch_results"][0]["error"], error);
    assert_eq!(done["batch_results"][1]["key_version"], 1);
    for code in [204, 205, 302, 500, 1] {
        let body =
            json!({ "batch_input": [{ "plaintext": "" }], "partial_failure_response_code": code });
        assert_eq!(vault.write("transit/encrypt/orders", body).await.status, 400, "{code}");
    }
    for path in ["datakey/wrapped/orders", "hash"] {
        let body = json!({ "batch_input": [{ "input": "" }], "input": "" });
        assert_eq!(vault.write(&format!("transit/{path}"), body).await.status, 400, "{path}");
    }
}

#[tokio::test]
async fn each_item_takes_a_token_of_the_rate_limit() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    site.limit(200).await;
    let vault = site.vault();
    let remaining = |answer: &testkit::Answer| -> i64 {
        answer.header("x-ratelimit-remaining").parse().unwrap()
    };
    let one = vault.write("transit/encrypt/orders", json!({ "plaintext": "" })).await.ok();
    let items = vec![json!({ "plaintext": "" }); 50];
    let many = vault.write("transit/encrypt/orders", json!({ "batch_input": items })).await.ok();
    let taken = remaining(&one) - remaining(&many);
    assert!((1..=50).contains(&taken), "{taken}");
    let items = vec![json!({ "plaintext": "" }); 150];
    let body = json!({ "batch_input": items });
    let mut refusals = 0;
    for _ in 0..3 {
        let answer = vault.write("transit/encrypt/orders", body.clone()).await;
        if answer.status == 429 {
            refused(&answer, 429, &["too many requests; try again later"]);
            answer.header("retry-after");
            refusals += 1;
        }
    }
    assert!(refusals > 0);
}

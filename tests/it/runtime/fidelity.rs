//! Payloads are returned exactly.

use axum::http::Method;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE;
use serde_json::json;

use testkit::{OPERATIONS, PROTECT, UNPROTECT, World, jwe};

/// JSON that a parser into a tree would change.
const TEXTS: [&str; 16] = [
    "null",
    "true",
    "0",
    "-0",
    "1.0",
    "1e400",
    "123456789012345678901234567890.123456789012345678901234567890",
    r#""""#,
    r#""\u0041\/\ud83d\ude00 ünï""#,
    r#""\ud800""#,
    r#""\u0000""#,
    "[]",
    "[ 1 ,\t2 ]",
    "{}",
    r#"{"z":1,"a":{"y":[],"b":null},"z ":3}"#,
    r#"{"same":1,"same":2}"#,
];

#[tokio::test]
async fn unprotect_returns_the_exact_payload() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    for text in TEXTS {
        let body = format!(r#"{{ "policyNumber": null, "payload" : {text} }}"#);
        let protected = alice.send_text(Method::POST, PROTECT, &body).await;
        let opened = alice.unprotect(&jwe(&protected)).await.ok();
        let end = format!(r#","operations":["decrypt"],"payload":{text}}}"#);
        assert!(opened.body.ends_with(&end), "{}", opened.body);
    }
}

#[tokio::test]
async fn passthrough_returns_the_exact_payload() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let change = json!({ "status": "inactive", "failureMode": "passthrough" });
    world.change_policy(&destination, change).await;
    let alice = world.application("alice").bound_to(&destination.policy).await;
    for text in TEXTS {
        let body = format!(r#"{{"payload":{text}}}"#);
        let passed = alice.send_text(Method::POST, PROTECT, &body).await.ok();
        assert!(
            passed.body.contains(&format!(r#","payload":{text},"warning""#)),
            "{}",
            passed.body
        );
    }
}

#[tokio::test]
async fn decrypt_returns_the_exact_data() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    world.key(alice.service.as_ref().unwrap(), "data", "AES-256").await;
    for text in TEXTS {
        let body = format!(
            r#"{{"operation":"encrypt","payload":{{"data":{text},"algorithm":"AES-256-GCM"}}}}"#
        );
        let encrypted = alice.send_text(Method::POST, OPERATIONS, &body).await.ok();
        let sealed = encrypted.json()["result"].clone();
        let opened = alice.operate("decrypt", sealed).await.ok();
        assert!(
            opened.body.contains(&format!(r#""result":{{"data":{text}}},"#)),
            "{}",
            opened.body
        );
    }
}

#[tokio::test]
async fn the_largest_allowed_payload_can_be_unprotected() {
    let world = World::new().await;
    let (_, alice) = world.bound_application().await;
    let head = r#"{"payload":""#;
    let text = "x".repeat(1024 * 1024 - head.len() - 2);
    let body = format!("{head}{text}\"}}");
    let protected = alice.send_text(Method::POST, PROTECT, &body).await.ok();
    let jwe = jwe(&protected);
    let pretty = serde_json::to_string_pretty(&protected.json()).unwrap();
    for body in [
        json!({ "jwe": jwe }).to_string(),
        pretty,
        json!({ "protectedPayload": BASE64_URL_SAFE.encode(jwe.to_string()) }).to_string(),
    ] {
        let opened = alice.send_text(Method::POST, UNPROTECT, &body).await.ok();
        assert!(opened.json()["payload"] == text, "{} bytes", body.len());
    }

    let longer = format!("{head}{text}x\"}}");
    let refused = alice.send_text(Method::POST, PROTECT, &longer).await;
    refused.refused(413, "PAYLOAD_TOO_LARGE");
    let endless = json!({ "protectedPayload": "A".repeat(2 * 1024 * 1024) });
    let refused = alice.post(UNPROTECT, endless).await;
    refused.refused(413, "PAYLOAD_TOO_LARGE");
}

#[tokio::test]
async fn the_largest_allowed_data_can_be_decrypted_and_verified() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().unwrap();
    world.key(&service, "data", "AES-256").await;
    world.key(&service, "sig", "P-256").await;
    for (operation, algorithm, back) in
        [("encrypt", "AES-256-GCM", "decrypt"), ("sign", "ECDSA-SHA256", "verify")]
    {
        let head = format!(
            r#"{{"operation":"{operation}","payload":{{"algorithm":"{algorithm}","data":""#
        );
        let text = "x".repeat(1024 * 1024 - head.len() - 3);
        let body = format!("{head}{text}\"}}}}");
        let made = alice.send_text(Method::POST, OPERATIONS, &body).await.ok();
        let mut payload = made.json()["result"].clone();
        if operation == "sign" {
            payload["data"] = json!(text);
        }
        let undone = alice.operate(back, payload).await.ok().json()["result"].clone();
        assert!(undone["data"] == text || undone == json!({ "valid": true }));

        let longer = format!("{head}{text}x\"}}}}");
        let refused = alice.send_text(Method::POST, OPERATIONS, &longer).await;
        refused.refused(413, "PAYLOAD_TOO_LARGE");
    }
    let unknown = format!(r#"{{"operation":"{}"}}"#, "x".repeat(1024 * 1024));
    let refused = alice.send_text(Method::POST, OPERATIONS, &unknown).await;
    refused.refused(413, "PAYLOAD_TOO_LARGE");
}

//! `sealward protect`, `sealward unprotect` and `sealward rewrap`.

use serde_json::{Value, json};

use super::client_site::ClientSite;

#[tokio::test(flavor = "multi_thread")]
async fn a_payload_comes_back_to_the_letter() {
    let site = ClientSite::new().await;
    let payload = "{\"b\": 12345678901234567890, \"a\": 1.0}";
    let context = ["--context", "tenant=acme", "--context", "record=4711"];
    let protect = [&["protect"], &context[..]].concat();
    let envelope = site.run_with(&protect, payload.as_bytes()).success();
    let members: Value = envelope.json();
    assert!(members["protected"].is_string(), "{members}");
    let unprotect = [&["unprotect"], &context[..]].concat();
    let opened = site.run_with(&unprotect, envelope.stdout.as_bytes()).success();
    assert_eq!(opened.line(), payload);

    site.write("payload.json", payload);
    let envelope = site.run(&["protect", "payload.json"]).success();
    site.write("response.json", json!({ "jwe": envelope.json() }).to_string());
    assert_eq!(site.run(&["unprotect", "response.json"]).success().line(), payload);
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_bytes_come_back() {
    let site = ClientSite::new().await;
    let bytes: Vec<u8> = (0..=255).collect();
    let envelope = site.run_with(&["protect", "--raw"], &bytes).success();
    let opened = site.bytes_of(&["unprotect", "--raw"], envelope.stdout.as_bytes());
    assert_eq!(opened.stdout, bytes);
    let envelope = site.run_with(&["protect"], b"[1]").success();
    site.run_with(&["unprotect", "--raw"], envelope.stdout.as_bytes())
        .failure(1, &["was not protected with --raw"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_moves_to_another_policy_and_context() {
    let site = ClientSite::new().await;
    let other = site.process.destination("other", "P-256", "ECDH-ES+A128KW").await;
    let envelope = site.run_with(&["protect", "--context", "a=1"], b"\"x\"").success();
    let rewrap =
        ["rewrap", "--context", "a=1", "--to-policy", &other.policy, "--to-context", "a=2"];
    let moved = site.run_with(&rewrap, envelope.stdout.as_bytes()).success();
    let unprotect = ["unprotect", "--policy", &other.policy, "--context", "a=2"];
    let opened = site.run_with(&unprotect, moved.stdout.as_bytes()).success();
    assert_eq!(opened.line(), "\"x\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_names_code_and_request() {
    let site = ClientSite::new().await;
    site.run_with(&["protect", "--policy", "NONE"], b"1")
        .failure(1, &["404 POLICY_NOT_FOUND", "(request req_"]);
    site.run_with(&["protect"], b"{").failure(1, &["-: the text is not one JSON value"]);
    site.run_with(&["unprotect"], b"{}").failure(1, &["-: the text is not an envelope"]);
    site.run(&["protect", "absent.json"]).failure(1, &["absent.json"]);
    site.run(&["protect", "--context", "tenant"]).failure(2, &["must be NAME=VALUE"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payload_that_is_not_protected_is_no_output() {
    let site = ClientSite::new().await;
    let path = format!("/admin/policies/{}", site.destination.policy_id);
    let change = json!({ "status": "inactive", "failureMode": "passthrough" });
    site.process.admin().put(&path, change).await.ok();
    let refused = site.run_with(&["protect"], b"\"secret\"");
    assert_eq!(refused.stdout, "");
    refused.failure(1, &["passed through and not protected"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_is_required_and_never_shown() {
    let site = ClientSite::new().await;
    let without = |name: &str| {
        let mut command = site.command(&["protect", "key"]);
        command.env_remove("SEALWARD_API_KEY_FILE").env(name, "sk_live_wrong");
        testkit::Exit::from(command.output().expect("run the binary"))
    };
    without("UNUSED").failure(78, &["set --api-key-file or SEALWARD_API_KEY"]);
    site.write("number", "1");
    let mut command = site.command(&["protect", "number"]);
    let command = command.env_remove("SEALWARD_API_KEY_FILE").env("SEALWARD_API_KEY", "sk_live_x");
    let refused = testkit::Exit::from(command.output().expect("run the binary"));
    assert!(!refused.stderr.contains("sk_live_x"), "{refused:?}");
    refused.failure(1, &["401 AUTHENTICATION_FAILED"]);
    let absent = ["protect", "number", "--api-key-file", "absent"];
    site.run(&absent).failure(78, &["cannot read the credential in absent"]);
    let plain = ["protect", "number", "--url", "http://example.com"];
    site.run(&plain).failure(78, &["must begin with https://"]);
}

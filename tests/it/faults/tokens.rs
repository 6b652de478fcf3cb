//! Token failures under load.
//!
//! The tests of the `hsm` crate cover detection and recovery. These tests cover the responses.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use faulty_token::{Fault, Rule};
use serde_json::{Value, json};

use super::fixture::Fixture;
use super::load::{Action, Load};
use testkit::{LABEL, PATIENCE, Process, Site, within};

const CKR_GENERAL_ERROR: u64 = 0x05;
const CKR_DEVICE_REMOVED: u64 = 0x32;
const CKR_KEY_FUNCTION_NOT_PERMITTED: u64 = 0x68;
const CKR_MECHANISM_INVALID: u64 = 0x70;
const CKR_PIN_INCORRECT: u64 = 0xa0;
const CKM_RSA_PKCS: u64 = 0x01;
const CKM_RSA_PKCS_PSS: u64 = 0x0d;

/// The actions that need no token.
const WITHOUT_TOKEN: [Action; 4] = [Action::Protect, Action::Hash, Action::Read, Action::Change];

/// After an outage of less than five seconds, a token is probed within five. A loaded machine can
/// take longer.
const RECOVERY: Duration = Duration::from_secs(5 + 15);

/// The same fault in all calls of unwrapping and of the canary.
fn everywhere(fault: Fault) -> Vec<Rule> {
    ["C_DeriveKey", "C_SignInit", "C_GetTokenInfo", "C_OpenSession"]
        .map(|function| fault.on(function))
        .to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_starts_without_its_token_and_opens_it_later() {
    let site = Site::with_faults().await;
    // The key is made while the token answers.
    let _ = site.admin_key();
    for outage in [
        Fault::Return(CKR_DEVICE_REMOVED).on("C_GetSlotList"),
        Fault::Return(CKR_GENERAL_ERROR).on("C_Initialize"),
        Fault::Hang.on("C_OpenSession"),
    ] {
        site.faults().rules(&[outage]);
        let process = Process::start_with(&site, &[("SEALWARD_HSM_DEADLINE", "1s")]).await;
        let readiness = async || process.anonymous().get("/readyz").await.status;
        assert_eq!(readiness().await, 503);
        assert_eq!(process.anonymous().get("/livez").await.status, 200);
        let refused = process.admin().get("/admin/services").await;
        assert_eq!(refused.status, 503);
        assert!(refused.headers.contains_key("retry-after"));
        site.faults().rules(&[]);
        within(PATIENCE, async || readiness().await == 200).await;
        assert_eq!(process.admin().get("/admin/services").await.status, 200);
        drop(process);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_token_affects_only_operations_that_need_it_and_recovers() {
    let short = [
        ("SEALWARD_HSM_DEADLINE", "1s"),
        ("SEALWARD_HSM_CANARY_INTERVAL", "500ms"),
        // The number of hung threads that are replaced.
        ("SEALWARD_HSM_HANG_BUDGET", "200"),
    ];
    let fixture = Fixture::at(Site::with_faults().await, &short).await;
    let load = Load::tolerating_token_errors(&fixture.client);
    let slow = Duration::from_secs(2);
    for (what, fault) in [
        ("removed", Fault::Return(CKR_DEVICE_REMOVED)),
        ("erroring", Fault::Return(CKR_GENERAL_ERROR)),
        ("slow", Fault::Delay(slow)),
        ("hanging", Fault::Hang),
    ] {
        load.is_served(&Action::ALL).await;
        fixture.site().faults().rules(&everywhere(fault));
        load.is_refused(&[Action::Unprotect]).await;
        load.is_served(&WITHOUT_TOKEN).await;
        fixture.site().faults().rules(&[]);
        let took = load.is_served(&[Action::Unprotect]).await;
        assert!(took < RECOVERY, "{what}: recovered after {took:?}");
    }
    assert!(!load.was_refused(&[Action::Protect, Action::Hash]));
    fixture.assert_recorded_once(load.end().await).await;
    let is_found = async || token_events(&fixture).await.last().unwrap() == "token_found";
    within(PATIENCE, is_found).await;
    let events = token_events(&fixture).await;
    assert!(events.chunks(2).all(|pair| pair == ["token_lost", "token_found"]), "{events:?}");
}

/// Without this, an operator sees only envelopes that do not open.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_that_no_envelope_causes_is_reported() {
    let fixture = Fixture::at(Site::with_faults().await, &[]).await;
    let envelope = &fixture.client.envelope;
    fixture.application().unprotect(envelope).await.ok();
    let refusal = Fault::Return(CKR_KEY_FUNCTION_NOT_PERMITTED);
    fixture.site().faults().rules(&[refusal.on("C_DeriveKey")]);
    let refused = fixture.application().unprotect(envelope).await;
    refused.refused(503, "SERVICE_UNAVAILABLE");
    assert!(fixture.metric("sealward_token_unusable_total") >= 1.0);
    let log = fixture.process().log();
    let mut errors = log.lines().filter(|line| line.contains(r#""level":"ERROR""#));
    assert!(errors.any(|line| line.contains("KeyFunctionNotPermitted")), "{log}");
    let sql = "SELECT error_message FROM crypto_operations_audit WHERE response_status = 503";
    let recorded: Vec<String> =
        sqlx::query_scalar(sql).fetch_all(&mut fixture.site().connect().await).await.expect("rows");
    assert_eq!(recorded, ["the token does not use the key for this operation"]);
    fixture.site().faults().rules(&[]);
    fixture.application().unprotect(envelope).await.ok();
}

/// A mechanism that the token lacks is no outage: a second attempt would fail too.
#[tokio::test(flavor = "multi_thread")]
async fn an_algorithm_that_the_token_lacks_is_not_valid() {
    let fixture = Fixture::at(Site::with_faults().await, &[]).await;
    let (application, process) = (fixture.application(), fixture.process());
    let rsa = process.key(&fixture.client.service, "sig", "RSA-2048").await;
    let aes = process.key(&fixture.client.service, "data", "AES-256").await;
    let lacking = Fault::Return(CKR_MECHANISM_INVALID);
    fixture.site().faults().rules(&[
        lacking.on("C_SignInit").mechanism(CKM_RSA_PKCS),
        lacking.on("C_SignInit").mechanism(CKM_RSA_PKCS_PSS),
        lacking.on("C_EncryptInit"),
    ]);
    let message = json!({ "data": "x", "algorithm": "RSA-SHA256", "keyId": rsa });
    application.operate("sign", message).await.ok();
    let digest = json!({ "data": BASE64_STANDARD.encode([7; 32]), "encoding": "base64", "prehashed": true,
        "algorithm": "RSA-SHA256", "keyId": rsa });
    let pss = json!({ "data": "x", "algorithm": "RSA-PSS-SHA256", "keyId": rsa });
    let gcm = json!({ "data": "x", "algorithm": "AES-256-GCM", "keyId": aes });
    for (operation, payload, field) in [
        ("sign", digest, "payload.prehashed"),
        ("sign", pss, "payload.algorithm"),
        ("encrypt", gcm, "payload.algorithm"),
    ] {
        let answer = application.operate(operation, payload).await;
        answer.invalid(&[(field, "unsupported")]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pin_that_a_later_login_refuses_is_recorded() {
    let fixture = Fixture::at(Site::with_faults().await, &[]).await;
    assert_eq!(token_events(&fixture).await, [""; 0]);
    fixture.site().faults().rules(&[
        Fault::DropLogin.on("C_SignInit").calls(1..=1),
        Fault::Return(CKR_PIN_INCORRECT).on("C_Login"),
    ]);
    // The canary of the token follows an operation.
    let envelope = &fixture.client.envelope;
    fixture.application().unprotect(envelope).await;
    let is_recorded = async || {
        let events = token_events(&fixture).await;
        events.last().is_some_and(|event| event == "pin_refused")
    };
    within(PATIENCE, is_recorded).await;
    let sql = "SELECT after FROM management_events WHERE action = 'pin_refused'";
    let details: Vec<Value> = sqlx::query_scalar(sql)
        .fetch_all(&mut fixture.site().connect().await)
        .await
        .expect("the events");
    let [details] = &details[..] else { panic!("not one event: {details:?}") };
    assert_eq!(details["label"], LABEL);
    assert!(details["reason"].is_string(), "{details}");
}

/// The events of the token, oldest first.
async fn token_events(fixture: &Fixture) -> Vec<String> {
    sqlx::query_scalar(
        "SELECT action FROM management_events WHERE resource_type = 'token' ORDER BY id",
    )
    .fetch_all(&mut fixture.site().connect().await)
    .await
    .expect("the events")
}

#[tokio::test(flavor = "multi_thread")]
async fn token_operations_are_recorded_after_the_client_disconnects() {
    let fixture = Fixture::at(Site::with_faults().await, &[]).await;
    ask_and_disconnect(&fixture).await;
    assert!(recorded(&fixture).await.is_empty(), "the token is still working");
    within(RECOVERY, async || recorded(&fixture).await == [client_left()]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_recorded_although_the_service_shuts_down() {
    let mut fixture = Fixture::at(Site::with_faults().await, &[]).await;
    ask_and_disconnect(&fixture).await;
    let process = fixture.take_process();
    let ended = tokio::task::spawn_blocking(move || process.terminate());
    assert_eq!(ended.await.expect("its end"), Some(0));
    assert_eq!(recorded(&fixture).await, [client_left()]);
}

/// The ID of a request whose client disconnects during the token operation.
const DISCONNECTED: &str = "disconnected";

async fn ask_and_disconnect(fixture: &Fixture) {
    let faults = fixture.site().faults();
    let before = faults.calls("C_DeriveKey");
    let slow = Fault::Delay(Duration::from_secs(2));
    faults.rules(&[slow.on("C_DeriveKey")]);
    let client = fixture.client.clone();
    let pending = tokio::spawn(async move { client.ask(Action::Unprotect, DISCONNECTED).await });
    within(RECOVERY, async || faults.calls("C_DeriveKey") > before).await;
    pending.abort();
    assert!(pending.await.is_err(), "the response arrived before the disconnection");
}

/// The record of a request whose client left before the response.
fn client_left() -> (i16, String, String, String) {
    let message = "the client closed the connection before the response; the operation was done";
    let texts = ["CLIENT_CLOSED_REQUEST", "failed", message].map(str::to_owned);
    let [code, outcome, message] = texts;
    (499, code, outcome, message)
}

/// The status, code, outcome and message of the records of that request.
async fn recorded(fixture: &Fixture) -> Vec<(i16, String, String, String)> {
    let sql = "SELECT response_status, error_code, outcome, error_message \
               FROM crypto_operations_audit WHERE request_id = $1";
    sqlx::query_as(sql)
        .bind(DISCONNECTED)
        .fetch_all(&mut fixture.site().connect().await)
        .await
        .expect("the audit log")
}

//! The log line of each request.

use axum::http::Method;
use faulty_token::Fault;
use serde_json::{Value, json};

use testkit::{Client, Process, Site};
use testkit::{OPERATIONS, PATIENCE, PROTECT, UNPROTECT, within};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

const CKR_GENERAL_ERROR: u64 = 0x05;

/// An application of a process.
struct Application<'p> {
    process: &'p Process,
    client: Client<'p>,
}

impl<'p> Application<'p> {
    async fn new(process: &'p Process) -> Self {
        let client = process.application("billing").await;
        let traceparent = format!("00-{TRACE}-00f067aa0ba902b7-01");
        Self { process, client: client.with("traceparent", &traceparent) }
    }

    /// Sends a request with this id and returns the status of the response.
    async fn send(&self, path: &str, id: &str, body: &str) -> u16 {
        let client = self.client.clone().with("x-request-id", id);
        let answer = client.send_text(Method::POST, path, body).await;
        answer.status.as_u16()
    }

    /// The only log line of the request with this id.
    async fn line(&self, id: &str) -> Value {
        within(PATIENCE, async || lines(self.process, id).len() == 1).await;
        lines(self.process, id).remove(0)
    }

    /// Asserts these members of a log line of `/operations`.
    fn check(&self, line: &Value, level: &str, status: u16, code: &Value) {
        let members = ["level", "caller", "method", "route", "status", "code", "trace_id"];
        let shown = members.map(|member| line[member].clone());
        let caller = &self.client.key_id;
        let expected = json!([level, caller, "POST", OPERATIONS, status, code, TRACE]);
        assert_eq!(json!(shown), expected, "{line}");
        assert!(line["duration_ms"].is_number(), "{line}");
        assert_eq!(line["cause"].is_string(), status >= 400, "{line}");
        // The form of Rust values.
        let text = line["cause"].as_str().unwrap_or_default();
        assert!(!text.contains(['{', '[']), "{line}");
    }
}

/// The log lines of the request with this id.
fn lines(process: &Process, request: &str) -> Vec<Value> {
    let log = process.log();
    let lines = log.lines().map(serde_json::from_str::<Value>);
    let lines = lines.map(|line| line.expect("a line in JSON"));
    lines.filter(|line| line["request_id"] == request).collect()
}

#[tokio::test]
async fn each_request_is_one_line_without_its_payload() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let billing = Application::new(&process).await;
    let mut body = json!({ "operation": "hash",
        "payload": { "data": "log canary", "algorithm": "SHA-256" } });
    let status = billing.send(OPERATIONS, "accepted", &body.to_string()).await;
    assert_eq!(status, 200);
    body["canary name"] = json!(1);
    let status = billing.send(OPERATIONS, "refused", &body.to_string()).await;
    assert_eq!(status, 400);
    for (id, status, code) in
        [("accepted", 200, Value::Null), ("refused", 400, json!("INVALID_REQUEST"))]
    {
        billing.check(&billing.line(id).await, "INFO", status, &code);
    }
    for payload in ["log canary", "canary name"] {
        assert!(!process.log().contains(payload), "{payload}");
    }
    // Without a credential, the line has no caller.
    let anonymous = process.anonymous().with("x-request-id", "anonymous");
    anonymous.get("/livez").await.ok();
    assert_eq!(billing.line("anonymous").await["caller"], Value::Null);
}

#[tokio::test]
async fn the_line_of_a_failed_request_is_an_error_and_has_its_cause() {
    let site = Site::with_faults().await;
    let process = Process::start(&site).await;
    let billing = Application::new(&process).await;
    let service = billing.client.service.as_ref().expect("a service");
    process.key(service, "data", "AES-256").await;
    let fails = Fault::Return(CKR_GENERAL_ERROR).on("C_Encrypt");
    site.faults().rules(&[fails]);
    let body = json!({ "operation": "encrypt",
        "payload": { "data": "secret", "algorithm": "AES-256-GCM" } });
    let status = billing.send(OPERATIONS, "failed", &body.to_string()).await;
    assert_eq!(status, 500);
    let line = billing.line("failed").await;
    billing.check(&line, "ERROR", 500, &json!("INTERNAL_ERROR"));
    let cause = line["cause"].as_str().expect("a cause");
    assert!(cause.contains("C_Encrypt"), "{line}");
}

#[tokio::test]
async fn the_line_of_a_request_that_the_database_fails_has_its_cause() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let sql = "ALTER TABLE keys RENAME TO moved";
    let moved = sqlx::query(sql).execute(&mut site.connect().await).await;
    moved.expect("move the table");
    let answer = process.admin().get("/admin/keys").await;
    let answer = answer.refused(500, "INTERNAL_ERROR").json();
    let id = answer["requestId"].as_str().expect("an id");
    within(PATIENCE, async || lines(&process, id).len() == 1).await;
    let line = lines(&process, id).remove(0);
    let members = ["level", "method", "route", "status", "code"].map(|member| line[member].clone());
    let expected = json!(["ERROR", "GET", "/admin/keys", 500, "INTERNAL_ERROR"]);
    assert_eq!(json!(members), expected, "{line}");
    assert!(line["caller"].is_string(), "{line}");
    let cause = line["cause"].as_str().expect("a cause");
    assert!(cause.contains("\"keys\" does not exist"), "{line}");
    assert!(!answer.to_string().contains("does not exist"), "{answer}");
}

#[tokio::test]
async fn the_log_has_no_values_of_the_payload_of_a_request() {
    const SECRET: &str = "log canary";
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let billing = Application::new(&process).await;
    let operation = |operation: &str, payload: Value| {
        let body = json!({ "operation": operation, "payload": payload });
        (OPERATIONS, body.to_string())
    };
    let requests = [
        operation("hash", json!({ "data": SECRET, "algorithm": "SHA-256" })),
        operation("hash", json!({ "data": SECRET, "algorithm": SECRET })),
        operation("hash", json!({ "data": SECRET, "algorithm": "SHA-256", "unknown": SECRET })),
        operation("sign", json!({ "data": SECRET, "algorithm": "Ed25519", "encoding": "base64" })),
        operation(
            "decrypt",
            json!({ "ciphertext": SECRET, "iv": SECRET, "tag": SECRET, "keyId": SECRET,
                "algorithm": "AES-256-GCM" }),
        ),
        operation("decrypt", json!(SECRET)),
        operation(SECRET, json!(SECRET)),
        (PROTECT, json!({ "payload": SECRET }).to_string()),
        (
            PROTECT,
            json!({ "payload": SECRET, "context": { "a": [SECRET] }, "b": SECRET }).to_string(),
        ),
        (PROTECT, format!(r#"{{"payload":"{SECRET}","payload":"{SECRET}"}}"#)),
        (PROTECT, format!(r#"{{"payload":"{SECRET}""#)),
        (PROTECT, format!(r#"{{"payload":{SECRET}}}"#)),
        (PROTECT, json!(SECRET).to_string()),
        (UNPROTECT, json!({ "jwe": { "protected": SECRET } }).to_string()),
        (UNPROTECT, json!({ "protectedPayload": SECRET }).to_string()),
    ];
    for (number, (path, body)) in requests.iter().enumerate() {
        let id = format!("request {number}");
        let status = billing.send(path, &id, body).await;
        let expected = if number == 0 { 200..=200 } else { 400..=499 };
        assert!(expected.contains(&status), "{body}: {status}");
        billing.line(&id).await;
    }
    let log = process.log();
    let shown: Vec<_> = log.lines().filter(|line| line.contains(SECRET)).collect();
    assert_eq!(shown, [""; 0]);
}

//! The log line of each request.

use serde_json::{Value, json};

use crate::process::{Process, Site};
use crate::support::{PATIENCE, within};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

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
    let service = process.post("/admin/services", &json!({ "name": "billing" }));
    let key = json!({ "name": "billing", "type": "live", "serviceId": service["id"] });
    let key = process.post("/admin/api-keys", &key);
    let send = |id: &str, body: Value| {
        let request = ureq::post(process.url("/api/v1/operations"))
            .config()
            .http_status_as_error(false)
            .build();
        let answer = request
            .header("x-request-id", id)
            .header("traceparent", format!("00-{TRACE}-00f067aa0ba902b7-01"))
            .header(
                "authorization",
                format!("Bearer {}", key["secret"].as_str().unwrap()),
            )
            .header("content-type", "application/json")
            .send(body.to_string());
        answer.expect("an answer").status().as_u16()
    };
    let body = |data: &str| json!({ "operation": "hash", "payload": { "data": data, "algorithm": "SHA-256" } });
    assert_eq!(send("accepted", body("log canary")), 200);
    let mut unknown = body("log canary");
    unknown["log canary"] = json!(1);
    unknown["operation"] = json!("decrypt");
    assert_eq!(send("refused", unknown), 400);
    for (id, status, level, code) in [
        ("accepted", 200, "INFO", Value::Null),
        ("refused", 400, "INFO", json!("INVALID_REQUEST")),
    ] {
        within(PATIENCE, async || lines(&process, id).len() == 1).await;
        let line = lines(&process, id).remove(0);
        let members = [
            "level", "caller", "method", "route", "status", "code", "trace_id",
        ];
        let shown = members.map(|member| line[member].clone());
        let expected = json!([
            level,
            key["id"],
            "POST",
            "/api/v1/operations",
            status,
            code,
            TRACE
        ]);
        assert_eq!(json!(shown), expected, "{line}");
        assert!(line["duration_ms"].is_number(), "{line}");
        assert_eq!(line["cause"].is_string(), status >= 400, "{line}");
        // The form of Rust values.
        let text = line["cause"].as_str().unwrap_or_default();
        assert!(!text.contains(['{', '[']), "{line}");
    }
    // Without a credential, the line has no caller.
    let anonymous = ureq::get(process.url("/livez"))
        .header("x-request-id", "anonymous")
        .call();
    assert_eq!(anonymous.expect("an answer").status(), 200);
    within(PATIENCE, async || lines(&process, "anonymous").len() == 1).await;
    assert_eq!(lines(&process, "anonymous")[0]["caller"], Value::Null);
}

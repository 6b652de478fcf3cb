//! Observability of a running service: metrics on a separate listener, and traces to a
//! collector.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message as _;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use testkit::{PATIENCE, within};
use testkit::{Process, Site};

#[tokio::test]
async fn an_outage_of_a_token_is_visible_in_the_metrics() {
    let site = Site::new().await;
    let process = Process::start_with(
        &site,
        &[("SEALWARD_METRICS_LISTEN", "127.0.0.1:0"), ("SEALWARD_HSM_CANARY_INTERVAL", "200ms")],
    )
    .await;
    let state =
        |name: &str| process.metrics().sum("sealward_token_state", &[("state", name)]) > 0.0;
    within(PATIENCE, async || state("serving")).await;
    let tokens = site.file("token/tokens");
    fs::rename(&tokens, site.file("token/elsewhere")).expect("move the token away");
    within(PATIENCE, async || state("out")).await;
    assert!(!state("serving"));
    assert!(process.metrics().sum("sealward_token_outages_total", &[]) > 0.0);
    fs::rename(site.file("token/elsewhere"), &tokens).expect("move the token back");
    within(PATIENCE, async || state("serving")).await;
}

#[tokio::test]
async fn metrics_are_local_unless_allowed() {
    let site = Site::new().await;
    site.run_with(&["check-config"], "SEALWARD_METRICS_LISTEN", "0.0.0.0:9464")
        .failure(78, &["metrics.listen = \"0.0.0.0:9464\"", "metrics.allow_plain"]);
}

/// The received spans.
type Spans = Arc<Mutex<Vec<Value>>>;

/// An OpenTelemetry collector for one service, which must send these headers. Returns its URL.
async fn collector(
    spans: Spans,
    service: &'static str,
    headers: &'static [(&str, &str)],
) -> String {
    let take = async move |found: HeaderMap, message: Bytes| {
        for (name, value) in headers {
            assert_eq!(found[*name], *value);
        }
        let message = ExportTraceServiceRequest::decode(message).expect("protobuf");
        let message = serde_json::to_value(message).expect("JSON");
        let mut spans = spans.lock().unwrap();
        for resource in message["resourceSpans"].as_array().unwrap() {
            let attributes = resource["resource"]["attributes"].as_array().unwrap();
            let name = json!({ "key": "service.name", "value": { "stringValue": service } });
            assert!(attributes.contains(&name), "{attributes:?}");
            for scope in resource["scopeSpans"].as_array().unwrap() {
                spans.extend(scope["spans"].as_array().unwrap().iter().cloned());
            }
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/v1/traces", post(take));
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_variables_of_opentelemetry_configure_traces() {
    let site = Site::new().await;
    let spans = Spans::default();
    let headers = &[("authorization", "Bearer collector")];
    let endpoint = collector(spans.clone(), "billing-seal", headers).await;
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20collector"),
        ("OTEL_SERVICE_NAME", "billing-seal"),
        ("OTEL_BSP_SCHEDULE_DELAY", "100"),
    ];
    let process = Process::start_with(&site, &variables).await;
    process.service("traced").await;
    // Without a trusted proxy, a client does not decide about sampling.
    let trace = format!("{:032x}", rand::random::<u128>());
    let unsampled = ureq::get(process.url("/livez"))
        .header("traceparent", format!("00-{trace}-b7ad6b7169203331-00"))
        .call();
    assert_eq!(unsampled.unwrap().status(), 200);
    within(PATIENCE, async || !of_trace(&spans, &trace).is_empty()).await;
    within(PATIENCE, async || {
        let spans = spans.lock().unwrap();
        spans.iter().any(|span| span["name"] == "POST /admin/services")
    })
    .await;
}

/// The spans of one trace by name.
fn of_trace(spans: &Spans, trace: &str) -> BTreeMap<String, Value> {
    let spans = spans.lock().unwrap();
    let ours = spans.iter().filter(|span| span["traceId"] == trace);
    ours.map(|span| (span["name"].as_str().unwrap().to_owned(), span.clone())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_step_of_a_request_is_a_span_without_secrets() {
    let site = Site::new().await;
    let spans = Spans::default();
    let endpoint = collector(spans.clone(), "sealward", &[]).await;
    let variables = [
        ("SEALWARD_TELEMETRY_OTLP_ENDPOINT", endpoint.as_str()),
        ("SEALWARD_HTTP_TRUSTED_PROXIES", "[\"127.0.0.0/8\"]"),
    ];
    let process = Process::start_with(&site, &variables).await;
    let (_, application) = process.bound_application().await;
    let key = application.key.expect("a key");

    let canary = format!("canary-{:032x}", rand::random::<u128>());
    let ask = |path: &str, body: &Value, traceparent: &str| -> Value {
        let answer = ureq::post(process.url(path))
            .header("Authorization", format!("Bearer {key}"))
            .header("Content-Type", "application/json")
            .header("traceparent", traceparent)
            .send(body.to_string());
        let text = answer.unwrap().body_mut().read_to_string().unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let traces =
        [1, 2, 3, 4].map(|number: u8| format!("{number:02}{:030x}", rand::random::<u64>()));
    let parent = "b7ad6b7169203331";
    let within_trace = |trace: &str, flags: &str| format!("00-{trace}-{parent}-{flags}");
    let payload = json!({ "payload": canary });
    // A request that the client does not sample is not traced.
    ask("/api/v1/protect", &payload, &within_trace(&traces[0], "00"));
    let protected = ask("/api/v1/protect", &payload, &within_trace(&traces[1], "01"));
    let envelope = json!({ "jwe": protected["jwe"] });
    let opened = ask("/api/v1/unprotect", &envelope, &within_trace(&traces[2], "01"));
    assert_eq!(opened["payload"], canary);

    // Each request is one line of the log, without its payload.
    let log = process.log();
    assert!(!log.contains(&canary));
    let lines = log.lines().filter_map(|line| serde_json::from_str(line).ok());
    let line: Value = { lines }
        .find(|line: &Value| line["trace_id"] == traces[1].as_str())
        .expect("a line of the log");
    assert_eq!(line["message"], "request answered");
    assert_eq!(line["method"], "POST");
    assert_eq!(line["route"], "/api/v1/protect");
    assert_eq!(line["status"], 200);
    assert!(line["caller"].as_str().unwrap().starts_with("ak_"));
    assert!(line["duration_ms"].as_f64().unwrap() > 0.0);

    // Requests to the management API and the dashboard are traced too.
    let administrator = ureq::get(process.url("/admin/services"))
        .header("Authorization", format!("Bearer {}", site.admin_key()))
        .header("traceparent", within_trace(&traces[3], "01"))
        .call();
    assert_eq!(administrator.unwrap().status(), 200);
    let page = ureq::get(process.url("/dashboard/sign-in")).call();
    assert_eq!(page.unwrap().status(), 200);

    let steps = ["caller", "limit", "permit", "crypto", "audit", "answer"];
    let expected = |more: &[&'static str]| -> BTreeSet<String> {
        steps.iter().chain(more).map(|&name| name.to_owned()).collect()
    };
    let names = |trace: &str| -> BTreeSet<String> { of_trace(&spans, trace).into_keys().collect() };
    let protect = expected(&["POST /api/v1/protect"]);
    let unprotect = expected(&["POST /api/v1/unprotect", "queue", "token"]);
    let manage = ["GET /admin/services", "caller", "limit", "management"].map(str::to_owned);
    let manage = BTreeSet::from(manage);
    let exists = |name: &str| spans.lock().unwrap().iter().any(|span| span["name"] == name);
    within(PATIENCE, async || {
        names(&traces[1]) == protect
            && names(&traces[2]) == unprotect
            && names(&traces[3]) == manage
            && exists("GET /dashboard/sign-in")
    })
    .await;
    assert_eq!(names(&traces[0]), BTreeSet::new());

    let found = of_trace(&spans, &traces[2]);
    let root = &found["POST /api/v1/unprotect"];
    assert_eq!(root["parentSpanId"], parent);
    assert_eq!(root["kind"], 2);
    let attribute = |key: &str| {
        let attributes = root["attributes"].as_array().unwrap();
        let found = attributes.iter().find(|attribute| attribute["key"] == key);
        found.map(|attribute| attribute["value"].clone())
    };
    let status = attribute("http.response.status_code");
    assert_eq!(status, Some(json!({ "intValue": "200" })));
    assert_eq!(attribute("http.route"), Some(json!({ "stringValue": "/api/v1/unprotect" })));
    for step in steps {
        assert_eq!(found[step]["parentSpanId"], root["spanId"], "{step}");
    }
    // Spans have these attributes and no others.
    for (name, span) in &found {
        let attributes = span["attributes"].as_array().unwrap().iter();
        let keys: BTreeSet<_> = attributes.map(|it| it["key"].as_str().unwrap()).collect();
        let expected: &[&str] = match name.as_str() {
            "POST /api/v1/unprotect" => &[
                "http.request.method",
                "http.response.status_code",
                "http.route",
                "sealward.request_id",
            ],
            "token" => &["sealward.token"],
            _ => &[],
        };
        assert_eq!(keys, expected.iter().copied().collect(), "{name}");
        assert_eq!(span["events"], json!([]), "{name}");
    }
    for step in ["queue", "token"] {
        assert_eq!(found[step]["parentSpanId"], found["crypto"]["spanId"], "{step}");
    }
    let time = |span: &Value, name: &str| -> u64 { span[name].as_str().unwrap().parse().unwrap() };
    for span in found.values() {
        assert!(time(span, "startTimeUnixNano") <= time(span, "endTimeUnixNano"));
        assert!(time(root, "startTimeUnixNano") <= time(span, "startTimeUnixNano"));
    }

    let everything = serde_json::to_string(&*spans.lock().unwrap()).unwrap();
    let ciphertext = protected["jwe"]["ciphertext"].as_str().unwrap();
    let secrets =
        [key.as_str(), site.admin_key(), "sk_live_", "sk_admin_", "Bearer", &canary, ciphertext];
    for secret in secrets {
        assert!(!everything.contains(secret), "{secret}");
    }
}

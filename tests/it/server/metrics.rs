//! The metrics: names, descriptions, and
//! values that follow the requests.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use serde_json::json;
use tower::ServiceExt as _;

use super::site::Site;
use testkit::{Answer, Client, Exposition, PATIENCE, World, jwe, within};

async fn scrape(world: &World) -> Exposition {
    let request = Request::get("/metrics").body(Body::empty()).unwrap();
    let tls = Site::new().tls().unwrap();
    let response = world.metrics(Some(tls)).await.oneshot(request).await.unwrap();
    let answer = Answer::of(response).await.ok();
    assert_eq!(
        answer.header("content-type"),
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    Exposition::parse(&answer.body)
}

#[tokio::test]
async fn each_metric_exists_and_has_a_description() {
    let world = World::new().await;
    world.anonymous().get("/livez").await.ok();
    // The metrics of token operations begin with the first operation.
    world.some_destination().await;
    within(PATIENCE, async || scrape(&world).await.sum("sealward_database_up", &[]) > 0.0).await;
    let page = scrape(&world).await;
    let mut text = String::new();
    for (name, family) in &page.families {
        let (_, labels) = page.lines_of(name);
        let labels: Vec<_> = labels.into_iter().collect();
        text += &format!("{} {name} {{{}}}\n    {}\n", family.kind, labels.join(", "), family.help);
    }
    insta::assert_snapshot!(text);
}

#[tokio::test]
async fn metric_names_follow_the_prometheus_conventions() {
    let world = World::new().await;
    world.anonymous().get("/livez").await.ok();
    let page = scrape(&world).await;
    let plain = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    for (name, family) in &page.families {
        let is_own = name.starts_with("sealward_") || name.starts_with("process_");
        assert!(is_own && plain(name), "{name}");
        assert!(family.help.ends_with('.'), "{name}: {:?}", family.help);
        let (lines, labels) = page.lines_of(name);
        assert!(labels.iter().all(|label| plain(label)), "{name}: {labels:?}");
        // These labels would have an unlimited number of values.
        for unlimited in ["id", "service", "key", "client", "request", "policy"] {
            assert!(!labels.contains(unlimited), "{name}: {labels:?}");
        }
        let expected: &[String] = match family.kind.as_str() {
            "counter" => &[format!("{name}_total")],
            "gauge" => std::slice::from_ref(name),
            "histogram" => &["_bucket", "_count", "_sum"].map(|part| format!("{name}{part}")),
            other => panic!("{name} is a {other}"),
        };
        // A metric without values has no samples.
        assert!(lines.is_empty() || lines.iter().copied().eq(expected.iter()), "{name}: {lines:?}");
        for unit in ["millis", "micros", "_ms", "minutes", "percent", "_kb"] {
            assert!(!name.contains(unit), "{name} is not in a base unit");
        }
        let times = ["_duration_", "_latency_", "_age_", "_timestamp_", "_cpu_", "_start_time_"];
        let is_time = times.iter().any(|word| name.contains(word));
        assert_eq!(is_time, name.ends_with("_seconds"), "{name}");
    }
}

/// The metrics before and after an action.
pub(super) struct Growth(Exposition, Exposition);

impl Growth {
    pub(super) async fn during(world: &World, work: impl AsyncFnOnce()) -> Self {
        let before = scrape(world).await;
        work().await;
        Self(before, scrape(world).await)
    }

    #[track_caller]
    pub(super) fn is(&self, name: &str, labels: &[(&str, &str)], expected: f64) {
        let grown = self.1.sum(name, labels) - self.0.sum(name, labels);
        assert!((grown - expected).abs() < f64::EPSILON, "{name}: {grown}");
    }

    /// Other tests can use the token of this process at the same time.
    #[track_caller]
    fn is_at_least(&self, name: &str, expected: f64) {
        let grown = self.1.sum(name, &[]) - self.0.sum(name, &[]);
        assert!(grown >= expected, "{name}: {grown}");
    }
}

async fn caller(world: &World) -> Client<'_> {
    let destination = world.some_destination().await;
    let caller = world.application("caller").bound_to(&destination.policy);
    caller.await
}

#[tokio::test]
async fn a_request_changes_the_metrics_of_its_components() {
    let world = World::new().await;
    let caller = caller(&world).await;
    let growth = Growth::during(&world, async || {
        let protected = caller.protect(json!("secret")).await;
        caller.unprotect(&jwe(&protected)).await.ok();
        caller.unprotect(&json!({})).await.refused(400, "INVALID_REQUEST");
        world.anonymous().get("/nowhere/at/all").await.refused(404, "NOT_FOUND");
    })
    .await;
    let requests = "sealward_http_requests_total";
    let protect =
        [("route", "/api/v1/protect"), ("method", "POST"), ("status", "200"), ("code", "")];
    growth.is(requests, &protect, 1.0);
    let unprotect = ("route", "/api/v1/unprotect");
    growth.is(requests, &[unprotect, ("status", "200")], 1.0);
    growth.is(requests, &[unprotect, ("status", "400"), ("code", "INVALID_REQUEST")], 1.0);
    growth.is(requests, &[("route", "other"), ("status", "404"), ("code", "NOT_FOUND")], 1.0);
    let total = "sealward_http_request_duration_seconds";
    growth.is(&format!("{total}_count"), &[unprotect], 2.0);
    growth.is(&format!("{total}_bucket"), &[unprotect, ("le", "+Inf")], 2.0);
    growth.is(&format!("{total}_count"), &[("route", "other")], 1.0);
    growth.is("sealward_audit_commit_duration_seconds_count", &[], 3.0);
    growth.is("sealward_audit_batch_records_sum", &[], 3.0);
    for token in [
        "sealward_token_operations_total",
        "sealward_token_queue_duration_seconds_count",
        "sealward_token_operation_duration_seconds_count",
    ] {
        growth.is_at_least(token, 1.0);
    }
    growth.is_at_least("sealward_token_operation_duration_seconds_sum", 1e-6);
    let limiter = "sealward_ratelimit_requests_total";
    growth.is(limiter, &[("scope", "service"), ("outcome", "admitted")], 3.0);
    growth.is(limiter, &[("scope", "service"), ("outcome", "refused")], 0.0);
    let decisions = "sealward_ratelimit_decisions_total";
    growth.is(decisions, &[("counting", "alone")], 3.0);
    growth.is(decisions, &[("counting", "together")], 0.0);
}

#[tokio::test]
async fn payloads_that_leave_unprotected_are_counted() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let caller = world.application("caller").bound_to(&destination.policy);
    let caller = caller.await;
    let growth = Growth::during(&world, async || {
        caller.protect(json!("secret")).await.ok();
        for (mode, status) in [("passthrough", 200), ("drop", 200), ("error", 403)] {
            let change = json!({ "status": "inactive", "failureMode": mode });
            world.change_policy(&destination, change).await;
            assert_eq!(caller.protect(json!("secret")).await.status, status);
        }
    })
    .await;
    growth.is("sealward_payloads_passed_through_total", &[], 1.0);
}

#[tokio::test]
async fn pages_of_the_dashboard_are_counted_by_their_routes() {
    let world = World::new().await;
    let growth = Growth::during(&world, async || {
        world.anonymous().get("/dashboard/sign-in").await.ok();
        for place in ["keys/one", "keys/another", "no/such/page"] {
            let answer = world.anonymous().get(&format!("/dashboard/{place}")).await;
            assert_eq!(answer.status.as_u16(), 303, "{place}");
        }
    })
    .await;
    let requests = "sealward_http_requests_total";
    let sign_in = [("route", "/dashboard/sign-in"), ("method", "GET"), ("status", "200")];
    growth.is(requests, &sign_in, 1.0);
    let key = ("route", "/dashboard/keys/{id}");
    growth.is(requests, &[key, ("status", "303")], 2.0);
    growth.is(requests, &[("route", "other"), ("status", "303")], 1.0);
    growth.is("sealward_http_request_duration_seconds_count", &[key], 2.0);
}

#[tokio::test]
async fn refusals_of_the_limiter_are_visible_in_the_metrics() {
    let world = World::new().await;
    let service = world.service("busy").await;
    let slow = json!({ "tier": "enterprise", "rateLimit": { "requestsPerSecond": 1, "burst": 1 } });
    world.admin().put(&format!("/admin/services/{service}"), slow).await.ok();
    let key = json!({ "name": "key", "type": "live", "serviceId": service });
    let key = world.admin().post("/admin/api-keys", key).await.created().text("secret");
    let caller = world.client(&key);
    let growth = Growth::during(&world, async || {
        let hash = json!({ "data": 1, "algorithm": "SHA-256" });
        // The bucket refills during the loop, so the number of admitted requests varies.
        loop {
            let answer = caller.operate("hash", hash.clone()).await;
            if answer.status.as_u16() == 429 {
                break;
            }
            answer.ok();
        }
        world
            .client("sk_live_unknown")
            .protect(json!(1))
            .await
            .refused(401, "AUTHENTICATION_FAILED");
    })
    .await;
    let limiter = "sealward_ratelimit_requests_total";
    growth.is(limiter, &[("scope", "service"), ("outcome", "refused")], 1.0);
    growth.is(limiter, &[("scope", "failed_authentication"), ("outcome", "admitted")], 1.0);
    let refused = [("status", "429"), ("code", "RATE_LIMIT_EXCEEDED")];
    growth.is("sealward_http_requests_total", &refused, 1.0);
}

#[tokio::test]
async fn dependencies_are_visible_in_the_metrics() {
    let world = World::new().await;
    let patience = Duration::from_secs(60);
    within(patience, async || {
        let page = scrape(&world).await;
        ["sealward_database_up", "sealward_audit_up", "sealward_catalog_current"]
            .iter()
            .all(|name| page.sum(name, &[]) > 0.0)
    })
    .await;
    let page = scrape(&world).await;
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    let exactly = |name: &str, labels: &[(&str, &str)], expected: f64| {
        let found = page.sum(name, labels);
        assert!((found - expected).abs() < f64::EPSILON, "{name}: {found}");
    };
    exactly("sealward_build_info", &version, 1.0);
    let token = ("token", "tests");
    exactly("sealward_token_state", &[token, ("state", "serving")], 1.0);
    exactly("sealward_token_state", &[token], 1.0);
    let workers = page.sum("sealward_token_workers", &[token]);
    assert!(workers >= 1.0);
    // Each worker has a session, and the anchor and the keeper have others.
    assert!(page.sum("sealward_token_sessions", &[token]) >= workers);
    assert!(page.sum("sealward_token_canary_duration_seconds", &[token]) > 0.0);
    assert!(page.sum("sealward_database_latency_seconds", &[]) > 0.0);
    exactly("sealward_database_connections_limit", &[], 4.0);
    assert!(page.sum("sealward_database_connections", &[]) > 0.0);
    exactly("sealward_audit_queue_limit_records", &[], 16_384.0);
    // The certificates of tests end in the year 4096.
    exactly("sealward_tls_certificate_expiry_timestamp_seconds", &[], 67_090_118_400.0);
}

#[tokio::test]
async fn the_metrics_listener_serves_only_metrics() {
    let world = World::new().await;
    for path in ["/", "/livez", "/api/v1/health", "/metrics/x"] {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let listening = world.metrics(None).await;
        let response = listening.oneshot(request).await.unwrap();
        assert_eq!(response.status().as_u16(), 404, "{path}");
    }
}

//! Security events in `/admin/audit/management`.

use std::time::Duration;

use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use serde_json::{Value, json};

use testkit::{PATIENCE, World, within};

/// The events of this action, sorted, read from the database: a read of the API is an event too.
async fn recorded(world: &World, action: &str) -> Vec<Value> {
    let mut events: Vec<Value> = sqlx::query_scalar(
        "SELECT jsonb_build_object('actor', actor, 'type', resource_type, 'id', resource_id IS NOT NULL,
                    'details', after, 'client', host(client_address), 'request', request_id)
           FROM management_events WHERE action = $1",
    )
    .bind(action)
    .fetch_all(&world.pool)
    .await
    .expect("the events");
    events.sort_by_key(ToString::to_string);
    events
}

fn sorted<const N: usize>(mut events: [Value; N]) -> [Value; N] {
    events.sort_by_key(ToString::to_string);
    events
}

/// An event of a request with the id `it`.
fn event(actor: &str, kind: &str, has_id: bool, details: &Value) -> Value {
    json!({ "actor": actor, "type": kind, "id": has_id, "details": details,
        "client": "127.0.0.1", "request": "it" })
}

#[tokio::test]
async fn unauthenticated_management_requests_are_recorded_within_limits() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock.clone(), Stage::Development).await;
    let anonymous = world.anonymous().with("x-request-id", "it");
    for _ in 0..50 {
        let refused = anonymous.get("/admin/services").await;
        refused.refused(401, "AUTHENTICATION_FAILED");
    }
    clock.advance(Duration::from_secs(60));
    let counts = async || {
        let events = recorded(&world, "refuse").await;
        let (single, sums): (Vec<_>, Vec<_>) =
            events.into_iter().partition(|event| event["details"]["requests"].is_null());
        let sum: u64 = sums.iter().filter_map(|event| event["details"]["requests"].as_u64()).sum();
        (single, sum)
    };
    within(PATIENCE, async || counts().await.1 == 30).await;
    let details = json!({ "method": "GET", "route": "/admin/services", "status": 401 });
    let expected = event("unauthenticated", "request", false, &details);
    within(PATIENCE, async || counts().await.0 == vec![expected.clone(); 20]).await;
}

#[tokio::test]
async fn a_throttled_unauthenticated_request_is_recorded_with_its_status() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock.clone(), Stage::Development).await;
    let anonymous = world.anonymous().with("x-request-id", "it");
    for _ in 0..1_000 {
        let refused = anonymous.get("/api/v1/health").await;
        refused.refused(401, "AUTHENTICATION_FAILED");
    }
    let refused = anonymous.get("/admin/services").await;
    refused.refused(429, "RATE_LIMIT_EXCEEDED");
    let details = json!({ "method": "GET", "route": "/admin/services", "status": 429 });
    let expected = event("unauthenticated", "request", false, &details);
    within(PATIENCE, async || recorded(&world, "refuse").await == vec![expected.clone()]).await;
}

#[tokio::test]
async fn the_rate_limit_of_a_service_limits_its_forbidden_management_requests() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    let service = json!({ "name": "limited", "tier": "enterprise",
        "rateLimit": { "requestsPerSecond": 1, "burst": 3 } });
    let service = world.admin().post("/admin/services", service).await;
    let key = json!({ "name": "key", "type": "live", "serviceId": service.created().json()["id"] });
    let key = world.admin().post("/admin/api-keys", key).await.created();
    let application = world.client(&key.text("secret"));
    for _ in 0..3 {
        let refused = application.get("/admin/services").await;
        refused.refused(403, "FORBIDDEN");
    }
    for _ in 0..5 {
        let refused = application.get("/admin/services").await;
        refused.refused(429, "RATE_LIMIT_EXCEEDED");
    }
    assert_eq!(recorded(&world, "refuse").await.len(), 3);
}

#[tokio::test]
async fn a_forbidden_management_request_is_recorded_before_its_response() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock, Stage::Production).await;
    let billing = world.application("billing").await.with("x-request-id", "it");
    billing.post("/admin/services", json!({})).await.refused(403, "FORBIDDEN");
    let service = world.service("other").await;
    let key =
        json!({ "serviceId": service, "name": "k", "secretKey": "AAAA", "algorithm": "AES-128" });
    let admin = world.admin().with("x-request-id", "it");
    admin.post("/admin/keys", key).await.refused(403, "OPERATION_NOT_ALLOWED");
    let refused = |actor, route| {
        let details = json!({ "method": "POST", "route": route, "status": 403 });
        event(actor, "request", false, &details)
    };
    assert_eq!(
        recorded(&world, "refuse").await,
        sorted([refused("billing", "/admin/services"), refused("first", "/admin/keys")])
    );
}

#[tokio::test]
async fn every_export_and_each_read_once_an_hour_are_recorded() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock.clone(), Stage::Development).await;
    let admin = world.admin().with("x-request-id", "it");
    let read = |log, filter| {
        let details = json!({ "log": log, "format": null, "filter": filter });
        event("first", "audit_log", false, &details)
    };
    for _ in 0..3 {
        admin.get("/admin/audit").await.ok();
        admin.get("/admin/audit?limit=10").await.ok();
        admin.get("/admin/audit?status=200&limit=10").await.ok();
        admin.get("/admin/audit/management?action=create").await.ok();
    }
    admin.get("/admin/audit?status=no").await.refused(400, "INVALID_REQUEST");
    let expected = sorted([
        read("operations", json!({})),
        read("operations", json!({ "status": 200 })),
        read("management", json!({ "action": "create" })),
    ]);
    assert_eq!(recorded(&world, "read").await, expected);
    clock.advance(Duration::from_secs(3_600));
    admin.get("/admin/audit").await.ok();
    assert_eq!(recorded(&world, "read").await.len(), 4);

    let csv = admin.with("accept", "text/csv");
    for _ in 0..2 {
        csv.get("/admin/audit?status=200").await.ok();
    }
    let details = json!({ "log": "operations", "format": "text/csv; charset=utf-8",
        "filter": { "status": 200 } });
    let export = event("first", "audit_log", false, &details);
    assert_eq!(recorded(&world, "export").await, [export.clone(), export]);
}

#[tokio::test]
async fn each_caller_has_events_of_its_own_reads() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    let auditor = world.administrator(&["auditor"]).await;
    for reader in [world.admin(), auditor] {
        let reader = reader.with("x-request-id", "it");
        for _ in 0..2 {
            reader.get("/admin/audit?status=200").await.ok();
        }
    }
    let details = json!({ "log": "operations", "format": null, "filter": { "status": 200 } });
    let read = |actor| event(actor, "audit_log", false, &details);
    let expected = sorted([read("first"), read("auditor")]);
    assert_eq!(recorded(&world, "read").await, expected);
}

#[tokio::test]
async fn security_events_are_listed_and_filtered() {
    let world = World::new().await;
    world.admin().get("/admin/audit").await.ok();
    let list = "/admin/audit/management?resourceType=audit_log&action=read&limit=2";
    let list = world.admin().get(list).await.ok().json();
    let items = list["items"].as_array().unwrap();
    let logs: Vec<_> = items.iter().map(|event| &event["after"]["log"]).collect();
    assert_eq!(logs, ["management", "operations"]);
    assert_eq!(items[0]["resource_id"], Value::Null);
}

#[tokio::test]
async fn instances_record_a_read_once_together() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock.clone(), Stage::Development).await;
    let second = world.another().await;
    let read_on_both = async |query: &str| {
        let path = format!("/admin/audit{query}");
        let (one, other) = (world.admin(), second.admin());
        let (one, other) = tokio::join!(one.get(&path), other.get(&path));
        one.ok();
        other.ok();
        recorded(&world, "read").await.len()
    };
    assert_eq!(read_on_both("").await, 1);
    assert_eq!(read_on_both("?limit=7").await, 1);
    assert_eq!(read_on_both("?status=200").await, 2);
    assert_eq!(read_on_both("/management").await, 3);
    clock.advance(Duration::from_secs(3_600));
    assert_eq!(read_on_both("").await, 4);
}

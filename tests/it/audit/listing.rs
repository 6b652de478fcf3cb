//! `GET /admin/audit`.

use std::time::Duration;

use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use serde_json::{Value, json};

use testkit::{Answer, PATIENCE, World, within};

const AUDIT: &str = "/admin/audit";
const OPERATIONS: &str = "/api/v1/operations";

fn items(answer: Answer) -> Vec<Value> {
    answer.ok().json()["items"].as_array().unwrap().clone()
}

/// The request IDs that a query finds, newest first.
async fn found(world: &World, query: &str) -> Vec<String> {
    let items = items(world.admin().get(&format!("{AUDIT}{query}")).await);
    items.iter().map(|item| item["request_id"].as_str().unwrap().to_owned()).collect()
}

/// Requests of three applications, one per second of a manual clock.
async fn busy_world() -> (World, Vec<String>) {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock.clone(), Stage::Development).await;
    let mut services = Vec::new();
    for name in ["one", "two", "three"] {
        let application = world.application(name).await;
        for (operation, algorithm) in [("hash", "SHA-256"), ("hash", "none"), ("sign", "Ed25519")] {
            let named = format!("{name} {operation} {algorithm}");
            let application = application.clone().with("x-request-id", &named);
            let payload = json!({ "data": 1, "algorithm": algorithm });
            let body = json!({ "operation": operation, "payload": payload });
            application.post(OPERATIONS, body).await;
            clock.advance(Duration::from_secs(1));
        }
        services.push(application.service.unwrap());
    }
    (world, services)
}

#[tokio::test]
async fn every_filter_finds_its_records() {
    let (world, services) = busy_world().await;
    let of_two = ["two sign Ed25519", "two hash none", "two hash SHA-256"];
    assert_eq!(found(&world, "").await.len(), 9);
    assert_eq!(found(&world, "?requestId=two%20hash%20none").await, [of_two[1]]);
    assert_eq!(found(&world, &format!("?applicationId={}", services[1])).await, of_two);
    let hashes = format!("?operationType=hash&applicationId={}", services[1]);
    assert_eq!(found(&world, &hashes).await, of_two[1..]);
    assert_eq!(found(&world, "?status=404").await.len(), 3);
    assert_eq!(found(&world, "?status=200&operationType=hash").await.len(), 3);
    assert_eq!(found(&world, "?status=200&operationType=sign").await, [""; 0]);
    assert_eq!(found(&world, "?policyNumber=POL-000001").await, [""; 0]);
    let at = |seconds: i64| Timestamp::from_millis(1_900_000_000_000 + seconds * 1_000);
    let window = format!("?from={}&to={}", at(3), at(6));
    assert_eq!(found(&world, &window).await, of_two);
    assert_eq!(found(&world, &format!("?to={}", at(0))).await, [""; 0]);
}

#[tokio::test]
async fn policies_and_keys_can_be_read() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let key = world.key(alice.service.as_ref().unwrap(), "data", "AES-256").await;
    let payload = json!({ "data": 1, "algorithm": "AES-256-GCM" });
    let body = json!({ "operation": "encrypt", "payload": payload });
    let named = alice.clone().with("x-request-id", "with a key");
    named.post(OPERATIONS, body).await.ok();
    assert_eq!(found(&world, &format!("?keyId={key}")).await, ["with a key"]);

    let destination = world.service("destination").await;
    let policy = world.policy(&destination).await;
    let body = json!({ "payload": 1, "policyNumber": policy });
    alice.post("/api/v1/protect", body).await.refused(500, "DESTINATION_KEY_NOT_FOUND");
    assert_eq!(found(&world, &format!("?policyNumber={policy}")).await.len(), 1);
}

#[tokio::test]
async fn an_item_has_all_its_members() {
    let world = World::new().await;
    let alice = world.application("alice").await.with("x-request-id", "mine");
    let payload = json!({ "data": "abc", "algorithm": "SHA-256" });
    let body = json!({ "operation": "hash", "payload": payload });
    alice.post(OPERATIONS, body).await.ok();
    let item = items(world.admin().get(AUDIT).await).remove(0);
    insta::assert_json_snapshot!(item, {
        ".id" => insta::dynamic_redaction(|id, _| {
            assert!(id.as_str().unwrap().parse::<engine::ids::RecordId>().is_ok());
            "rec_…"
        }),
        ".timestamp" => insta::dynamic_redaction(|at, _| {
            assert!(at.as_str().unwrap().parse::<Timestamp>().is_ok());
            "a time"
        }),
        ".application_id" => insta::dynamic_redaction(move |id, _| {
            assert!(id.as_str().unwrap().starts_with("svc_"));
            "svc_…"
        }),
        ".api_key_id" => insta::dynamic_redaction(|id, _| {
            assert!(id.as_str().unwrap().starts_with("ak_"));
            "ak_…"
        }),
        ".response_time_ms" => "some",
    });
}

#[tokio::test]
async fn pages_follow_one_another_without_gaps() {
    let (world, _) = busy_world().await;
    let whole = found(&world, "").await;
    let mut read = Vec::new();
    let mut query = "?limit=2".to_owned();
    loop {
        let page = world.admin().get(&format!("{AUDIT}{query}")).await.ok().json();
        let items = page["items"].as_array().unwrap();
        read.extend(items.iter().map(|item| item["request_id"].as_str().unwrap().to_owned()));
        match page["nextCursor"].as_str() {
            Some(cursor) => query = format!("?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(read, whole);
}

#[tokio::test]
async fn an_exported_file_contains_the_whole_selection() {
    let (world, _) = busy_world().await;
    let download = async |media: &str, query: &str| {
        let admin = world.admin().with("accept", media);
        admin.get(&format!("{AUDIT}{query}")).await.ok()
    };
    let file = download("application/x-ndjson", "?operationType=hash").await;
    assert_eq!(file.header("content-type"), "application/x-ndjson");
    let lines: Vec<Value> =
        file.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let listed = items(world.admin().get(&format!("{AUDIT}?operationType=hash")).await);
    assert_eq!(lines, listed);

    let file = download("text/csv, */*;q=0.1", "").await;
    assert_eq!(file.header("content-type"), "text/csv; charset=utf-8");
    let lines: Vec<_> = file.body.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 10);
    assert!(lines[0].starts_with("id,timestamp,request_id,application_id,operation_type,"));
    assert!(lines[1].contains(",three sign Ed25519,"));

    // The paging parameters have no effect on an export but must be valid.
    let first = world.admin().get(&format!("{AUDIT}?limit=1")).await.ok();
    let page = format!("?limit=1&cursor={}", first.text("nextCursor"));
    assert_eq!(download("text/csv", &page).await.body, file.body);
    let admin = world.admin().with("accept", "text/csv");
    let refused = admin.get(&format!("{AUDIT}?limit=many&cursor=x")).await;
    refused.invalid(&[("limit", "format"), ("cursor", "format")]);

    assert_eq!(download("application/json", "").await.header("content-type"), "application/json");
}

#[tokio::test]
async fn a_query_with_a_typing_error_is_refused() {
    let world = World::new().await;
    let bad = "?requestID=x&applicationId=x&operationType=protect&status=many&keyId=1&from=now&limit=0&cursor=x";
    let refused = world.admin().get(&format!("{AUDIT}{bad}")).await;
    refused.invalid(&[
        ("requestID", "unknown"),
        ("applicationId", "format"),
        ("operationType", "unsupported"),
        ("status", "format"),
        ("keyId", "format"),
        ("from", "format"),
        ("limit", "range"),
        ("cursor", "format"),
    ]);
    let alice = world.application("alice").await;
    alice.get(AUDIT).await.refused(403, "FORBIDDEN");
    world.anonymous().get(AUDIT).await.refused(401, "AUTHENTICATION_FAILED");
}

#[tokio::test]
async fn unauthenticated_requests_do_not_fill_the_audit_log() {
    // Each rewrap has two records.
    for (path, others) in [(OPERATIONS, 30), ("/api/v1/rewrap", 40)] {
        let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
        let world = World::at(clock.clone(), Stage::Development).await;
        for _ in 0..50 {
            let refused = world.anonymous().post(path, json!({})).await;
            refused.refused(401, "AUTHENTICATION_FAILED");
        }
        // The rate limit of the API does not recover while the clock is held.
        within(PATIENCE, async || refused_records(&world).await == 20).await;
        clock.advance(Duration::from_secs(60));
        within(PATIENCE, async || refused_records(&world).await == 21).await;
        let count = items(world.admin().get(&format!("{AUDIT}?limit=1")).await).remove(0);
        let message = count["error_message"].as_str().unwrap();
        let expected = format!("{others} more requests without valid credentials");
        assert!(message.starts_with(&expected), "{message}");
        assert_eq!(count["endpoint"], Value::Null);
    }
}

/// The number of records of requests without valid credentials.
async fn refused_records(world: &World) -> i64 {
    let sql = "SELECT count(*) FROM crypto_operations_audit WHERE response_status = 401";
    let count = sqlx::query_scalar(sql).fetch_one(&world.pool).await;
    count.unwrap()
}

#[tokio::test]
async fn unauthenticated_requests_are_counted_under_load() {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock.clone(), Stage::Development).await;
    let alice = world.application("alice").await;
    for _ in 0..50 {
        world.anonymous().post(OPERATIONS, json!({})).await;
    }
    clock.advance(Duration::from_secs(60));
    within(PATIENCE, async || {
        let payload = json!({ "data": 1, "algorithm": "SHA-256" });
        alice.operate("hash", payload).await.ok();
        let counts = items(world.admin().get(&format!("{AUDIT}?status=401&limit=1")).await);
        let newest = counts[0]["error_message"].as_str().unwrap();
        newest.starts_with("30 more requests")
    })
    .await;
}

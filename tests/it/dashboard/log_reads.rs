//! The events of reads and exports of the audit logs.

use axum::http::StatusCode;
use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use serde_json::{Value, json};

use super::Browser;
use testkit::World;

/// A world in which no hour ends.
async fn world() -> World {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    World::at(clock, Stage::Development).await
}

/// The details of all events of this action, sorted.
async fn recorded(world: &World, action: &str) -> Vec<Value> {
    let details = sqlx::query_scalar("SELECT after FROM management_events WHERE action = $1")
        .bind(action)
        .fetch_all(&world.pool)
        .await;
    sorted(details.expect("the events"))
}

fn sorted(mut details: Vec<Value>) -> Vec<Value> {
    details.sort_by_key(ToString::to_string);
    details
}

#[tokio::test]
async fn an_event_states_the_filter_that_was_applied() {
    let world = world().await;
    let billing = world.service("billing").await;
    let mut browser = Browser::signed_in(&world).await;
    let filter = format!("applicationId={billing}&status=+200+&requestId=&from=2026-01-31T12:00");
    let place = format!("/dashboard/audit/export.csv?{filter}");
    browser.get(&place).await.ok();
    let place = format!("/dashboard/audit?{filter}&cursor=");
    browser.get(&place).await.ok();
    let place = "/dashboard/events?action=create&resourceType=service";
    browser.get(place).await.ok();
    let filter =
        json!({ "applicationId": billing, "status": 200, "from": "2026-01-31T12:00:00.000Z" });
    let format = "text/csv; charset=utf-8";
    assert_eq!(
        recorded(&world, "export").await,
        [json!({ "log": "operations", "format": format, "filter": filter })]
    );
    let filters = [
        ("operations", filter),
        ("management", json!({ "action": "create", "resourceType": "service" })),
    ];
    let read = |(log, filter)| json!({ "log": log, "format": null, "filter": filter });
    let expected = sorted(filters.map(read).to_vec());
    assert_eq!(recorded(&world, "read").await, expected);
}

#[tokio::test]
async fn repeated_and_unknown_filters_are_refused_and_not_recorded() {
    let world = world().await;
    let (billing, other) = (world.service("billing").await, world.service("other").await);
    let application = world.application("caller").await;
    let hash = json!({ "data": 1, "algorithm": "SHA-256" });
    application.operate("hash", hash).await.ok();
    let mut browser = Browser::signed_in(&world).await;
    let repeated = format!("applicationId={billing}&applicationId={other}");
    for (query, problem) in [
        (repeated.as_str(), "Must be given once"),
        ("status=&status=200", "Must be given once"),
        ("nmae=x", "there is no such parameter"),
    ] {
        for file in ["csv", "ndjson"] {
            let place = format!("/dashboard/audit/export.{file}?{query}");
            let refused = browser.get(&place).await;
            assert_eq!(refused.status, StatusCode::NOT_FOUND, "{place}");
        }
        let page = browser.get(&format!("/dashboard/audit?{query}")).await.ok();
        assert!(page.body.contains(problem), "{}", page.body);
        assert!(!page.body.contains("<tbody"), "{}", page.body);
    }
    let place = "/dashboard/events?action=create&action=delete";
    let page = browser.get(place).await.ok();
    assert!(page.body.contains("Must be given once"), "{}", page.body);
    assert!(!page.body.contains("<tbody"), "{}", page.body);
    for action in ["read", "export"] {
        assert_eq!(recorded(&world, action).await, Vec::<Value>::new());
    }
}

#[tokio::test]
async fn the_event_of_one_record_differs_from_that_of_the_list() {
    let world = world().await;
    let application = world.application("caller").await;
    let hash = json!({ "data": 1, "algorithm": "SHA-256" });
    application.operate("hash", hash).await.ok();
    let record: engine::ids::RecordId =
        sqlx::query_scalar("SELECT id FROM crypto_operations_audit")
            .fetch_one(&world.pool)
            .await
            .expect("a record");
    let event: engine::ids::EventId =
        sqlx::query_scalar("SELECT id FROM management_events WHERE action = 'create' LIMIT 1")
            .fetch_one(&world.pool)
            .await
            .expect("an event");
    let mut browser = Browser::signed_in(&world).await;
    for place in [
        format!("audit/{record}"),
        format!("audit?id={record}"),
        "audit".to_owned(),
        format!("events/{event}"),
        format!("events?id={event}"),
        "events".to_owned(),
    ] {
        browser.get(&format!("/dashboard/{place}")).await.ok();
    }
    let expected = sorted(vec![
        json!({ "log": "operations", "format": null, "record": record }),
        json!({ "log": "operations", "format": null, "filter": {} }),
        json!({ "log": "management", "format": null, "record": event }),
        json!({ "log": "management", "format": null, "filter": {} }),
    ]);
    assert_eq!(recorded(&world, "read").await, expected);
}

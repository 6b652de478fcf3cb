//! Events that this release does not know, and events that it could not read.

use engine::ids::EventId;
use engine::ledger::Log;
use formats::clock::{Clock, Entropy};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use crate::ledger::{Kept, covered, hash, sealed_world};
use testkit::{PATIENCE, RECORD_ID, World, pool, within};

/// During an upgrade, instances of both releases run. The login of the service could write such an event, too.
#[tokio::test]
async fn an_event_of_a_later_release_is_shown_and_stops_nothing() {
    let world = sealed_world().await;
    let id = EventId::new(&Clock::system(), &Entropy::system());
    let uuid = id.uuid();
    let later = "INSERT INTO management_events (id, at, actor, action, resource_type, resource_id)
                 VALUES ($1, now(), 'a later release', 'split', 'branch', $1)";
    let inserted = sqlx::query(later).bind(id).execute(&pool(world.as_application())).await;
    inserted.expect("an event");

    let admin = world.admin();
    // The schemas of the tests know no later release.
    let lines = world.admin().with("accept", "application/x-ndjson");
    let lines = lines.get("/admin/audit/management").await.ok().body;
    let mut events = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let event = events.find(|event| event["id"] == id.to_string()).expect("the event");
    let shown = ["action", "resource_type", "resource_id"].map(|member| event[member].clone());
    assert_eq!(shown, ["split", "branch", &uuid.to_string()].map(Value::from));
    let csv = world.admin().with("accept", "text/csv");
    assert!(csv.get("/admin/audit/management").await.ok().body.contains("split,branch"));

    world.service("first").await;
    let created = "/admin/audit/management?resourceType=service";
    within(PATIENCE, async || {
        admin.get(created).await.ok().json()["items"][0]["log_index"].is_u64()
    })
    .await;
    let named = json!({ "table": "management_events", "flaw": "unsealed" });
    let invalid = "/admin/audit/management?action=row.invalid";
    within(PATIENCE, async || admin.get(invalid).await.ok().json()["items"][0]["after"] == named)
        .await;
}

/// No instance shows a time after the year 9999.
#[tokio::test]
async fn an_event_with_an_identifier_of_the_far_future_stops_no_log() {
    let kept = Kept::new().await;
    let event = "INSERT INTO management_events (id, at, actor, action, resource_type)
                 VALUES ('fffffffe-0000-7000-8000-000000000001', now(), 'n', 'create', 'service')";
    sqlx::raw_sql(event).execute(&kept.pool).await.expect("an event");
    let positions = "SELECT count(*) FROM audit_log_positions WHERE log = 2";
    let is_sealed = async || {
        sqlx::query_scalar::<_, i64>(positions).fetch_one(&kept.owner).await.expect("a count") == 1
    };
    let sealer = kept.sealer().await;
    within(PATIENCE, is_sealed).await;
    sealer.stop().await;
    // Another instance continues after it.
    let _sealer = kept.sealer().await;
    kept.write(1).await;
    kept.covered(1).await;
}

/// The identifiers of the two logs have nothing to do with each other.
#[tokio::test]
async fn an_event_with_the_identifier_of_a_record_stops_no_log() {
    let world = sealed_world().await;
    hash(&world, 1).await;
    covered(&world, Log::Operations, 1).await;
    let pair = "INSERT INTO management_events (id, at, actor, action, resource_type)
                SELECT id, ts, 'n', 'create', 'service' FROM crypto_operations_audit";
    let inserted = sqlx::query(pair).execute(&pool(world.as_application())).await;
    assert_eq!(inserted.expect("an event").rows_affected(), 1);
    let logs = "SELECT count(*) FROM audit_log_index i JOIN crypto_operations_audit r ON r.id = i.record_id";
    within(PATIENCE, async || {
        sqlx::query_scalar::<_, i64>(logs).fetch_one(&world.pool).await.expect("a count") == 2
    })
    .await;
    let size = async |log| covered(&world, log, 1).await.size;
    let before = [size(Log::Operations).await, size(Log::Management).await];
    hash(&world, 1).await;
    world.service("first").await;
    covered(&world, Log::Operations, before[0] + 1).await;
    covered(&world, Log::Management, before[1] + 1).await;
}

/// Otherwise closing its day, summing its requests or retiring its day would always fail.
#[tokio::test]
async fn a_record_that_no_index_or_leaf_could_hold_is_refused() {
    let kept = Kept::new().await;
    kept.execute("SELECT make_audit_day((now() AT TIME ZONE 'UTC')::date)").await;
    let texts = "SELECT attname::text FROM pg_attribute
                  WHERE attrelid = 'crypto_operations_audit'::regclass AND attnum > 0
                    AND atttypid IN ('text'::regtype, 'varchar'::regtype) AND attname <> 'operation_type'";
    let texts: Vec<String> = sqlx::query_scalar(texts).fetch_all(&kept.owner).await.unwrap();
    assert_eq!(texts.len(), 8, "{texts:?}");
    let insert = async |length: &dyn Fn(&str) -> usize| {
        // JSON writes this character as six.
        let values = texts.iter().map(|text| format!("repeat(chr(1), {})", length(text)));
        let sql = format!(
            "INSERT INTO crypto_operations_audit
                    (id, ts, payload_size_bytes, response_status, response_time_ms, {})
             SELECT {RECORD_ID}, ts, 0, 200, 1.3, {}
               FROM date_trunc('milliseconds', clock_timestamp()) AS ts",
            texts.join(", "),
            values.collect::<Vec<_>>().join(", ")
        );
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&kept.pool).await.map(|_| ())
    };
    for long in &texts {
        let refused = insert(&|text| if text == long { 513 } else { 1 }).await;
        let refused = refused.expect_err(long).to_string();
        assert!(refused.contains("character varying(512)"), "{long}: {refused}");
    }
    insert(&|_| 512).await.expect("the longest record");
    let _sealer = kept.sealer().await;
    kept.covered(1).await;
}

#[tokio::test]
async fn an_event_that_no_instance_could_read_is_refused() {
    let world = World::new().await;
    let service = pool(world.as_application());
    let nested = |depth| format!("'{}{}'", "[".repeat(depth), "]".repeat(depth));
    let insert = async |[at, approved_by, before]: [&str; 3]| {
        let sql = format!(
            "INSERT INTO management_events (id, at, actor, action, resource_type, approved_by, before)
             VALUES (gen_random_uuid(), {at}, 'a', 'create', 'service', {approved_by}, {before})"
        );
        let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&service).await;
        done.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(insert(["now()", "NULL", &nested(90)]).await, Ok(()));
    assert_eq!(insert(["now()", "ARRAY['ada']", "'[-1.5e300]'"]).await, Ok(()));
    for event in [
        ["'infinity'", "NULL", "NULL"],
        ["now()", "ARRAY['ada', NULL]", "NULL"],
        ["now()", "'[0:0]={ada}'", "NULL"],
        ["now()", "NULL", &nested(130)],
        ["now()", "NULL", r#"'{"a": [1e400]}'"#],
        ["now()", "NULL", "'-1e400'"],
        ["now()", "ARRAY[repeat('a', 10000)]", "NULL"],
    ] {
        let refused = insert(event).await.expect_err(event[0]);
        assert!(refused.contains("management_events_can_be_read"), "{event:?}: {refused}");
    }
    world.admin().get("/admin/audit/management").await.ok();
}

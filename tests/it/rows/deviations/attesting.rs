//! What events attest, and what they do not.

use engine::ids::EventId;
use engine::rows::compare;
use formats::clock::{Clock, Entropy};
use serde_json::{Value, json};
use sqlx::types::Json;

use super::{as_owner, deviates, found, sealed, sealed_world};
use crate::rows::Intruder;
use testkit::{PATIENCE, Process, Site, pool, rewrite, within};

/// The login of the service adds events. Those that the log should have, and does not have, attest nothing.
#[tokio::test(flavor = "multi_thread")]
async fn an_invented_event_hides_no_row() {
    let world = sealed_world().await;
    sealed(&world).await;
    rewrite(&world.pool, "UPDATE policies SET require_binding = true").await;
    let invented = "INSERT INTO management_events (id, at, actor, action, resource_type, resource_id, before, after)
                    SELECT 'ffffffff-ffff-7fff-bfff-ffffffffffff', now() - interval '1 hour', 'n', 'update',
                           'policy', id, '{}', '{\"name\": \"x\"}' FROM policies LIMIT 1";
    Intruder::of(&world).run(invented).await;
    let found = compare(&world.pool).await.expect("a comparison").expect("sealed events");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].row.table, found[0].difference.name()), ("policies", "changed"));
}

/// The sealer makes the segment of such an event, and not its transaction.
#[tokio::test(flavor = "multi_thread")]
async fn an_invented_event_that_is_sealed_hides_no_row() {
    let world = sealed_world().await;
    sealed(&world).await;
    rewrite(&world.pool, "UPDATE policies SET require_binding = true").await;
    let policies = world.admin().get("/admin/policies").await.ok().json();
    let mut state = policies["items"][0].clone();
    state["requireBinding"] = json!(true);
    let invented = "INSERT INTO management_events (id, at, actor, action, resource_type, resource_id, before, after)
                    SELECT $1, now(), 'n', 'update', 'policy', id, '{}', $2 FROM policies LIMIT 1";
    let id = EventId::new(&Clock::system(), &Entropy::system());
    let inserted = sqlx::query(invented).bind(id).bind(Json(state));
    inserted.execute(&pool(world.as_application())).await.expect("an event");
    assert_eq!(found(&world).await, deviates("policies", "changed", &["requireBinding"]));
}

/// An event of a loss needs no segment of its transaction: an emergency command writes it without a token.
#[tokio::test(flavor = "multi_thread")]
async fn an_invented_loss_gives_nothing() {
    let world = sealed_world().await;
    world.administrator(&["auditor"]).await;
    sealed(&world).await;
    let events =
        "INSERT INTO management_events (id, at, actor, action, resource_type, resource_id, after)
        SELECT $1, now(), 'n', 'revoke', 'api_key', id, '{\"roles\": [\"owner\"]}'::jsonb FROM api_keys
         WHERE roles = '{auditor}'
        UNION ALL
        SELECT $2, now(), 'n', 'freeze', 'policy', id, '{\"requireBinding\": true}'::jsonb FROM policies";
    let id = || EventId::new(&Clock::system(), &Entropy::system());
    let inserted = sqlx::query(events).bind(id()).bind(id());
    inserted.execute(&pool(world.as_application())).await.expect("events");
    sealed(&world).await;
    rewrite(&world.pool, "UPDATE api_keys SET roles = '{owner}' WHERE roles = '{auditor}'").await;
    rewrite(&world.pool, "UPDATE policies SET require_binding = true").await;
    let mut expected = deviates("api_keys", "changed", &["roles"]);
    expected.extend(deviates("policies", "changed", &["requireBinding"]));
    let mut found = found(&world).await;
    found.sort();
    assert_eq!(found, expected);
}

/// Otherwise a change would deviate until it has its position.
#[tokio::test(flavor = "multi_thread")]
async fn an_event_with_an_identifier_of_the_future_hides_no_change() {
    let world = sealed_world().await;
    let event = "INSERT INTO management_events (id, at, actor, action, resource_type)
                 VALUES ('fffffffe-0000-7000-8000-000000000001', now(), 'n', 'create', 'service')";
    sqlx::query(event).execute(&pool(world.as_application())).await.expect("an event");
    sealed(&world).await;
    let mut sealing = world.pool.begin().await.expect("a transaction");
    let heads = "SELECT FROM audit_log_heads FOR UPDATE";
    sqlx::query(heads).execute(&mut *sealing).await.expect("no later position");
    let policies = world.admin().get("/admin/policies").await.ok().json();
    let policy = format!("/admin/policies/{}", policies["items"][0]["id"].as_str().expect("an id"));
    world.admin().put(&policy, json!({ "requireBinding": true })).await.ok();
    let found = compare(&world.pool).await.expect("a comparison");
    assert_eq!(found.expect("sealed events").len(), 0);
}

/// Only what the transaction of a change wrote can wait for its position.
#[tokio::test(flavor = "multi_thread")]
async fn an_invented_event_does_not_postpone_a_comparison() {
    let world = sealed_world().await;
    sealed(&world).await;
    rewrite(&world.pool, "UPDATE policies SET require_binding = true").await;
    // It is too long to be sealed, which the table refuses.
    let check = "ALTER TABLE management_events DROP CONSTRAINT management_events_can_be_read";
    sqlx::query(check).execute(&world.pool).await.expect("no check");
    let invented = "INSERT INTO management_events (id, at, actor, action, resource_type, resource_id, before, after)
        SELECT $1, now(), repeat('n', 70000), 'update', 'policy', id, '{}', '{}' FROM policies";
    let id = EventId::new(&Clock::system(), &Entropy::system());
    let inserted = sqlx::query(invented).bind(id);
    inserted.execute(&pool(world.as_application())).await.expect("an event");
    let found = compare(&world.pool).await.expect("a comparison").expect("sealed events");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].members, ["requireBinding"]);
}

/// The segment of such an event would have its name, like one of a change.
#[tokio::test]
async fn no_event_has_the_last_identifier() {
    let world = sealed_world().await;
    let last = "INSERT INTO management_events (id, at, actor, action, resource_type)
        VALUES ('ffffffff-ffff-ffff-ffff-ffffffffffff', now(), 'n', 'update', 'key')";
    let refused = sqlx::query(last).execute(&pool(world.as_application())).await;
    let refused = refused.expect_err("a check").to_string();
    assert!(refused.contains("management_events_can_be_read"), "{refused}");
}

/// Nothing but a lock and its end has an event of a person.
#[tokio::test(flavor = "multi_thread")]
async fn a_person_whose_lock_was_rolled_back_is_named() {
    let world = sealed_world().await;
    let admin = world.admin();
    for person in ["ada", "bob"] {
        let body = json!({ "name": "n", "type": "admin", "person": person });
        admin.post("/admin/api-keys", body).await.created();
    }
    let people: Value = admin.get("/admin/people").await.ok().json();
    let path = |place: usize, end: &str| {
        format!("/admin/people/{}/{end}", people["items"][place]["id"].as_str().expect("an id"))
    };
    admin.post(&path(0, "lock"), json!({ "reason": "r" })).await.ok();
    admin.post_nothing(&path(0, "unlock")).await.ok();
    assert_eq!(found(&world).await, []);
    let intruder = Intruder::of(&world);
    intruder.keep(&world, "people").await;
    as_owner(&world, "CREATE TABLE kept_revisions AS SELECT * FROM revisions").await;
    admin.post(&path(0, "lock"), json!({ "reason": "r" })).await.ok();
    assert_eq!(found(&world).await, []);
    intruder.put_back("people").await;
    as_owner(&world, "DELETE FROM revisions; INSERT INTO revisions SELECT * FROM kept_revisions")
        .await;
    let members = ["lockReason", "lockedAt", "lockedBy", "status"];
    assert_eq!(found(&world).await, deviates("people", "rolled_back", &members));
}

/// The operator sees what an emergency command took away, whatever became of the row.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_with_a_forged_revision_is_shown_with_what_it_lost() {
    let site = Site::new().await;
    site.run(&["audit", "init"]).success();
    let process = Process::start(&site).await;
    let (destination, _) = process.bound_application().await;
    site.run(&["emergency", "disable-key", &destination.key]).success();
    within(PATIENCE, async || {
        let event = "/admin/audit/management?action=disable";
        let event = process.admin().get(event).await.ok().json();
        !event["items"][0]["log_index"].is_null()
    })
    .await;
    process.terminate();
    let doctor = site.run(&["doctor", "--skip-trials"]);
    assert!(!doctor.stdout.contains("status"), "{}", doctor.stdout);
    let forged = "SET ROLE sealward_application; UPDATE keys SET revision = 9223372036854775807";
    sqlx::raw_sql(forged).execute(&mut site.connect().await).await.expect("a change");
    let sealed = site.run(&["rows", "reseal", "--yes"]).success();
    assert!(sealed.stdout.contains("forged  rolled_back: status"), "{}", sealed.stdout);
    let sql = "SELECT count(*) FROM keys WHERE status = 'disabled'";
    let disabled: i64 =
        sqlx::query_scalar(sql).fetch_one(&mut site.connect().await).await.expect("keys");
    assert_eq!(disabled, 1, "what was taken away does not come back");
    // The last revision does not block the row either.
    assert_eq!(site.run(&["rows", "reseal"]).success().line(), "every row counts");
}

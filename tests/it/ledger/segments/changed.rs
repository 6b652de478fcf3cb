//! A record that was changed after it was sealed is shown as changed.

use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use engine::ids::RecordId;
use engine::ledger::Log;

use crate::ledger::{covered, hash, sealed_world};
use testkit::{PATIENCE, World, within};

async fn execute(world: &World, sql: &str) {
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&world.pool).await;
    done.expect(sql);
}

async fn records(world: &World) -> Vec<Value> {
    let listed = world.admin().get("/admin/audit").await.ok().json();
    listed["items"].as_array().expect("items").clone()
}

/// A service with two sealed records. The owner of the database has changed the newer one.
async fn changed_world() -> (World, Value) {
    let world = sealed_world().await;
    hash(&world, 2).await;
    covered(&world, Log::Operations, 2).await;
    let newest = records(&world).await.remove(0);
    let id: RecordId = newest["id"].as_str().expect("an id").parse().expect("an id");
    let id: Uuid = id.uuid();
    let change =
        format!("UPDATE crypto_operations_audit SET response_status = 500 WHERE id = '{id}'");
    execute(&world, &change).await;
    (world, newest)
}

#[tokio::test]
async fn lists_and_proofs_show_that_a_record_was_changed() {
    let (world, before) = changed_world().await;
    let admin = world.admin();
    let [changed, other] = records(&world).await.try_into().expect("two records");
    assert_eq!(changed["changed"], true);
    assert_eq!(changed["log_index"], before["log_index"]);
    assert_eq!((&other["changed"], &other["log_index"]), (&Value::Null, &json!(0)));
    let id = before["id"].as_str().expect("an id");
    let proof = admin.get(&format!("/admin/audit/{id}/proof")).await;
    proof.refused(409, "CONFLICT");
    let other = other["id"].as_str().expect("an id");
    admin.get(&format!("/admin/audit/{other}/proof")).await.ok();
}

#[tokio::test]
async fn a_record_that_no_leaf_can_hold_was_changed() {
    let world = sealed_world().await;
    execute(&world, "ALTER TABLE crypto_operations_audit ALTER error_message TYPE text").await;
    hash(&world, 1).await;
    covered(&world, Log::Operations, 1).await;
    let long = "UPDATE crypto_operations_audit SET error_message = repeat('x', 70000)";
    execute(&world, long).await;
    let record = records(&world).await.remove(0);
    assert_eq!((&record["changed"], &record["log_index"]), (&json!(true), &json!(0)));
    let id = record["id"].as_str().expect("an id");
    let proof = world.admin().get(&format!("/admin/audit/{id}/proof")).await;
    proof.refused(409, "CONFLICT");
}

#[tokio::test]
async fn the_sample_of_the_sealer_finds_a_changed_record() {
    let (world, _) = changed_world().await;
    let alarm = async || {
        let path = "/admin/audit/management?action=row.invalid";
        let page = world.admin().get(path).await.ok().json();
        page["items"][0]["after"].clone()
    };
    let named = json!({ "table": "crypto_operations_audit", "flaw": "forged" });
    within(PATIENCE, async || alarm().await == named).await;
}

/// A changed event is shown alike, also with a type that this release does not know.
#[tokio::test]
async fn a_changed_event_is_shown_as_changed() {
    for change in ["actor = 'another'", "resource_type = 'branch', actor = 'another'"] {
        let world = sealed_world().await;
        world.service("first").await;
        let path = "/admin/audit/management?action=create";
        let event = async || world.admin().get(path).await.ok().json()["items"][0].clone();
        within(PATIENCE, async || event().await["log_index"].is_u64()).await;
        let id = event().await["id"].as_str().expect("an id").to_owned();
        let of_service = "WHERE resource_type = 'service'";
        execute(&world, &format!("UPDATE management_events SET {change} {of_service}")).await;
        // The schemas of the tests know no such type.
        let lines = world.admin().with("accept", "application/x-ndjson");
        let lines = lines.get("/admin/audit/management").await.ok().body;
        let line = lines.lines().find(|line| line.contains(&id)).expect("the event");
        let changed: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!((&changed["changed"], changed["log_index"].is_u64()), (&json!(true), true));
        let proof = world.admin().get(&format!("/admin/audit/{id}/proof")).await;
        proof.refused(409, "CONFLICT");
    }
}

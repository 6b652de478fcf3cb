//! Invalid rows are named: in the log of events, in health and in the metrics.

use std::time::Duration;

use engine::rows::{
    NotSealed, ReviewedRows, compare, examine_all, invalid_rows, seal_reviewed, seal_seen,
};
use engine::settings::Stage;
use formats::clock::{Clock, Entropy, Timestamp};
use serde_json::json;

use super::Intruder;
use crate::ledger::sealed_world;
use testkit::{PATIENCE, Process, Site, World, within};

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_row_is_an_event_once_and_degrades_health() {
    let world = World::new().await;
    let (_, application) = world.bound_application().await;
    let health = async || world.admin().get("/api/v1/health").await.ok().json();
    assert_eq!(health().await["checks"]["records"], json!({ "status": "ok" }));
    Intruder::of(&world).run("UPDATE policies SET seal = NULL").await;
    within(PATIENCE, async || application.protect(json!(1)).await.status == 404).await;
    assert_eq!(health().await["checks"]["records"], json!({ "status": "degraded" }));
    assert_eq!(health().await["status"], "degraded");
    let events = async || {
        let page =
            world.admin().get("/admin/audit/management?action=row.invalid").await.ok().json();
        page["items"].as_array().expect("items").clone()
    };
    within(PATIENCE, async || !events().await.is_empty()).await;
    let [event] = events().await.try_into().expect("one event");
    assert_eq!(event["resource_type"], "policy");
    assert_eq!(event["actor"], "row monitor");
    assert_eq!(event["after"], json!({ "table": "policies", "flaw": "unsealed" }));
}

/// A row that nobody reads is found, too.
#[tokio::test(flavor = "multi_thread")]
async fn the_start_examines_every_row_and_an_operator_seals_them_again() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    process.service("unused").await;
    process.terminate();
    let mut database = site.connect().await;
    sqlx::query("UPDATE services SET tier = 'professional'")
        .execute(&mut database)
        .await
        .expect("a change");
    let metrics = [("SEALWARD_METRICS_LISTEN", "127.0.0.1:0")];
    let process = Process::start_with(&site, &metrics).await;
    within(PATIENCE, async || process.metrics().sum("sealward_rows_invalid", &[]) == 1.0).await;
    // Lists show it, and nothing else does.
    let listed = process.admin().get("/admin/services").await.ok().json();
    assert_eq!(listed["items"][0]["sealValid"], false);
    let path = format!("/admin/services/{}", listed["items"][0]["id"].as_str().expect("an id"));
    process.admin().get(&path).await.refused(404, "SERVICE_NOT_FOUND");
    process.terminate();

    let refused = site.run(&["rows", "reseal"]);
    refused.failure(1, &["no row was sealed"]);
    let sealed = site.run(&["rows", "reseal", "--yes"]).success();
    assert!(
        sealed.stdout.contains("services") && sealed.stdout.contains("forged"),
        "{}",
        sealed.stdout
    );
    assert_eq!(site.run(&["rows", "reseal"]).success().line(), "every row counts");
    let process = Process::start(&site).await;
    let listed = process.admin().get("/admin/services").await.ok().json();
    assert_eq!(listed["items"][0]["tier"], "professional");
    assert_eq!(listed["items"][0].get("sealValid"), None);
    let events = process.admin().get("/admin/audit/management?action=row.sealed").await.ok().json();
    assert_eq!(events["items"][0]["actor"], "cli");
}

#[tokio::test]
async fn a_kind_of_rows_that_cannot_be_read_does_not_hide_the_others() {
    let world = World::new().await;
    world.bound_application().await;
    Intruder::of(&world).run("UPDATE policies SET seal = NULL").await;
    let broken = "ALTER TABLE services RENAME COLUMN tier TO another";
    sqlx::query(broken).execute(&world.pool).await.expect("a change");
    assert!(examine_all(&world.pool).await.is_err());
    let findings = world.pool.seals().findings();
    assert!(findings.iter().any(|it| it.row.table == "policies"), "{findings:?}");
}

/// A count of no wrong rows is old when no row can be read for long.
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_are_not_examined_any_more_degrade_health() {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    let status = async || {
        let health = world.admin().get("/api/v1/health").await.ok().json();
        health["checks"]["records"]["status"].clone()
    };
    let rename = async |change: &'static str| {
        sqlx::query(change).execute(&world.pool).await.expect("a change");
    };
    // None has been examined since the start.
    rename("ALTER TABLE import_keys RENAME TO others").await;
    world.clock.advance(Duration::from_secs(10 * 60));
    assert_eq!(status().await, "ok");
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(status().await, "degraded");
    rename("ALTER TABLE others RENAME TO import_keys").await;
    within(PATIENCE, async || status().await == "ok").await;
    // The clock of the examinations is another, so no second one follows.
    world.clock.advance(Duration::from_secs(70 * 60));
    assert_eq!(status().await, "ok");
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(status().await, "degraded");
}

#[tokio::test]
async fn without_the_row_key_the_service_does_not_start() {
    let site = Site::on(testkit::Database::new().await);
    let expected = &["run `sealward init` once, after `sealward migrate`"];
    site.run(&["serve"]).failure(78, expected);
    site.run(&["api-key", "list"]).failure(78, expected);
    let made = "the token has a row key now\nthe token has a report key now\n";
    assert_eq!(site.run(&["init"]).success().stdout, made);
    let known = "the token has its row key\nthe token has its report key\n";
    assert_eq!(site.run(&["init"]).success().stdout, known);
    site.run(&["api-key", "list"]).success();
}

/// Somebody who writes to the database could change a row while the operator reads what is shown.
#[tokio::test]
async fn only_rows_that_the_operator_saw_are_sealed() {
    let world = World::new().await;
    world.service("billing").await;
    let intruder = Intruder::of(&world);
    intruder.run("UPDATE services SET tier = 'professional'").await;
    let mut connection = world.pool.acquire().await.expect("a connection");
    let seen = invalid_rows(world.pool.rows_on(&mut connection), &[]).await.expect("the rows");
    assert_eq!(seen.len(), 1);
    intruder.run("UPDATE services SET publish_keys = true").await;
    let sealed = seal_seen(world.pool.rows_on(&mut connection), &seen).await;
    assert!(matches!(sealed, Err(NotSealed::Changed(rows)) if rows.len() == 1));
    intruder.run("UPDATE services SET publish_keys = false").await;
    seal_seen(world.pool.rows_on(&mut connection), &seen).await.expect("the row as it was");
    let listed = world.admin().get("/admin/services").await.ok().json();
    assert_eq!(listed["items"][0]["tier"], "professional");
    assert_eq!(listed["items"][0].get("sealValid"), None);
}

/// A finding ends when its row does.
#[tokio::test]
async fn an_added_row_that_is_removed_is_no_finding() {
    let world = World::new().await;
    let intruder = Intruder::of(&world);
    intruder
        .run(
            "INSERT INTO services (id, name, tier, created_at, updated_at)
             VALUES (gen_random_uuid(), 'added', 'standard', now(), now())",
        )
        .await;
    examine_all(&world.pool).await.expect("the rows");
    assert_eq!(world.pool.seals().findings().len(), 1);
    intruder.run("DELETE FROM services WHERE name = 'added'").await;
    examine_all(&world.pool).await.expect("the rows");
    assert_eq!(world.pool.seals().findings(), []);
}

/// The comparison that the operator reads, and the row that is sealed, are of one content.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_changed_after_its_comparison_is_not_sealed() {
    let world = sealed_world().await;
    let auditor = world.administrator(&["auditor"]).await;
    let intruder = Intruder::of(&world);
    intruder.run("UPDATE api_keys SET seal = NULL WHERE roles = '{auditor}'").await;
    let compared = async || {
        let compared = compare(&world.pool).await.expect("a comparison");
        compared.expect("sealed events")
    };
    let promote = "UPDATE api_keys SET roles = '{owner}' WHERE roles = '{auditor}'";
    intruder.run(promote).await;
    within(PATIENCE, async || compared().await.len() == 1).await;
    intruder.run("UPDATE api_keys SET roles = '{auditor}' WHERE seal IS NULL").await;
    assert_eq!(compared().await, []);
    intruder.run(promote).await;
    let mut connection = world.pool.acquire().await.expect("a connection");
    let seen = invalid_rows(world.pool.rows_on(&mut connection), &[]).await.expect("the rows");
    drop(connection);
    assert_eq!(seen.len(), 1);
    let reviewed = ReviewedRows { seen: &seen, missing: &[], deviations: &[] };
    let sealed = seal_reviewed(&world.pool, reviewed, (&Clock::system(), &Entropy::system())).await;
    assert!(matches!(sealed, Err(NotSealed::Changed(rows)) if rows.len() == 1));
    auditor.get("/admin/audit/management").await.refused(401, "AUTHENTICATION_FAILED");
    let deviations = compared().await;
    let reviewed = ReviewedRows { deviations: &deviations, ..reviewed };
    let sealed = seal_reviewed(&world.pool, reviewed, (&Clock::system(), &Entropy::system())).await;
    sealed.expect("the operator saw the change");
}

/// The same rows do not count behind another token.
#[tokio::test(flavor = "multi_thread")]
async fn another_token_verifies_no_row() {
    let site = Site::new().await;
    site.admin_key();
    std::fs::remove_dir_all(site.file("token")).expect("the token");
    site.add_softhsm(testkit::LABEL);
    site.run(&["init"]).success();
    let process = Process::start(&site).await;
    let refused = process.admin().get("/admin/services").await;
    refused.refused(401, "AUTHENTICATION_FAILED");
    process.terminate();
    site.run(&["rows", "reseal", "--yes"]).success();
    let process = Process::start(&site).await;
    process.admin().get("/admin/services").await.ok();
}

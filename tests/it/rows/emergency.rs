//! The switch that freezes everything, and frozen services, after an intruder has written to the database.

use serde_json::json;
use sqlx::AssertSqlSafe;

use super::Intruder;
use testkit::{PATIENCE, World, within};

async fn freeze(world: &World) {
    let reason = json!({ "reason": "x" });
    world.admin().post("/admin/emergency/freeze", reason).await.ok();
}

async fn unfreeze(world: &World) {
    world.admin().post_nothing("/admin/emergency/unfreeze").await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_lifts_the_switch_by_sql() {
    for tampering in [
        "UPDATE emergency SET status = 'active'",
        "UPDATE emergency SET seal = NULL",
        "DELETE FROM emergency",
    ] {
        let world = World::new().await;
        let (_, application) = world.bound_application().await;
        freeze(&world).await;
        application.protect(json!(1)).await.refused(403, "SERVICE_FROZEN");
        Intruder::of(&world).run(tampering).await;
        // A new instance has read nothing before.
        let second = world.another().await;
        let elsewhere = second.client(application.key.as_ref().unwrap());
        for client in [&application, &elsewhere] {
            client.protect(json!(1)).await.refused(403, "SERVICE_FROZEN");
        }
        assert_eq!(world.admin().get("/admin/emergency").await.ok().text("status"), "frozen");
        // The API lifts it, whatever became of its row.
        unfreeze(&world).await;
        application.protect(json!(1)).await.ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switch_that_was_put_back_freezes() {
    let world = World::new().await;
    let (_, application) = world.bound_application().await;
    freeze(&world).await;
    unfreeze(&world).await;
    let intruder = Intruder::of(&world);
    intruder.keep(&world, "emergency").await;
    freeze(&world).await;
    intruder.put_back("emergency").await;
    let second = world.another().await;
    let elsewhere = second.client(application.key.as_ref().unwrap());
    elsewhere.protect(json!(1)).await.refused(403, "SERVICE_FROZEN");
}

/// Without its row, the switch counts as frozen only until the login of the service puts the row back.
#[tokio::test(flavor = "multi_thread")]
async fn a_freeze_while_the_row_is_hidden_lasts() {
    let world = World::new().await;
    let (_, application) = world.bound_application().await;
    freeze(&world).await;
    unfreeze(&world).await;
    let intruder = Intruder::of(&world);
    intruder.keep(&world, "emergency").await;
    intruder.run("DELETE FROM emergency").await;
    freeze(&world).await;
    intruder.run("DELETE FROM emergency; INSERT INTO emergency SELECT * FROM kept_emergency").await;
    let second = world.another().await;
    let elsewhere = second.client(application.key.as_ref().unwrap());
    for client in [&application, &elsewhere] {
        client.protect(json!(1)).await.refused(403, "SERVICE_FROZEN");
    }
    let freezes = world.admin().get("/admin/audit/management?action=freeze").await.ok().json();
    assert_eq!(freezes["items"].as_array().map(Vec::len), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_freezes_although_another_session_cancels_what_waits() {
    let world = World::new().await;
    let (_, application) = world.bound_application().await;
    application.protect(json!(1)).await.ok();
    let mut holder = world.pool.begin().await.expect("a transaction");
    let hold = "LOCK TABLE emergency IN EXCLUSIVE MODE";
    sqlx::query(hold).execute(&mut *holder).await.expect("a lock");
    let pool = world.pool.clone();
    let canceling = tokio::spawn(async move {
        let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity
                       WHERE datname = current_database() AND wait_event_type = 'Lock'";
        loop {
            sqlx::query(cancel).execute(&pool).await.expect("a look");
        }
    });
    freeze(&world).await;
    canceling.abort();
    within(PATIENCE, async || application.protect(json!(1)).await.status == 403).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_freezes_without_a_row() {
    let world = World::new().await;
    let (_, application) = world.bound_application().await;
    let intruder = Intruder::of(&world);
    let first = "INSERT INTO revisions
                 VALUES ('emergency', '00000000-0000-0000-0000-000000000001', 1, 'frozen')";
    intruder.run(first).await;
    within(PATIENCE, async || application.protect(json!(1)).await.status == 403).await;
    unfreeze(&world).await;
    application.protect(json!(1)).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_has_no_reason() {
    let world = World::new().await;
    freeze(&world).await;
    let over = json!({ "reason": "all clear" });
    world.admin().post("/admin/emergency/unfreeze", over).await.ok();
    Intruder::of(&world)
        .run("INSERT INTO revisions SELECT 'emergency', id, revision + 1, 'frozen' FROM emergency")
        .await;
    let switch = async || world.admin().get("/admin/emergency").await.ok().json();
    within(PATIENCE, async || switch().await["status"] == "frozen").await;
    assert_eq!(switch().await["reason"], json!(null));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_freezes_a_service_until_an_administrator_unfreezes_it() {
    let world = World::new().await;
    let (destination, application) = world.bound_application().await;
    let path = format!("/admin/services/{}", destination.service);
    Intruder::of(&world)
        .run("INSERT INTO revisions SELECT 'services', id, revision + 1, 'frozen' FROM services")
        .await;
    within(PATIENCE, async || application.protect(json!(1)).await.status == 403).await;
    assert_eq!(world.admin().get(&path).await.ok().text("status"), "frozen");
    for service in [&destination.service, application.service.as_ref().unwrap()] {
        let path = format!("/admin/services/{service}");
        world.admin().patch(&path, json!({ "status": "active" })).await.ok();
    }
    application.protect(json!(1)).await.ok();
}

/// Its row could have been that of a frozen service.
#[tokio::test(flavor = "multi_thread")]
async fn a_destination_without_a_valid_row_is_no_destination() {
    let world = World::new().await;
    let (destination, application) = world.bound_application().await;
    let path = format!("/admin/services/{}", destination.service);
    let intruder = Intruder::of(&world);
    intruder.keep(&world, "services").await;
    world.admin().patch(&path, json!({ "status": "frozen" })).await.ok();
    intruder.put_back("services").await;
    let inactive = json!({ "status": "inactive", "failureMode": "passthrough" });
    within(PATIENCE, async || application.protect(json!(1)).await.status == 500).await;
    world.change_policy(&destination, inactive).await;
    application.protect(json!(1)).await.refused(500, "DESTINATION_KEY_NOT_FOUND");
}

/// Who writes to the database can also lock what it writes to.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_who_holds_a_lock_keeps_an_owner_from_freezing_everything() {
    for lock in [
        "LOCK TABLE emergency IN SHARE ROW EXCLUSIVE MODE",
        "SELECT FROM api_keys WHERE type = 'admin' FOR UPDATE",
    ] {
        let world = World::new().await;
        let (_, application) = world.bound_application().await;
        application.protect(json!(1)).await.ok();
        let intruder = Intruder::of(&world);
        let mut held = intruder.pool.acquire().await.expect("a connection");
        let begin = format!("BEGIN; {lock}");
        sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut *held).await.expect("a lock");
        let reason = json!({ "reason": "x" });
        let frozen = world.admin().post("/admin/emergency/freeze", reason).await.ok();
        assert_eq!(
            (frozen.text("status").as_str(), &frozen.json()["reason"]),
            ("frozen", &json!(null))
        );
        within(PATIENCE, async || application.protect(json!(1)).await.status == 403).await;
        application.protect(json!(1)).await.refused(403, "SERVICE_FROZEN");
        sqlx::raw_sql("ROLLBACK").execute(&mut *held).await.expect("the end of the lock");
        let events = world.admin().get("/admin/audit/management?action=freeze").await.ok().json();
        assert_eq!(events["items"][0]["after"], json!({ "status": "frozen" }), "{lock}");
        unfreeze(&world).await;
        application.protect(json!(1)).await.ok();
    }
}

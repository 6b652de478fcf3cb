//! Changes on one instance apply on all instances in time, also during failures.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use futures_util::future::join_all;
use serde_json::json;
use sqlx::AssertSqlSafe;

use testkit::{Answer, PATIENCE, World, jwe, rewrite, within};

#[tokio::test]
async fn a_revocation_applies_immediately_on_its_instance() {
    let world = World::new().await;
    let created = another_admin(&world).await;
    let other = world.client(&created.text("secret"));
    for _ in 0..10 {
        other.get("/admin/services").await.ok();
    }
    world.admin().delete(created.header("location")).await.gone();
    let refused = other.get("/admin/services").await;
    refused.refused(401, "AUTHENTICATION_FAILED");
}

#[tokio::test]
async fn a_revocation_applies_to_another_instance_within_a_second() {
    let world = World::new().await;
    let second = world.another().await;
    for _ in 0..5 {
        let created = another_admin(&world).await;
        let other = second.client(&created.text("secret"));
        other.get("/admin/services").await.ok();
        world.admin().delete(created.header("location")).await.gone();
        within(PATIENCE, async || other.get("/admin/services").await.status == 401).await;
    }
}

#[tokio::test]
async fn a_changed_limit_applies_on_another_instance_within_a_second() {
    let world = World::new().await;
    let second = world.another().await;
    let application = world.application("billing").await;
    let limit = async || {
        let other = second.client(application.key.as_ref().unwrap());
        let answer = other.get("/admin/services").await.refused(403, "FORBIDDEN");
        answer.header("x-ratelimit-limit").to_owned()
    };
    assert_eq!(limit().await, "200");
    let path = format!("/admin/services/{}", application.service.as_ref().unwrap());
    let higher = json!({ "tier": "professional" });
    world.admin().put(&path, higher).await.ok();
    within(PATIENCE, async || limit().await == "1000").await;
}

#[tokio::test]
async fn changes_during_a_lost_notification_connection_are_not_missed() {
    let world = World::new().await;
    let created = another_admin(&world).await;
    let other = world.client(&created.text("secret"));
    other.get("/admin/services").await.ok();
    within(PATIENCE, async || close_notification_connections(&world).await > 0).await;
    // A direct change in the database. The instance learns of it from a notification or a new lookup.
    let revocation = "UPDATE api_keys SET revoked_at = now() WHERE name = 'another'";
    rewrite(&world.pool, revocation).await;
    within(PATIENCE, async || other.get("/admin/services").await.status == 401).await;
}

#[tokio::test]
async fn policies_and_keys_apply_on_another_instance() {
    let world = World::new().await;
    let second = world.another().await;
    assert_changes_apply_on(&world, &second).await;
}

#[tokio::test]
async fn policies_and_keys_apply_on_an_instance_without_notifications() {
    let world = World::new().await;
    let second = world.another().await;
    // Each notification connection is closed immediately, so no instance trusts its caches for long.
    // Lookups continue.
    let interrupting = async {
        loop {
            close_notification_connections(&world).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        () = assert_changes_apply_on(&world, &second) => {}
        () = interrupting => {}
    }
}

/// Asserts that changes of each kind on one instance apply on the other. Each change follows the
/// confirmation of the previous one.
async fn assert_changes_apply_on(world: &World, second: &World) {
    let (destination, alice) = world.bound_application().await;
    let service = alice.service.clone().unwrap();
    let data_key = world.key(&service, "data", "AES-128").await;
    let on_second = second.client(alice.key.as_ref().unwrap());
    let kid = async || {
        let envelope = jwe(&on_second.protect(json!(1)).await);
        let header = BASE64URL.decode(envelope["protected"].as_str().unwrap()).unwrap();
        let header: serde_json::Value = serde_json::from_slice(&header).unwrap();
        header["kid"].as_str().unwrap().to_owned()
    };
    let encrypts = async || {
        let body = json!({ "data": 1, "algorithm": "AES-128-GCM", "keyId": data_key });
        on_second.operate("encrypt", body).await.status
    };
    assert_eq!(kid().await, destination.key);
    assert_eq!(encrypts().await, 200);

    let new_key = world.key(&destination.service, "enc", "P-256").await;
    within(PATIENCE, async || kid().await == new_key).await;
    world.change_policy(&destination, json!({ "status": "inactive" })).await;
    within(PATIENCE, async || on_second.protect(json!(1)).await.status == 403).await;
    world.change_policy(&destination, json!({ "status": "active" })).await;
    within(PATIENCE, async || on_second.protect(json!(1)).await.status == 200).await;
    world.change_key(&data_key, json!({ "status": "disabled" })).await;
    within(PATIENCE, async || encrypts().await == 403).await;
    world.revoke(&alice).await;
    within(PATIENCE, async || on_second.protect(json!(1)).await.status == 401).await;
    // A change that applies once continues to apply.
    for _ in 0..20 {
        on_second.protect(json!(1)).await.refused(401, "AUTHENTICATION_FAILED");
    }
}

/// Closes the notification connections of the instances and returns their number.
async fn close_notification_connections(world: &World) -> i64 {
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE datname = current_database() AND starts_with(application_name, $1)";
    sqlx::query_scalar(cut).bind(engine::catalog::LISTENER).fetch_one(&world.pool).await.unwrap()
}

async fn another_admin(world: &World) -> Answer {
    let body = json!({ "name": "another", "type": "admin" });
    world.admin().post("/admin/api-keys", body).await.created()
}

#[tokio::test]
async fn a_migration_that_adds_columns_does_not_break_open_connections() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let alice = world.application("alice").bound_to(&destination.policy);
    let alice = alice.await;
    let read = async || {
        let paths = ["services", "policies", "keys", "api-keys"].map(|it| format!("/admin/{it}"));
        let mut ids = Vec::new();
        for path in &paths {
            let listed = world.admin().get(path).await.ok().json();
            let first = &listed["items"][0]["id"];
            ids.push(format!("{path}/{}", first.as_str().expect("an id")));
        }
        let reads = ids.iter().chain(&paths).map(|path| async {
            world.admin().get(path).await.ok();
        });
        join_all(reads).await;
        // Without a change, so that the policy is locked and read again.
        let policy = format!("/admin/policies/{}", destination.policy);
        world.admin().put(&policy, json!({})).await.ok();
        alice.protect(json!(1)).await.ok();
    };
    for _ in 0..5 {
        read().await;
    }
    for table in ["services", "policies", "keys", "api_keys"] {
        let add = format!("ALTER TABLE {table} ADD COLUMN of_a_later_version text");
        let add = sqlx::query(AssertSqlSafe(add)).execute(&world.pool).await;
        add.unwrap();
    }
    for _ in 0..5 {
        read().await;
    }
}

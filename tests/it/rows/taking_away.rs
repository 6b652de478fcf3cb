//! Entries of `revisions` that take something away, and what the login can do with them.

use serde_json::json;

use super::Intruder;
use testkit::{PATIENCE, World, within};

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_revokes_an_api_key_whose_row_was_not_written() {
    let world = World::new().await;
    let (_, application) = world.bound_application().await;
    application.protect(json!(1)).await.ok();
    Intruder::of(&world)
        .run(
            "INSERT INTO revisions SELECT 'api_keys', id, revision + 1, 'revoked' FROM api_keys
              WHERE type = 'live'",
        )
        .await;
    within(PATIENCE, async || application.protect(json!(1)).await.status == 401).await;
    let shown = world.admin().get(&application.key_path()).await.ok();
    assert_eq!(shown.text("status"), "revoked");
    // The next change of the row keeps the effect.
    let refused = world.admin().put(&application.key_path(), json!({ "name": "again" })).await;
    refused.refused(409, "CONFLICT");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_disables_a_key_until_an_administrator_enables_it() {
    let world = World::new().await;
    let (destination, application) = world.bound_application().await;
    let path = format!("/admin/keys/{}", destination.key);
    Intruder::of(&world)
        .run("INSERT INTO revisions SELECT 'keys', id, revision + 1, 'disabled' FROM keys")
        .await;
    within(PATIENCE, async || application.protect(json!(1)).await.status == 500).await;
    assert_eq!(world.admin().get(&path).await.ok().text("status"), "disabled");
    world.admin().put(&path, json!({ "status": "active" })).await.ok();
    application.protect(json!(1)).await.ok();
}

#[tokio::test]
async fn the_login_only_adds_entries() {
    let world = World::new().await;
    let intruder = Intruder::of(&world);
    world.service("one").await;
    for sql in ["UPDATE revisions SET what = 'made'", "DELETE FROM revisions", "TRUNCATE revisions"]
    {
        let refused = sqlx::query(sql).execute(&intruder.pool).await;
        let refused = refused.expect_err(sql).to_string();
        assert!(refused.contains("permission denied"), "{sql}: {refused}");
    }
    intruder.run("INSERT INTO revisions SELECT 'services', gen_random_uuid(), 1, 'made'").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_gives_back_makes_the_row_unusable() {
    let world = World::new().await;
    let (_, application) = world.bound_application().await;
    Intruder::of(&world)
        .run(
            "INSERT INTO revisions SELECT 'api_keys', id, revision + 1, 'changed' FROM api_keys
              WHERE type = 'live'",
        )
        .await;
    within(PATIENCE, async || application.protect(json!(1)).await.status == 401).await;
}

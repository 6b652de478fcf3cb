//! Entries of `revisions` that `sealward retain` deletes.

use engine::rows::examine_all;
use engine::seals::forget_superseded;
use serde_json::json;
use sqlx::AssertSqlSafe;

use super::Intruder;
use crate::dashboard::Browser;
use testkit::World;

/// Each row keeps its newest entry and those that took something away since.
#[tokio::test(flavor = "multi_thread")]
async fn rows_count_without_the_entries_before_the_newest() {
    let world = World::new().await;
    let intruder = Intruder::of(&world);
    let (destination, _) = world.bound_application().await;
    intruder.keep(&world, "services").await;
    let path = format!("/admin/services/{}", destination.service);
    for name in ["second", "third"] {
        world.admin().put(&path, json!({ "name": name })).await.ok();
    }
    let mut browser = Browser::signed_in(&world).await;
    intruder.keep(&world, "dashboard_sessions").await;
    let cookie = browser.cookie.clone();
    browser.send("/dashboard/sign-out", &[]).await;
    intruder
        .run("INSERT INTO revisions SELECT 'keys', id, revision + 1, 'disabled' FROM keys")
        .await;

    let refused = forget_superseded(&intruder.pool).await.expect_err("a login without the right");
    assert!(refused.to_string().contains("permission denied"), "{refused}");
    let superseded = async || -> i64 {
        let retention =
            "SET ROLE sealward_retention; SELECT forget_superseded_revisions(); RESET ROLE";
        sqlx::raw_sql(retention).execute(&world.pool).await.expect("a deletion");
        let several =
            "SELECT count(*) FROM (SELECT FROM revisions WHERE what IN ('made', 'changed', 'gone')
                                    GROUP BY table_name, id HAVING count(*) > 1) AS several";
        sqlx::query_scalar(several).fetch_one(&world.pool).await.expect("a number")
    };
    // Whoever adds an entry does not remove the last seal of a row at once.
    assert_ne!(superseded().await, 0);
    let aged = "UPDATE revisions SET at = at - interval '31 days'";
    sqlx::query(aged).execute(&world.pool).await.expect("older entries");
    assert_eq!(superseded().await, 0);
    examine_all(&world.pool).await.expect("the rows");
    assert_eq!(world.pool.seals().findings(), []);
    let key = world.admin().get(&format!("/admin/keys/{}", destination.key)).await.ok();
    assert_eq!(key.text("status"), "disabled");
    assert_eq!(world.admin().get(&path).await.ok().text("name"), "third");

    // Whoever puts an earlier row back cannot add its entry again.
    intruder.put_back("services").await;
    let restore = "INSERT INTO dashboard_sessions SELECT * FROM kept_dashboard_sessions";
    intruder.run(restore).await;
    for table in ["services", "dashboard_sessions"] {
        let add = format!(
            "INSERT INTO revisions SELECT '{table}', id, revision, 'made' FROM {table} ON CONFLICT DO NOTHING"
        );
        let refused = sqlx::raw_sql(AssertSqlSafe(add)).execute(&intruder.pool).await;
        let refused = refused.expect_err(table).to_string();
        assert!(refused.contains("is lower than the newest one"), "{refused}");
    }
    world.admin().get(&path).await.refused(404, "SERVICE_NOT_FOUND");
    browser.cookie = cookie;
    assert_eq!(browser.get("/dashboard").await.status, 303);
}

/// Otherwise nobody could sign in until the row is deleted.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_nobody_began_stops_no_sign_in() {
    let world = World::new().await;
    Intruder::of(&world)
        .run(
            "INSERT INTO dashboard_sessions
                    (id, digest, api_key_id, checked_at, started_at, seen_at, revision)
             SELECT gen_random_uuid(), sha256('another'), id, created_at - interval '9 days',
                    created_at - interval '9 days', created_at - interval '9 days', 9223372036854775807
               FROM api_keys WHERE type = 'admin'",
        )
        .await;
    let mut browser = Browser::signed_in(&world).await;
    browser.get("/dashboard/keys").await.ok();
    let left = "SELECT count(*) FROM dashboard_sessions WHERE revision > 1";
    let left: i64 = sqlx::query_scalar(left).fetch_one(&world.pool).await.expect("a number");
    assert_eq!(left, 0);
}

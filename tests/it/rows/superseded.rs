//! Entries of `revisions` that `sealward retain` deletes.

use engine::rows::examine_all;
use engine::seals::forget_superseded;
use serde_json::json;

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
    let retention = "SET ROLE sealward_retention; SELECT forget_superseded_revisions(); RESET ROLE";
    sqlx::raw_sql(retention).execute(&world.pool).await.expect("a deletion");
    let several =
        "SELECT count(*) FROM (SELECT FROM revisions WHERE what IN ('made', 'changed', 'gone')
                                          GROUP BY table_name, id HAVING count(*) > 1) AS several";
    let several: i64 = sqlx::query_scalar(several).fetch_one(&world.pool).await.expect("a number");
    assert_eq!(several, 0);
    examine_all(&world.pool).await.expect("the rows");
    assert_eq!(world.pool.seals().findings(), []);
    let key = world.admin().get(&format!("/admin/keys/{}", destination.key)).await.ok();
    assert_eq!(key.text("status"), "disabled");
    assert_eq!(world.admin().get(&path).await.ok().text("name"), "third");

    // Whoever puts an earlier row back can also add its entry again.
    intruder.put_back("services").await;
    intruder
        .run("INSERT INTO revisions SELECT 'services', id, revision, 'made' FROM services ON CONFLICT DO NOTHING")
        .await;
    world.admin().get(&path).await.refused(404, "SERVICE_NOT_FOUND");
    intruder
        .run(
            "INSERT INTO dashboard_sessions SELECT * FROM kept_dashboard_sessions;
             INSERT INTO revisions SELECT 'dashboard_sessions', id, revision, 'made' FROM dashboard_sessions",
        )
        .await;
    browser.cookie = cookie;
    assert_eq!(browser.get("/dashboard").await.status, 303);
}

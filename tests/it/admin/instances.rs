//! What one instance changes holds on all of them within a second, whatever breaks.

use std::time::Duration;

use serde_json::json;

use crate::support::{Answer, World, within};

/// The bound that the contract sets.
const BOUND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_revocation_holds_here_at_once() {
    let world = World::new().await;
    let made = another_admin(&world).await;
    let other = world.person(&made.text("secret"));
    for _ in 0..10 {
        other.get("/admin/services").await.ok();
    }
    world.admin().delete(made.header("location")).await.gone();
    let refused = other.get("/admin/services").await;
    refused.refused(401, "AUTHENTICATION_FAILED");
}

#[tokio::test]
async fn a_revocation_holds_on_another_instance_within_a_second() {
    let world = World::new().await;
    let neighbour = world.another().await;
    for _ in 0..5 {
        let made = another_admin(&world).await;
        let other = neighbour.person(&made.text("secret"));
        other.get("/admin/services").await.ok();
        world.admin().delete(made.header("location")).await.gone();
        within(BOUND, async || {
            other.get("/admin/services").await.status == 401
        })
        .await;
    }
}

#[tokio::test]
async fn a_changed_limit_holds_on_another_instance_within_a_second() {
    let world = World::new().await;
    let neighbour = world.another().await;
    let application = world.application("billing").await;
    let limit = async || {
        let other = neighbour.person(application.key.as_ref().unwrap());
        let answer = other.get("/admin/services").await.refused(403, "FORBIDDEN");
        answer.header("x-ratelimit-limit").to_owned()
    };
    assert_eq!(limit().await, "200");
    let path = format!("/admin/services/{}", application.service.as_ref().unwrap());
    let higher = json!({ "tier": "professional" });
    world.admin().put(&path, higher).await.ok();
    within(BOUND, async || limit().await == "1000").await;
}

#[tokio::test]
async fn what_changes_while_the_connection_for_notices_is_cut_is_not_missed() {
    let world = World::new().await;
    let made = another_admin(&world).await;
    let other = world.person(&made.text("secret"));
    other.get("/admin/services").await.ok();
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE datname = current_database() AND query LIKE '%pg_notify%'
                  AND pid <> pg_backend_pid()";
    within(BOUND, async || {
        let count: i64 = sqlx::query_scalar(cut)
            .fetch_one(&world.pool)
            .await
            .unwrap();
        count > 0
    })
    .await;
    // Behind the back of the instance, so that nothing but a notice or a fresh look tells it.
    sqlx::query("UPDATE api_keys SET revoked_at = now() WHERE name = 'another'")
        .execute(&world.pool)
        .await
        .unwrap();
    within(BOUND, async || {
        other.get("/admin/services").await.status == 401
    })
    .await;
}

async fn another_admin(world: &World) -> Answer {
    let body = json!({ "name": "another", "type": "admin" });
    world.admin().post("/admin/api-keys", body).await.created()
}

//! Keys and successors that stop before the takeover.

use std::time::Duration;

use serde_json::json;

use super::{
    DAY, OVERLAP, a_world, id, made_successor, others, path, rotate, rotated, rotating, send,
    status,
};
use testkit::{PATIENCE, pool, within};

#[tokio::test]
async fn a_key_whose_successor_stopped_gets_another_one_and_retires_later() {
    let world = a_world().await;
    let service = world.service("stopped").await;
    let key = rotating(&world, &service, "AES-256", 10).await;
    world.clock.advance(10 * DAY);
    rotated(&world, 0).await;
    let successor = others(&world, &key).await.remove(0);
    let disabled = json!({ "status": "disabled" });
    let there = path(id(&successor));
    world.admin().patch(&there, disabled).await.ok();
    world.clock.advance(OVERLAP);
    within(PATIENCE, async || {
        rotate(&world).await;
        others(&world, &key).await.len() == 2
    })
    .await;
    rotated(&world, 0).await;
    assert_eq!(status(&world, &key).await, "active");
    let mut made = others(&world, &key).await;
    made.retain(|it| it["id"] != successor["id"]);
    assert_eq!(made[0]["status"], "active");
    world.clock.advance(OVERLAP);
    rotate(&world).await;
    assert_eq!(status(&world, &key).await, "retired");
}

/// The login of the service can write any row.
#[tokio::test]
async fn a_key_does_not_retire_because_of_a_row_that_does_not_count() {
    let world = a_world().await;
    let service = world.service("forged").await;
    let key = rotating(&world, &service, "AES-256", 10).await;
    world.clock.advance(10 * DAY);
    rotated(&world, 0).await;
    let successor = others(&world, &key).await.remove(0);
    let disabled = json!({ "status": "disabled" });
    world.admin().patch(&path(id(&successor)), disabled).await.ok();
    let forged = "UPDATE keys SET status = 'active' WHERE status = 'disabled'";
    let forged = sqlx::query(forged).execute(&pool(world.as_application())).await;
    assert_eq!(forged.expect("a change").rows_affected(), 1);
    world.clock.advance(OVERLAP);
    rotate(&world).await;
    assert_eq!(status(&world, &key).await, "active");
}

#[tokio::test]
async fn a_newer_key_of_another_name_does_not_replace_a_data_key() {
    let world = a_world().await;
    let service = world.service("names").await;
    let key = rotating(&world, &service, "AES-256", 10).await;
    world.clock.advance(10 * DAY);
    rotated(&world, 0).await;
    let successor = others(&world, &key).await.remove(0);
    world.admin().patch(&path(id(&successor)), json!({ "status": "disabled" })).await.ok();
    world.clock.advance(DAY);
    let theirs = json!({ "name": "theirs", "algorithm": "AES-256", "generate": true });
    send(&world, &service, theirs).await.created();
    world.clock.advance(OVERLAP);
    within(PATIENCE, async || {
        rotate(&world).await;
        others(&world, &key).await.len() == 3
    })
    .await;
    assert_eq!(status(&world, &key).await, "active");
}

#[tokio::test]
async fn a_key_that_someone_replaced_or_stopped_does_not_rotate() {
    let world = a_world().await;
    let service = world.service("manual").await;
    let stopped = rotating(&world, &service, "Ed25519", 2).await;
    let signing = rotating(&world, &service, "Ed25519", 2).await;
    world.clock.advance(DAY);
    let none = json!({ "rotationDays": null });
    world.admin().patch(&path(id(&stopped)), none).await.ok();
    rotate(&world).await;
    let successor = others(&world, &signing).await.remove(1);
    // Activated by hand, the successor takes over at once.
    let active = json!({ "status": "active" });
    world.admin().patch(&path(id(&successor)), active).await.ok();
    world.clock.advance(OVERLAP);
    rotate(&world).await;
    assert_eq!(status(&world, &signing).await, "retired");
    assert_eq!(status(&world, &stopped).await, "active");
}

#[tokio::test]
async fn a_deleted_successor_does_not_delay_the_next_one() {
    let world = a_world().await;
    let service = world.service("deleted").await;
    let key = rotating(&world, &service, "Ed25519", 30).await;
    world.clock.advance(29 * DAY);
    let deleted = made_successor(&world, &key).await;
    let there = path(id(&deleted));
    world.admin().delete(&there).await.gone();
    rotate(&world).await;
    let mut made = others(&world, &key).await;
    made.retain(|it| it["id"] != deleted["id"]);
    assert_eq!(made.len(), 1, "a second successor");
    let second = made.remove(0);
    world.clock.advance(DAY);
    rotated(&world, 0).await;
    assert_eq!(status(&world, &second).await, "active");

    // A deleted key that is brought back is no longer a successor.
    let disabled = json!({ "status": "disabled" });
    world.admin().patch(&there, disabled).await.ok();
    let retired = json!({ "status": "retired" });
    world.admin().patch(&there, retired).await.ok();
    world.clock.advance(OVERLAP);
    rotate(&world).await;
    assert_eq!(status(&world, &deleted).await, "retired");
    assert_eq!(status(&world, &second).await, "active");
}

#[tokio::test]
async fn an_expired_successor_does_not_take_over() {
    let world = a_world().await;
    let service = world.service("expired").await;
    let key = rotating(&world, &service, "Ed25519", 30).await;
    world.clock.advance(29 * DAY);
    let successor = made_successor(&world, &key).await;
    let hour = Duration::from_secs(60 * 60);
    let expires = json!({ "expiresAt": world.clock.now().plus(hour) });
    let there = path(id(&successor));
    world.admin().patch(&there, expires).await.ok();
    world.clock.advance(DAY);
    rotated(&world, 1).await;
    assert_eq!(status(&world, &successor).await, "retired");
    let never = json!({ "expiresAt": null });
    world.admin().patch(&there, never).await.ok();
    rotated(&world, 0).await;
    assert_eq!(status(&world, &successor).await, "active");
}

/// The job finds keys by columns that no seal covers before it reads the keys.
#[tokio::test]
async fn a_changed_record_brings_no_rotation_forward() {
    let world = a_world().await;
    let service = world.service("early").await;
    let key = rotating(&world, &service, "Ed25519", 10).await;
    world.clock.advance(9 * DAY);
    let successor = made_successor(&world, &key).await;
    world.admin().patch(&path(id(&key)), json!({ "rotationDays": 20 })).await.ok();
    world.clock.advance(2 * DAY);
    let earlier = "UPDATE keys SET activated_at = activated_at - interval '10 days'
                    WHERE succeeds IS NULL";
    sqlx::query(earlier).execute(&world.pool).await.expect("a change");
    rotated(&world, 1).await;
    assert_eq!(status(&world, &successor).await, "retired");
}

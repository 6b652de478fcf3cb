//! The end of a key.

use std::time::Duration;

use sealward::catalog::Catalog;
use sealward::clock::{Clock, Entropy, Timestamp};
use sealward::keys::Vault;
use sealward::management::keys::destroy_due;
use sealward::management::{Actor, Context};
use sealward::settings::Stage;
use serde_json::{Value, json};

use super::{generate, id, path, read, send, set};
use crate::support::{World, token, within};

const DELAY: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A clock that is ahead of Postgres' by years.
fn held() -> Clock {
    Clock::held_at(Timestamp::from_millis(1_900_000_000_000))
}

/// As if the delay of all deleted keys had run out, by every clock there is.
async fn run_out(world: &World) {
    let sql = "UPDATE keys SET destroy_at = now() WHERE status = 'pending_destruction'";
    let moved = sqlx::query(sql).execute(&world.pool).await;
    assert!(moved.expect("keys to end").rows_affected() > 0);
    // What happens from now on has a later id.
    world.clock.advance(Duration::from_secs(1));
}

/// Destroys what is due by the clock of the world.
async fn destroy(world: &World) {
    let context = Context {
        clock: world.clock.clone(),
        entropy: Entropy::system(),
        catalog: Catalog::new(),
        pool: world.pool.clone(),
        actor: Actor::system("test"),
    };
    let (pool, clock) = (world.pool.clone(), world.clock.clone());
    let vault = Vault::new(token().await, pool, clock, Entropy::system());
    let destroyed = destroy_due(&context, &vault).await;
    destroyed.expect("look for what is due");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_key_is_destroyed_after_the_delay_by_one_of_several_instances() {
    let world = World::at(held(), Stage::Development).await;
    let service = world.service("ending").await;
    let key = generate(&world, &service, "P-256").await;
    world.clock.advance(Duration::from_millis(1));
    world.admin().delete(&path(id(&key))).await.gone();
    let pending = read(&world, id(&key)).await;
    assert_eq!(pending["status"], "pending_destruction");
    assert_eq!(
        pending["destroyAt"],
        world.clock.now().plus(DELAY).to_string()
    );
    world.admin().delete(&path(id(&key))).await.gone();
    assert_eq!(
        read(&world, id(&key)).await,
        pending,
        "deleting it again changes nothing"
    );

    run_out(&world).await;
    // An instance destroys what is due when it starts.
    let (_one, _other) = tokio::join!(world.another(), world.another());
    within(Duration::from_secs(20), async || {
        read(&world, id(&key)).await["status"] == "destroyed"
    })
    .await;
    let destroyed = read(&world, id(&key)).await;
    assert_eq!(destroyed["publicKey"], key["publicKey"]);
    assert_eq!(
        (&key["hasPrivate"], &destroyed["hasPrivate"]),
        (&json!(true), &json!(false))
    );
    let events: Vec<String> = sqlx::query_scalar(
        "SELECT action FROM management_events WHERE resource_type = 'key' ORDER BY id",
    )
    .fetch_all(&world.pool)
    .await
    .expect("the events");
    assert_eq!(events, ["create", "delete", "destroy"]);

    world
        .admin()
        .delete(&path(id(&key)))
        .await
        .refused(409, "CONFLICT");
    set(&world, id(&key), "disabled")
        .await
        .refused(409, "CONFLICT");
    let object = json!({"ckaId": hex(&world).await});
    send(&world, &service, json!({"tokenObject": object}))
        .await
        .invalid(&[("tokenObject", "conflict")]);
    world
        .admin()
        .delete(&format!("/admin/services/{service}"))
        .await
        .gone();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_key_is_not_destroyed() {
    let world = World::at(held(), Stage::Development).await;
    let service = world.service("spared").await;
    let spared = generate(&world, &service, "P-256").await;
    let doomed = generate(&world, &service, "AES-128").await;
    for key in [&spared, &doomed] {
        world.admin().delete(&path(id(key))).await.gone();
    }
    let back = set(&world, id(&spared), "disabled").await.ok().json();
    assert_eq!(
        (&back["status"], &back["destroyAt"]),
        (&json!("disabled"), &Value::Null)
    );
    run_out(&world).await;
    let _another = world.another().await;
    within(Duration::from_secs(20), async || {
        read(&world, id(&doomed)).await["status"] == "destroyed"
    })
    .await;
    assert_eq!(
        set(&world, id(&spared), "active").await.ok().json()["status"],
        "active"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fast_clock_does_not_destroy_keys_early() {
    let world = World::at(held(), Stage::Development).await;
    let service = world.service("ahead").await;
    let key = generate(&world, &service, "P-256").await;
    world.admin().delete(&path(id(&key))).await.gone();
    let status = async || read(&world, id(&key)).await["status"].clone();

    world.clock.advance(DELAY);
    destroy(&world).await;
    assert_eq!(status().await, "pending_destruction");
    run_out(&world).await;
    destroy(&world).await;
    assert_eq!(status().await, "destroyed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_clock_does_not_shorten_the_delay() {
    let behind = Clock::held_at(Timestamp::from_millis(1_700_000_000_000));
    let world = World::at(behind, Stage::Development).await;
    let service = world.service("behind").await;
    let key = generate(&world, &service, "P-256").await;
    let deleted_at = Clock::system().now();
    world.admin().delete(&path(id(&key))).await.gone();
    let due = read(&world, id(&key)).await["destroyAt"].clone();
    let due: Timestamp = serde_json::from_value(due).expect("a moment");
    assert!(due >= deleted_at.plus(DELAY), "{due}");
}

/// The `CKA_ID` of the only key.
async fn hex(world: &World) -> String {
    sqlx::query_scalar("SELECT encode(token_id, 'hex') FROM keys")
        .fetch_one(&world.pool)
        .await
        .expect("the key")
}

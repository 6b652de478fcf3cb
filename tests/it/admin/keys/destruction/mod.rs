//! Destruction and restoration of keys.

mod adopted;

use std::time::Duration;

use engine::catalog::Catalog;
use engine::keys::Vault;
use engine::management::System;
use engine::management::keys::destroy_due;
use engine::settings::Stage;
use formats::clock::{Clock, Entropy, Timestamp};
use hsm::{ErrorKind, KeyRef};
use serde_json::{Value, json};
use sqlx::ConnectOptions as _;
use sqlx::postgres::PgListener;

use super::{generate, id, path, read, send, set};
use testkit::{PATIENCE, World, rewrite, token, within};

const DELAY: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A clock that is years ahead of Postgres.
fn fast_clock() -> Clock {
    Clock::held_at(Timestamp::from_millis(1_900_000_000_000))
}

/// Ends the delay of all deleted keys for every clock.
async fn end_delay(world: &World) {
    let sql = "UPDATE keys SET destroy_at = now() WHERE status = 'pending_destruction'";
    rewrite(&world.pool, sql).await;
    // Later events have a higher ID.
    world.clock.advance(Duration::from_secs(1));
}

/// Destroys the keys that are due by the clock of the world.
async fn destroy(world: &World) {
    let destroyed = try_to_destroy(world).await;
    destroyed.expect("find due keys");
}

async fn try_to_destroy(world: &World) -> Result<usize, engine::management::Error> {
    let system = System::new(
        "test",
        world.clock.clone(),
        Entropy::system(),
        Catalog::new(),
        world.pool.clone(),
    );
    let (pool, clock) = (world.pool.clone(), world.clock.clone());
    let vault = Vault::new(token().await, pool, clock, Entropy::system());
    destroy_due(&system, &vault).await
}

/// Each write to the table of keys empties the caches of all instances.
#[tokio::test(flavor = "multi_thread")]
async fn the_search_for_due_keys_writes_nothing_if_there_are_none() {
    let world = World::new().await;
    let service = world.service("ending").await;
    let key = generate(&world, &service, "P-256").await;
    world.admin().delete(&path(id(&key))).await.gone();
    let mut listener = PgListener::connect_with(&world.pool.current()).await.expect("a listener");
    listener.listen("catalog").await.expect("the notices");
    destroy(&world).await;
    sqlx::query("NOTIFY catalog, 'end'").execute(&world.pool).await.expect("a notice");
    loop {
        let notice = listener.recv().await.expect("a notice");
        assert_ne!(notice.payload(), "keys");
        if notice.payload() == "end" {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_key_is_destroyed_after_the_delay_by_one_of_several_instances() {
    let world = World::at(fast_clock(), Stage::Development).await;
    let service = world.service("ending").await;
    let key = generate(&world, &service, "P-256").await;
    world.clock.advance(Duration::from_millis(1));
    world.admin().delete(&path(id(&key))).await.gone();
    let pending = read(&world, id(&key)).await;
    assert_eq!(pending["status"], "pending_destruction");
    assert_eq!(pending["destroyAt"], world.clock.now().plus(DELAY).to_string());
    world.admin().delete(&path(id(&key))).await.gone();
    assert_eq!(read(&world, id(&key)).await, pending, "a second deletion must change nothing");

    end_delay(&world).await;
    // An instance destroys due keys when it starts.
    let (_one, _other) = tokio::join!(world.another(), world.another());
    within(PATIENCE, async || read(&world, id(&key)).await["status"] == "destroyed").await;
    let destroyed = read(&world, id(&key)).await;
    assert_eq!(destroyed["publicKey"], key["publicKey"]);
    assert_eq!((&key["hasPrivate"], &destroyed["hasPrivate"]), (&json!(true), &json!(false)));
    let events: Vec<String> = sqlx::query_scalar(
        "SELECT action FROM management_events WHERE resource_type = 'key' ORDER BY id",
    )
    .fetch_all(&world.pool)
    .await
    .expect("the events");
    assert_eq!(events, ["create", "delete", "destroy"]);

    world.admin().delete(&path(id(&key))).await.refused(409, "CONFLICT");
    set(&world, id(&key), "disabled").await.refused(409, "CONFLICT");
    let object = json!({"ckaId": hex(&world).await});
    send(&world, &service, json!({"tokenObject": object}))
        .await
        .invalid(&[("tokenObject", "conflict")]);
    world.admin().delete(&format!("/admin/services/{service}")).await.gone();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_key_is_not_destroyed() {
    let world = World::at(fast_clock(), Stage::Development).await;
    let service = world.service("spared").await;
    let restored_key = generate(&world, &service, "P-256").await;
    let destroyed_key = generate(&world, &service, "AES-128").await;
    for key in [&restored_key, &destroyed_key] {
        world.admin().delete(&path(id(key))).await.gone();
    }
    let back = set(&world, id(&restored_key), "disabled").await.ok().json();
    assert_eq!((&back["status"], &back["destroyAt"]), (&json!("disabled"), &Value::Null));
    end_delay(&world).await;
    let _another = world.another().await;
    within(PATIENCE, async || read(&world, id(&destroyed_key)).await["status"] == "destroyed")
        .await;
    assert_eq!(set(&world, id(&restored_key), "active").await.ok().json()["status"], "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fast_clock_does_not_destroy_keys_early() {
    let world = World::at(fast_clock(), Stage::Development).await;
    let service = world.service("ahead").await;
    let key = generate(&world, &service, "P-256").await;
    world.admin().delete(&path(id(&key))).await.gone();
    let status = async || read(&world, id(&key)).await["status"].clone();

    world.clock.advance(DELAY);
    destroy(&world).await;
    assert_eq!(status().await, "pending_destruction");
    end_delay(&world).await;
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
    let due: Timestamp = serde_json::from_value(due).expect("a time");
    assert!(due >= deleted_at.plus(DELAY), "{due}");
}

/// Deletes a key and ends its delay.
async fn deleted(world: &World, service: &str) -> Value {
    let key = generate(world, service, "P-256").await;
    world.admin().delete(&path(id(&key))).await.gone();
    end_delay(world).await;
    key
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_whose_delay_is_over_cannot_be_restored() {
    let world = World::at(fast_clock(), Stage::Development).await;
    let service = world.service("late").await;
    let key = deleted(&world, &service).await;
    let refused = set(&world, id(&key), "disabled").await;
    refused.refused(409, "CONFLICT");
    assert_eq!(read(&world, id(&key)).await["status"], "pending_destruction");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_stays_destroyed_if_its_record_fails_after_the_token() {
    let world = World::at(fast_clock(), Stage::Development).await;
    let destination = world.destination("failing", "P-256", "ECDH-ES+A256KW").await;
    let client = world.application("caller").bound_to(&destination.policy).await;
    client.protect(json!(1)).await.ok();
    world.admin().delete(&path(&destination.key)).await.gone();
    end_delay(&world).await;
    // The token destroys the key, and then the commit fails.
    let mut owner = world.database().connect().await.expect("a connection");
    sqlx::raw_sql(
        "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'the commit fails'; END $$;
         CREATE CONSTRAINT TRIGGER destruction_fails AFTER INSERT ON management_events
             DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
             WHEN (NEW.action = 'destroy') EXECUTE FUNCTION fail()",
    )
    .execute(&mut owner)
    .await
    .expect("create the trigger");
    assert!(try_to_destroy(&world).await.is_err());
    let key_ref: Vec<u8> = sqlx::query_scalar("SELECT token_id FROM keys")
        .fetch_one(&world.pool)
        .await
        .expect("the key");
    let lost = token().await.find(&KeyRef::private(key_ref)).await;
    assert_eq!(lost.expect_err("the key must be missing").kind(), ErrorKind::KeyMissing);

    // A failover to a server with a slow clock does not restore the key.
    rewrite(&world.pool, "UPDATE keys SET destroy_at = now() + interval '1 day'").await;
    for status in ["disabled", "retired", "active"] {
        let refused = set(&world, &destination.key, status).await;
        refused.refused(409, "CONFLICT");
    }
    let disabled = "UPDATE keys SET status = 'disabled', destroy_at = NULL";
    let forced = sqlx::query(disabled).execute(&world.pool).await;
    let forced = forced.expect_err("the database must refuse the change");
    assert!(forced.to_string().contains("keys_destruction_is_final"));
    client.protect(json!(1)).await.refused(500, "DESTINATION_KEY_NOT_FOUND");

    sqlx::raw_sql("DROP TRIGGER destruction_fails ON management_events")
        .execute(&mut owner)
        .await
        .expect("drop the trigger");
    destroy(&world).await;
    assert_eq!(read(&world, &destination.key).await["status"], "destroyed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_no_token_holds_does_not_become_active() {
    let world = World::at(fast_clock(), Stage::Development).await;
    let service = world.service("lost").await;
    let key = generate(&world, &service, "P-256").await;
    set(&world, id(&key), "disabled").await.ok();
    let key_ref: Vec<u8> = sqlx::query_scalar("SELECT token_id FROM keys")
        .fetch_one(&world.pool)
        .await
        .expect("the key");
    let key_ref = KeyRef::private(key_ref);
    token().await.destroy(&key_ref).await.expect("a lost key");
    let refused = set(&world, id(&key), "active").await;
    let message = refused.refused(409, "CONFLICT").message();
    assert!(message.contains("token holds the key"), "{message}");
    assert_eq!(read(&world, id(&key)).await["status"], "disabled");
}

/// The primary destroys a key, and a failover loses its commits. The clock of the new primary is slow, so
/// that the delay is not over there.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_whose_destruction_a_failover_lost_is_not_restored() {
    let world = World::at(fast_clock(), Stage::Development).await;
    let service = world.service("failing over").await;
    let key = generate(&world, &service, "P-256").await;
    world.admin().delete(&path(id(&key))).await.gone();
    let key_ref: Vec<u8> = sqlx::query_scalar("SELECT token_id FROM keys")
        .fetch_one(&world.pool)
        .await
        .expect("the key");
    let key_ref = KeyRef::private(key_ref);
    token().await.destroy(&key_ref).await.expect("a destroyed key");
    for status in ["disabled", "retired", "active"] {
        let refused = set(&world, id(&key), status).await;
        refused.refused(409, "CONFLICT");
    }
    end_delay(&world).await;
    destroy(&world).await;
    assert_eq!(read(&world, id(&key)).await["status"], "destroyed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destroyed_key_is_removed_from_a_token_that_returns() {
    let world = World::at(fast_clock(), Stage::Development).await;
    let service = world.service("away").await;
    let key = generate(&world, &service, "P-256").await;
    rewrite(&world.pool, "UPDATE keys SET status = 'destroyed', destroy_at = now()").await;
    let key_ref: Vec<u8> = sqlx::query_scalar("SELECT token_id FROM keys")
        .fetch_one(&world.pool)
        .await
        .expect("the record of a destroyed key");
    let key_ref = KeyRef::private(key_ref);
    token().await.find(&key_ref).await.expect("the key must still exist");
    let _another = world.another().await;
    within(PATIENCE, async || {
        let found = token().await.find(&key_ref).await;
        found.is_err_and(|error| error.kind() == ErrorKind::KeyMissing)
    })
    .await;
    assert_eq!(read(&world, id(&key)).await["status"], "destroyed");
}

/// The `CKA_ID` of the only key.
async fn hex(world: &World) -> String {
    sqlx::query_scalar("SELECT encode(token_id, 'hex') FROM keys")
        .fetch_one(&world.pool)
        .await
        .expect("the key")
}

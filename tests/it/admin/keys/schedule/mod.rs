//! `rotationDays`: keys that a job replaces by successors.

mod stopped;

use std::time::Duration;

use engine::catalog::Catalog;
use engine::keys::Vault;
use engine::management::System;
use engine::management::keys::rotate_due;
use engine::settings::Stage;
use formats::clock::{Clock, Entropy, Timestamp};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{id, path, read, send};
use testkit::{PATIENCE, World, jwe, token, within};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const OVERLAP: Duration = Duration::from_secs(7 * 24 * 60 * 60);

async fn a_world() -> World {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    World::at(clock, Stage::Development).await
}

/// A key of `service` that rotates every `days`.
async fn rotating(world: &World, service: &str, algorithm: &str, days: i32) -> Value {
    let order = json!({ "name": "ours", "algorithm": algorithm, "generate": true,
        "rotationDays": days });
    send(world, service, order).await.created().json()
}

/// One run of the job of an instance. Returns how many keys are overdue.
pub(in crate::admin) async fn rotate(world: &World) -> usize {
    let catalog = Catalog::new();
    let system = System::new(
        "test",
        world.clock.clone(),
        Entropy::system(),
        catalog.clone(),
        world.pool.clone(),
    );
    let (pool, clock) = (world.pool.clone(), world.clock.clone());
    let vault = Vault::new(token().await, pool, clock, Entropy::system());
    let done = rotate_due(&system, &vault, OVERLAP).await;
    done.expect("find due keys");
    vault.overdue().expect("a present number")
}

/// Runs the job until this number of keys is overdue. A run leaves a key to another instance that works on
/// it, as the instance of the world does when it starts.
async fn rotated(world: &World, overdue: usize) {
    within(PATIENCE, async || rotate(world).await == overdue).await;
}

/// The other keys of the service, oldest first. Keys of one millisecond have no order.
async fn others(world: &World, key: &Value) -> Vec<Value> {
    let service = key["serviceId"].as_str().expect("an id");
    let query = format!("/admin/keys?serviceId={service}");
    let listed = world.admin().get(&query).await.ok().json();
    let listed = listed["items"].as_array().expect("items").clone();
    listed.into_iter().filter(|it| it["id"] != key["id"]).collect()
}

/// Runs the job until it has made the successor of the key: a run leaves a key to another instance that
/// works on it.
async fn made_successor(world: &World, key: &Value) -> Value {
    within(PATIENCE, async || {
        rotate(world).await;
        !others(world, key).await.is_empty()
    })
    .await;
    others(world, key).await.remove(0)
}

async fn status(world: &World, key: &Value) -> String {
    let key = read(world, id(key)).await;
    key["status"].as_str().expect("a status").to_owned()
}

#[tokio::test]
async fn the_rotations_of_a_frozen_service_wait() {
    let world = a_world().await;
    let service = world.service("shop").await;
    let key = rotating(&world, &service, "P-256", 30).await;
    let shop = format!("/admin/services/{service}");
    world.admin().patch(&shop, json!({ "status": "frozen" })).await.ok();
    world.clock.advance(30 * DAY);
    assert_eq!(rotate(&world).await, 0);
    world.admin().patch(&shop, json!({ "status": "active" })).await.ok();
    world.admin().post("/admin/emergency/freeze", json!({ "reason": "x" })).await.ok();
    assert_eq!(rotate(&world).await, 0);
    assert_eq!(others(&world, &key).await, Vec::<Value>::new());
    world.admin().post_nothing("/admin/emergency/unfreeze").await.ok();
    rotated(&world, 0).await;
    assert_eq!(status(&world, &key).await, "retired");
}

#[tokio::test]
async fn an_envelope_key_retires_when_its_successor_is_made() {
    let world = a_world().await;
    let destination = world.some_destination().await;
    let key = rotating(&world, &destination.service, "P-256", 30).await;
    let shop = world.application("shop").bound_to(&destination.policy);
    let shop = shop.await;
    let before = jwe(&shop.protect(json!("card")).await);
    world.admin().delete(&path(&destination.key)).await.gone();

    world.clock.advance(30 * DAY - Duration::from_millis(1));
    rotated(&world, 0).await;
    assert_eq!(status(&world, &key).await, "active");
    world.clock.advance(Duration::from_millis(1));
    rotated(&world, 0).await;
    assert_eq!(status(&world, &key).await, "retired");
    let made = others(&world, &key).await;
    let successor = made.last().expect("a successor");
    for member in ["name", "use", "algorithm", "origin", "rotationDays", "serviceId"] {
        assert_eq!(successor[member], key[member], "{member}");
    }
    assert_eq!(successor["status"], "active");
    assert_eq!(successor["activatedAt"], world.clock.now().to_string());
    assert_eq!(successor["partnerKid"], json!(null));

    // A second run changes nothing, and what was protected stays readable.
    rotated(&world, 0).await;
    assert_eq!(others(&world, &key).await, made);
    shop.unprotect(&before).await.ok();
    let after = jwe(&shop.protect(json!("card")).await);
    shop.unprotect(&after).await.ok();

    // The successor rotates too.
    world.clock.advance(30 * DAY);
    rotate(&world).await;
    assert_eq!(status(&world, successor).await, "retired");
}

#[tokio::test]
async fn the_successor_of_a_data_key_is_the_next_version_of_its_name() {
    let world = a_world().await;
    let shop = world.application("shop").await;
    let key = rotating(&world, shop.service.as_ref().unwrap(), "AES-256", 30).await;
    let encrypted = async || {
        let encrypted = shop.post("/v1/transit/encrypt/ours", json!({ "plaintext": "" })).await;
        encrypted.ok().json()["data"].clone()
    };
    let before = encrypted().await;
    assert_eq!(before["key_version"], 1);
    world.clock.advance(30 * DAY);
    rotated(&world, 0).await;
    let successor = made_successor(&world, &key).await;
    assert_eq!(successor["version"], 2);
    assert_eq!(encrypted().await["key_version"], 2);
    let opened = json!({ "ciphertext": before["ciphertext"] });
    shop.post("/v1/transit/decrypt/ours", opened).await.ok();
}

#[tokio::test]
async fn a_signing_key_is_published_a_day_before_it_signs_and_overlaps() {
    let world = a_world().await;
    let admin = world.admin();
    let signer = world.application("signer").await;
    let service = signer.service.clone().expect("a service");
    let publish = json!({ "publishKeys": true });
    let there = format!("/admin/services/{service}");
    admin.patch(&there, publish).await.ok();
    let key = rotating(&world, &service, "Ed25519", 30).await;
    let published = async || {
        let jwks = format!("/.well-known/jwks/{service}");
        let jwks = world.anonymous().get(&jwks).await.ok().json();
        jwks["keys"].as_array().expect("keys").len()
    };
    let signs = async || {
        let order = json!({ "data": "x", "algorithm": "Ed25519" });
        let signed = signer.operate("sign", order).await.ok();
        signed.json()["result"]["keyId"].clone()
    };

    world.clock.advance(29 * DAY);
    rotated(&world, 0).await;
    // The job is another instance, which this one hears of within a second.
    within(PATIENCE, async || published().await == 2).await;
    assert_eq!(signs().await, key["id"]);
    let successor = others(&world, &key).await.remove(0);
    assert_eq!(successor["status"], "retired");

    world.clock.advance(DAY);
    rotated(&world, 0).await;
    within(PATIENCE, async || signs().await == successor["id"]).await;
    assert_eq!(status(&world, &key).await, "active");

    world.clock.advance(OVERLAP - Duration::from_millis(1));
    rotate(&world).await;
    assert_eq!(status(&world, &key).await, "active");
    world.clock.advance(Duration::from_millis(1));
    rotate(&world).await;
    assert_eq!(status(&world, &key).await, "retired");
    assert_eq!(others(&world, &key).await.len(), 1);
}

#[tokio::test]
async fn a_late_signing_successor_is_published_for_a_day_first() {
    let world = a_world().await;
    let service = world.service("late").await;
    let key = rotating(&world, &service, "Ed25519", 1).await;
    world.clock.advance(5 * DAY);
    // The key stays overdue while its successor is only published.
    within(PATIENCE, async || {
        let overdue = rotate(&world).await;
        overdue == 1 && others(&world, &key).await.len() == 1
    })
    .await;
    let successor = others(&world, &key).await.remove(0);
    world.clock.advance(DAY - Duration::from_millis(1));
    rotated(&world, 1).await;
    assert_eq!(status(&world, &successor).await, "retired");
    world.clock.advance(Duration::from_millis(1));
    rotated(&world, 0).await;
    assert_eq!(status(&world, &successor).await, "active");
}

#[tokio::test]
async fn a_data_key_overlaps_with_its_successor() {
    let world = a_world().await;
    let service = world.service("data").await;
    let key = rotating(&world, &service, "AES-256", 10).await;
    world.clock.advance(10 * DAY);
    rotated(&world, 0).await;
    let successor = others(&world, &key).await.remove(0);
    assert_eq!(successor["status"], "active");
    assert_eq!(status(&world, &key).await, "active");
    world.clock.advance(OVERLAP);
    rotate(&world).await;
    assert_eq!(status(&world, &key).await, "retired");
    // A key that is made active again lasts as long as a new one.
    let active = json!({ "status": "active" });
    world.admin().patch(&path(id(&key)), active).await.ok();
    rotate(&world).await;
    assert_eq!(status(&world, &key).await, "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_instances_make_one_successor() {
    let world = a_world().await;
    let service = world.service("twice").await;
    let key = rotating(&world, &service, "P-256", 1).await;
    world.clock.advance(DAY);
    join_all((0..4).map(|_| rotate(&world))).await;
    rotate(&world).await;
    assert_eq!(others(&world, &key).await.len(), 1);
    assert_eq!(status(&world, &key).await, "retired");
}

#[tokio::test]
async fn only_generated_keys_rotate_and_within_ten_years() {
    let world = a_world().await;
    let service = world.service("rules").await;
    for (days, code) in [
        (json!(0), "range"),
        (json!(-1), "range"),
        (json!(3_651), "range"),
        (json!(4_294_967_296_u64), "range"),
        (json!(1.5), "type"),
        (json!("7"), "type"),
    ] {
        let order = json!({ "algorithm": "AES-256", "generate": true, "rotationDays": days });
        let refused = send(&world, &service, order).await;
        refused.invalid(&[("rotationDays", code)]);
    }
    let secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    let order = json!({ "secretKey": secret, "rotationDays": 30 });
    let refused = send(&world, &service, order).await;
    refused.invalid(&[("rotationDays", "unsupported")]);
    let imported = send(&world, &service, json!({ "secretKey": secret })).await;
    let imported = imported.created();
    let change = json!({ "rotationDays": 30 });
    let there = imported.header("location");
    let refused = world.admin().patch(there, change).await;
    refused.invalid(&[("rotationDays", "unsupported")]);
    let longest = rotating(&world, &service, "AES-256", 3_650).await;
    assert_eq!(longest["rotationDays"], 3_650);
    let change = json!({ "rotationDays": 1 });
    let changed = world.admin().patch(&path(id(&longest)), change).await;
    assert_eq!(changed.ok().json()["rotationDays"], 1);
}

#[tokio::test]
async fn a_successor_has_the_next_version_of_the_name() {
    let world = a_world().await;
    let service = world.service("shop").await;
    let key = rotating(&world, &service, "AES-256", 30).await;
    assert_eq!((&key["name"], &key["version"]), (&json!("ours"), &json!(1)));
    world.clock.advance(30 * DAY);
    let successor = made_successor(&world, &key).await;
    assert_eq!((&successor["name"], &successor["version"]), (&json!("ours"), &json!(2)));
    assert_eq!(read(&world, id(&key)).await["version"], 1);
}

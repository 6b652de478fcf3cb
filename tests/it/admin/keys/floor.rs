//! The cryptographic floor: no key below it is created, imported, adopted, activated or rotated.

use std::time::Duration;

use engine::catalog::Catalog;
use engine::change_kind::ChangeKind;
use engine::floor::Floor;
use engine::keys::Vault;
use engine::management::System;
use engine::management::keys::rotate_due;
use engine::settings::{Crypto, Stage};
use formats::clock::{Clock, Entropy, Timestamp};
use serde_json::{Value, json};

use super::{id, path, read, send, set};
use crate::dashboard::Browser;
use testkit::openssl::{private, public};
use testkit::{Answer, PATIENCE, World, token, within};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn minimum(bits: u16) -> Crypto {
    Crypto { minimum_strength: bits, ..Crypto::default() }
}

/// A refusal of this algorithm.
#[track_caller]
fn refused(answer: Answer, algorithm: &str, strength: u16, minimum: u16) {
    let message = answer.refused(403, "OPERATION_NOT_ALLOWED").message();
    let expected = format!(
        "The cryptographic floor does not allow {algorithm}: its strength is {strength} bits, and \
         crypto.minimum_strength is {minimum}"
    );
    assert_eq!(message, expected);
}

#[tokio::test]
async fn no_weak_key_is_created_or_imported() {
    let world = World::with_floor(minimum(128)).await;
    let service = world.service("shop").await;
    let rsa = private("RSA-2048");
    for source in [
        json!({ "generate": true, "algorithm": "RSA-2048" }),
        json!({ "generate": true, "algorithm": "RSA-2048", "activate": false }),
        json!({ "privateKey": rsa }),
        json!({ "publicKey": public(&rsa) }),
        json!({ "tokenObject": { "label": "theirs" }, "publicKey": public(&rsa) }),
    ] {
        refused(send(&world, &service, source).await, "RSA-2048", 112, 128);
    }
    let listed = world.admin().get(&format!("/admin/keys?serviceId={service}")).await;
    assert_eq!(listed.ok().json()["items"], json!([]));
    send(&world, &service, json!({ "generate": true, "algorithm": "P-256" })).await.created();
    // The other mistakes of a request are reported first.
    let wrong = json!({ "generate": true, "algorithm": "RSA-2048", "colour": 1 });
    send(&world, &service, wrong).await.invalid(&[("colour", "unknown")]);
}

#[tokio::test]
async fn a_weak_secret_is_not_imported() {
    let world = World::with_floor(minimum(192)).await;
    let service = world.service("shop").await;
    let secret = json!({ "secretKey": "AQIDBAUGBwgJCgsMDQ4PEA==", "use": "data" });
    refused(send(&world, &service, secret).await, "AES-128", 128, 192);
}

#[tokio::test]
async fn a_weak_key_is_retired_and_not_activated_again() {
    let world = World::new().await;
    let service = world.service("shop").await;
    let key = send(&world, &service, json!({ "generate": true, "algorithm": "P-256" })).await;
    let key = key.created().json();
    let strict = world.another_with_floor(minimum(192)).await;
    // Its other members can change.
    strict.admin().patch(&path(id(&key)), json!({ "name": "old" })).await.ok();
    for status in ["retired", "disabled"] {
        set(&strict, id(&key), status).await.ok();
        refused(set(&strict, id(&key), "active").await, "P-256", 128, 192);
        assert_eq!(read(&strict, id(&key)).await["status"], status);
    }
    set(&world, id(&key), "active").await.ok();
}

/// An admin key of a person who is a custodian.
async fn person(world: &World, name: &str) -> String {
    let body = json!({ "name": name, "type": "admin", "roles": ["custodian"], "person": name });
    world.admin().post("/admin/api-keys", body).await.created().text("secret")
}

#[tokio::test]
async fn an_approval_does_not_pass_the_floor() {
    let world = World::new().await;
    let service = world.service("shop").await;
    let order = json!({ "serviceId": service, "generate": true, "algorithm": "AES-128" });
    let [alice, bob] = [person(&world, "alice").await, person(&world, "bob").await];
    let asking = world.requiring(&[ChangeKind::KeyActivate], 1).await;
    let proposed = asking.client(&alice).post("/admin/keys", order).await;
    assert_eq!(proposed.status, 202, "{}", proposed.body);
    let strict = world.another_with_floor(minimum(192)).await;
    let approve = format!("/admin/changes/{}/approve", proposed.text("id"));
    let decided = strict.client(&bob).post(&approve, json!({})).await;
    let message = decided.refused(409, "CONFLICT").message();
    assert!(message.contains("the cryptographic floor does not allow AES-128"), "{message}");
    let listed = world.admin().get(&format!("/admin/keys?serviceId={service}")).await;
    assert_eq!(listed.ok().json()["items"], json!([]));
}

/// One run of the rotation job with this floor.
async fn rotate(world: &World, floor: Floor) -> usize {
    let catalog = Catalog::new();
    let (clock, pool) = (world.clock.clone(), world.pool.clone());
    let system = System::new("test", clock.clone(), Entropy::system(), catalog, pool.clone());
    let vault = Vault::new(token().await, pool, clock, Entropy::system());
    let done = rotate_due(&system.with_floor(floor), &vault, 7 * DAY).await;
    done.expect("find due keys");
    vault.overdue().expect("a present number")
}

async fn keys(world: &World, service: &str) -> Vec<Value> {
    let listed = world.admin().get(&format!("/admin/keys?serviceId={service}")).await;
    listed.ok().json()["items"].as_array().expect("items").clone()
}

#[tokio::test]
async fn a_weak_key_is_not_rotated_and_is_a_warning_from_the_first_day() {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    let service = world.service("shop").await;
    let order = json!({ "generate": true, "algorithm": "P-256", "rotationDays": 30 });
    let key = send(&world, &service, order).await.created().json();
    let strict = world.held_to_floor(minimum(192)).await;
    let mut browser = Browser::signed_in(&strict).await;
    within(PATIENCE + Duration::from_secs(5), async || {
        let overview = browser.get("/dashboard").await.ok().body;
        overview.contains("1 key is not rotated")
    })
    .await;
    strict.clock.advance(40 * DAY);
    // It is not overdue: no run replaces it.
    assert_eq!(rotate(&strict, minimum(192).floor()).await, 0);
    assert_eq!(keys(&strict, &service).await.len(), 1);
    assert_eq!(read(&strict, id(&key)).await["status"], "active");
    // Without the floor, a successor replaces it.
    assert_eq!(rotate(&strict, Floor::default()).await, 0);
    assert_eq!(keys(&strict, &service).await.len(), 2);
    assert_eq!(read(&strict, id(&key)).await["status"], "retired");
}

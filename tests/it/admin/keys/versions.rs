//! `version`: the number of a key for signatures or data among the keys of its service and name.

use std::collections::BTreeSet;

use formats::algorithms::Algorithm;
use futures_util::future::join_all;
use hsm::Purpose;
use serde_json::{Value, json};

use super::adopt::vendors_key_with_label;
use super::{id, path, read, send};
use testkit::openssl::{private, public};
use testkit::{World, rewrite};

/// A key for data with this name.
fn data(name: &str) -> Value {
    json!({ "generate": true, "algorithm": "AES-256", "name": name })
}

/// A secret key in plaintext with this version.
fn imported(name: &str, version: &Value) -> Value {
    let secret = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    json!({ "secretKey": secret, "name": name, "version": version })
}

async fn version(world: &World, service: &str, members: Value) -> Value {
    send(world, service, members).await.created().json()["version"].clone()
}

#[tokio::test]
async fn a_new_key_has_the_next_version_of_its_name() {
    let world = World::new().await;
    let [service, other] = [world.service("one").await, world.service("other").await];
    for next in 1..=3 {
        assert_eq!(version(&world, &service, data("cards")).await, next);
    }
    assert_eq!(version(&world, &service, data("orders")).await, 1);
    assert_eq!(version(&world, &other, data("cards")).await, 1);
    // The default is a name too.
    for next in 1..=2 {
        let key = json!({ "generate": true, "algorithm": "Ed25519" });
        assert_eq!(version(&world, &service, key).await, next);
    }
    // A key that only verifies is a version like others.
    let verifier = json!({ "use": "sig", "publicKey": public(&private("P-256")), "name": "v" });
    assert_eq!(version(&world, &service, verifier).await, 1);
}

#[tokio::test]
async fn a_key_for_envelopes_has_no_version() {
    let world = World::new().await;
    let service = world.service("one").await;
    let key = json!({ "generate": true, "algorithm": "P-256", "name": "cards" });
    let key = send(&world, &service, key).await.created().json();
    assert_eq!(key["version"], Value::Null);
    // It does not count under its name.
    assert_eq!(version(&world, &service, data("cards")).await, 1);
    let renamed = world.admin().patch(&path(id(&key)), json!({ "name": "orders" })).await.ok();
    assert_eq!(renamed.json()["version"], Value::Null);
}

#[tokio::test]
async fn lists_and_events_show_the_version() {
    let world = World::new().await;
    let service = world.service("one").await;
    send(&world, &service, data("cards")).await.created();
    let key = send(&world, &service, data("cards")).await.created().json();
    let admin = world.admin();
    let listed = admin.get(&format!("/admin/keys?serviceId={service}")).await.ok().json();
    let versions: Vec<_> = listed["items"].as_array().expect("items").iter().collect();
    let versions: BTreeSet<_> = versions.iter().map(|key| key["version"].as_i64()).collect();
    assert_eq!(versions, BTreeSet::from([Some(1), Some(2)]));
    let events = format!("/admin/audit/management?resourceId={}", id(&key));
    let events = admin.get(&events).await.ok().json();
    assert_eq!(events["items"][0]["after"]["version"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_are_made_at_once_have_different_versions() {
    let world = World::new().await;
    let service = world.service("contended").await;
    let made = (0..16).map(|_| version(&world, &service, data("cards")));
    let versions: BTreeSet<_> = join_all(made).await.iter().map(Value::as_i64).collect();
    assert_eq!(versions, (1..=16).map(Some).collect());
}

#[tokio::test]
async fn the_keys_of_a_name_have_one_use_and_algorithm() {
    let world = World::new().await;
    let service = world.service("one").await;
    let first = send(&world, &service, data("cards")).await.created().json();
    let others = [
        json!({ "generate": true, "algorithm": "AES-128", "name": "cards" }),
        json!({ "generate": true, "algorithm": "HMAC-SHA256", "name": "cards" }),
        json!({ "use": "sig", "publicKey": public(&private("P-256")), "name": "cards" }),
    ];
    for other in &others {
        send(&world, &service, other.clone()).await.refused(409, "CONFLICT");
    }
    // Its texts have this name permanently.
    world.admin().delete(&path(id(&first))).await.gone();
    rewrite(&world.pool, "UPDATE keys SET status = 'destroyed'").await;
    for other in others {
        send(&world, &service, other).await.refused(409, "CONFLICT");
    }
    assert_eq!(version(&world, &service, data("cards")).await, 2);
}

#[tokio::test]
async fn a_version_and_its_name_do_not_change() {
    let world = World::new().await;
    let service = world.service("one").await;
    let key = send(&world, &service, data("cards")).await.created().json();
    let (admin, path) = (world.admin(), path(id(&key)));
    for refused in [
        admin.patch(&path, json!({ "name": "orders" })).await,
        admin.put(&path, json!({ "name": "orders", "status": "disabled" })).await,
    ] {
        refused.refused(409, "CONFLICT");
    }
    admin.patch(&path, json!({ "version": 2 })).await.invalid(&[("version", "conflict")]);
    assert_eq!(read(&world, id(&key)).await, key);
    // What does not change can be sent.
    admin.put(&path, key.clone()).await.ok();
    let retired = json!({ "name": "cards", "version": 1, "status": "retired" });
    assert_eq!(admin.patch(&path, retired).await.ok().json()["version"], 1);
}

#[tokio::test]
async fn an_imported_key_keeps_its_version() {
    let world = World::new().await;
    let service = world.service("one").await;
    assert_eq!(version(&world, &service, imported("cards", &json!(4))).await, 4);
    assert_eq!(version(&world, &service, data("cards")).await, 5);
    for had in [1, 4, 5] {
        send(&world, &service, imported("cards", &json!(had))).await.refused(409, "CONFLICT");
    }
    assert_eq!(version(&world, &service, imported("cards", &Value::Null)).await, 6);
    assert_eq!(version(&world, &service, imported("cards", &json!(1 << 24))).await, 1 << 24);
    assert_eq!(version(&world, &service, data("cards")).await, (1 << 24) + 1);
    // A refused import leaves nothing that counts.
    send(&world, &service, imported("orders", &json!(0))).await.invalid(&[("version", "range")]);
    assert_eq!(version(&world, &service, data("orders")).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_adopted_key_keeps_its_version() {
    let world = World::new().await;
    let service = world.service("one").await;
    let object = async |purpose, algorithm| {
        let label = format!("vendor {:016x}", rand::random::<u64>());
        vendors_key_with_label(&label, algorithm, purpose).await;
        json!({ "tokenObject": { "label": label }, "name": "cards", "version": 3 })
    };
    let key = object(Purpose::Data, Algorithm::Aes256).await;
    assert_eq!(version(&world, &service, key).await, 3);
    let late = object(Purpose::Data, Algorithm::Aes256).await;
    send(&world, &service, late).await.refused(409, "CONFLICT");
    // Its use is known only now.
    let envelope = object(Purpose::Envelope, Algorithm::P256).await;
    send(&world, &service, envelope).await.invalid(&[("version", "unsupported")]);
}

#[tokio::test]
async fn a_version_is_a_number_of_a_key_from_elsewhere() {
    let world = World::new().await;
    let service = world.service("one").await;
    for (version, code) in [
        (json!(0), "range"),
        (json!(-1), "range"),
        (json!((1 << 24) + 1), "range"),
        (json!(1.5), "type"),
        (json!("1"), "type"),
    ] {
        send(&world, &service, imported("cards", &version)).await.invalid(&[("version", code)]);
    }
    let mut generated = data("cards");
    generated["version"] = json!(2);
    let envelope = json!({ "publicKey": public(&private("P-256")), "version": 2 });
    for refused in [generated, envelope] {
        send(&world, &service, refused).await.invalid(&[("version", "unsupported")]);
    }
}

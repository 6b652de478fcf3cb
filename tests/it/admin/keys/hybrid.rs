//! Hybrid keys: one key with two objects in the token.

use std::time::Duration;

use engine::catalog::Catalog;
use engine::ids::KeyId;
use engine::keys::Vault;
use engine::management::System;
use engine::management::keys::{destroy_due, rotate_due};
use formats::algorithms::Algorithm;
use formats::clock::Entropy;
use hsm::{KeyName, KeyRef, NewKey, Purpose};
use serde_json::{Value, json};

use super::{generate, id, path, read, send, set};
use testkit::{PATIENCE, REWRAP, World, header_of, jwe, kryoptic, rewrite, within};

const HYBRID: &str = "P-256+ML-KEM-768";

/// The vault of another instance with the same token.
async fn vault(world: &World) -> Vault {
    let (pool, clock) = (world.pool.clone(), world.clock.clone());
    Vault::new(kryoptic().await, pool, clock, Entropy::system())
}

fn system(world: &World) -> System {
    System::new("test", world.clock.clone(), Entropy::system(), Catalog::new(), world.pool.clone())
}

/// The number of private keys with this name in the token.
async fn objects(name: &KeyName) -> usize {
    let objects = kryoptic().await.inventory().await.expect("objects");
    objects.iter().filter(|object| object.key.name == *name).count()
}

fn name_of(key: &Value) -> KeyName {
    let id: KeyId = id(key).parse().expect("an id");
    KeyName::Id(id.uuid().as_bytes().to_vec())
}

#[tokio::test(flavor = "multi_thread")]
async fn both_objects_are_created_retired_and_destroyed_together() {
    let world = World::post_quantum().await;
    let service = world.service("destination").await;
    let first = generate(&world, &service, HYBRID).await;
    assert_eq!(
        (&first["algorithm"], &first["use"], &first["origin"]),
        (&json!(HYBRID), &json!("enc"), &json!("generated"))
    );
    assert_eq!(objects(&name_of(&first)).await, 2);
    let ec = generate(&world, &service, "P-256").await;
    let ml_kem = generate(&world, &service, "ML-KEM-768").await;
    let second = generate(&world, &service, HYBRID).await;
    for (key, status) in
        [(&first, "retired"), (&ec, "active"), (&ml_kem, "active"), (&second, "active")]
    {
        assert_eq!(read(&world, id(key)).await["status"], status);
    }

    let comparison = vault(&world).await.compare().await.expect("a comparison");
    assert_eq!(comparison.missing, []);
    world.admin().delete(&path(id(&first))).await.gone();
    let due = "UPDATE keys SET destroy_at = now() WHERE status = 'pending_destruction'";
    rewrite(&world.pool, due).await;
    let destroyed = destroy_due(&system(&world), &vault(&world).await).await;
    destroyed.expect("due keys");
    assert_eq!(read(&world, id(&first)).await["status"], "destroyed");
    assert_eq!(objects(&name_of(&first)).await, 0);
    assert_eq!(objects(&name_of(&second)).await, 2);
    vault(&world).await.compare().await.expect("a comparison");
    let held = "SELECT bool_or(present) FROM key_presence p JOIN keys k ON k.id = p.key_id WHERE k.status = $1";
    for (status, is_held) in [("destroyed", false), ("active", true)] {
        let found = sqlx::query_scalar::<_, bool>(held).bind(status).fetch_one(&world.pool).await;
        assert_eq!(found.expect("a comparison"), is_held, "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn envelopes_of_an_rsa_key_move_to_a_hybrid_key() {
    let world = World::post_quantum().await;
    let destination = world.destination("d", "RSA-2048", "RSA-OAEP-256").await;
    let alice = world.application("alice").bound_to(&destination.policy).await;
    let old = jwe(&alice.protect(json!(1)).await);
    let hybrid = generate(&world, &destination.service, HYBRID).await;
    world.change_policy(&destination, json!({ "alg": "HPKE-8-KE" })).await;
    alice.unprotect(&old).await.ok();
    let moved = jwe(&alice.post(REWRAP, json!({ "jwe": old })).await);
    assert_eq!(header_of(&moved)["kid"], hybrid["id"]);
    world.admin().delete(&path(&destination.key)).await.gone();
    let opened = alice.unprotect(&moved).await.ok().json();
    assert_eq!(opened["payload"], json!(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_one_of_its_objects_is_missing_and_opens_nothing() {
    let world = World::post_quantum().await;
    let destination = world.destination("d", HYBRID, "HPKE-8-KE").await;
    let alice = world.application("alice").bound_to(&destination.policy);
    let alice = alice.await;
    let envelope = jwe(&alice.protect(json!(1)).await);
    let key = read(&world, &destination.key).await;
    let private = KeyRef { name: name_of(&key), class: hsm::KeyClass::Part(Algorithm::P256) };
    kryoptic().await.destroy(&private).await.expect("a key");
    let comparison = vault(&world).await.compare().await.expect("a comparison");
    assert_eq!(comparison.missing, [destination.key.parse().expect("an id")]);
    alice.unprotect(&envelope).await.refused(500, "INTERNAL_ERROR");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotated_key_has_a_hybrid_successor() {
    let world = World::post_quantum().await;
    let service = world.service("destination").await;
    let order = json!({ "algorithm": HYBRID, "generate": true, "rotationDays": 1 });
    let key = send(&world, &service, order).await.created().json();
    let old = "UPDATE keys SET activated_at = activated_at - interval '2 days'";
    rewrite(&world.pool, old).await;
    let overlap = Duration::from_secs(60);
    // The instance of the world rotates the key at the same time, or this run does.
    within(PATIENCE, async || {
        let rotated = rotate_due(&system(&world), &vault(&world).await, overlap).await;
        rotated.expect("due keys");
        read(&world, id(&key)).await["status"] == "retired"
    })
    .await;
    let query = format!("/admin/keys?serviceId={service}&status=active");
    let listed = world.admin().get(&query).await.ok().json();
    let successor = &listed["items"][0];
    assert_eq!(successor["algorithm"], HYBRID);
    assert_eq!(objects(&name_of(successor)).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_objects_with_one_label_are_adopted_as_one_key() {
    let world = World::post_quantum().await;
    let service = world.service("adopting").await;
    let label = format!("vendor {:032x}", rand::random::<u128>());
    for algorithm in [Algorithm::P256, Algorithm::MlKem768] {
        let key = NewKey {
            id: rand::random::<[u8; 12]>().to_vec(),
            label: label.clone(),
            algorithm,
            purpose: Purpose::Envelope,
        };
        kryoptic().await.generate(key).await.expect("a key");
    }
    let body = json!({ "tokenObject": { "label": label } });
    let key = send(&world, &service, body.clone()).await.created().json();
    assert_eq!(
        (&key["algorithm"], &key["origin"], &key["use"]),
        (&json!(HYBRID), &json!("adopted"), &json!("enc"))
    );
    assert_eq!(key["publicKey"]["alg"], "HPKE-8-KE");
    send(&world, &service, body).await.refused(409, "CONFLICT");
    let policy = json!({
        "name": "p", "destinationServiceId": service, "allowedServiceIds": ["*"],
    });
    let policy = world.admin().post("/admin/policies", policy).await;
    let policy = policy.created().text("policyNumber");
    let alice = world.application("alice").bound_to(&policy).await;
    let envelope = jwe(&alice.protect(json!({ "a": 1 })).await);
    let opened = alice.unprotect(&envelope).await.ok().json();
    assert_eq!(opened["payload"], json!({ "a": 1 }));
    set(&world, id(&key), "disabled").await.ok();
}

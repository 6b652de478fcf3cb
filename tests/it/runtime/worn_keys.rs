//! The limit of AES-GCM encryptions per key with random IVs: 2^32, counted in the database.

use engine::ids::KeyId;
use serde_json::{Value, json};

use testkit::{Client, PATIENCE, World, within};

#[tokio::test]
async fn health_warns_administrators_after_half_of_the_encryptions_of_a_key() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let key = world.key(alice.service.as_ref().unwrap(), "data", "AES-256").await;
    let health = async |client: &Client<'_>| client.get("/api/v1/health").await.json();
    let hsm = async || health(&world.admin()).await["checks"]["hsm"].clone();
    reserved(&world, &key, (1 << 31) - 1).await;
    within(PATIENCE, async || hsm().await["status"] == "ok").await;
    assert_eq!(hsm().await["wornKeys"], Value::Null);
    reserved(&world, &key, 1 << 31).await;
    within(PATIENCE, async || hsm().await["wornKeys"] == json!([key])).await;
    assert_eq!(hsm().await["status"], "degraded");
    // Applications see the state, but no keys of other services.
    let shown = health(&alice).await["checks"]["hsm"].clone();
    assert_eq!(shown["status"], "degraded");
    assert_eq!(shown["wornKeys"], Value::Null);
    let payload = json!({ "data": 1, "algorithm": "AES-256-GCM", "keyId": key });
    alice.operate("encrypt", payload).await.ok();
}

#[tokio::test]
async fn a_key_at_its_encryption_limit_only_decrypts() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    let service = alice.service.clone().unwrap();
    let key = world.key(&service, "data", "AES-256").await;
    let payload = json!({ "data": 1, "algorithm": "AES-256-GCM", "keyId": key });
    let sealed = alice.operate("encrypt", payload.clone()).await.ok().json()["result"].clone();

    // Another instance has no reserved encryptions.
    reserved(&world, &key, 1 << 32).await;
    let other = world.another().await;
    let there = other.client(alice.key.as_ref().unwrap());
    there.operate("encrypt", payload).await.refused(403, "OPERATION_NOT_ALLOWED");
    let opened = there.operate("decrypt", sealed).await.ok().json();
    assert_eq!(opened["result"], json!({ "data": 1 }));

    let fresh = world.key(&service, "data", "AES-256").await;
    let payload = json!({ "data": 1, "algorithm": "AES-256-GCM", "keyId": fresh });
    there.operate("encrypt", payload).await.ok();
}

/// Sets the number of encryptions that were performed or reserved.
async fn reserved(world: &World, key: &str, encryptions: i64) {
    sqlx::query(
        "INSERT INTO key_encryptions (key_id, reserved) VALUES ($1, $2)
         ON CONFLICT (key_id) DO UPDATE SET reserved = $2",
    )
    .bind(key.parse::<KeyId>().unwrap())
    .bind(encryptions)
    .execute(&world.pool)
    .await
    .unwrap();
}

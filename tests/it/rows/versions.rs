//! Versions of keys: nobody who writes to the database gives one to another key.

use engine::ids::KeyId;
use engine::rows::examine_all;
use serde_json::{Value, json};

use super::Intruder;
use testkit::World;

async fn made(world: &World, service: &str) -> Value {
    let body = json!({ "serviceId": service, "generate": true, "algorithm": "AES-256",
        "name": "cards" });
    world.admin().post("/admin/keys", body).await.created().json()
}

fn row(key: &Value) -> String {
    let id: KeyId = key["id"].as_str().expect("an id").parse().expect("a key");
    id.uuid().to_string()
}

#[tokio::test]
async fn a_key_with_another_version_or_name_does_not_count() {
    let world = World::new().await;
    let service = world.service("shop").await;
    let [first, _second] = [made(&world, &service).await, made(&world, &service).await];
    let intruder = Intruder::of(&world);
    for change in ["version = 3", "name = 'orders'"] {
        intruder.keep(&world, "keys").await;
        intruder.run(&format!("UPDATE keys SET {change} WHERE id = '{}'", row(&first))).await;
        let path = format!("/admin/keys/{}", first["id"].as_str().expect("an id"));
        world.admin().get(&path).await.refused(404, "KEY_NOT_FOUND");
        intruder.put_back("keys").await;
        world.admin().get(&path).await.ok();
        sqlx::query("DROP TABLE kept_keys").execute(&world.pool).await.expect("no copy");
    }
    examine_all(&world.pool).await.expect("an examination");
    assert!(world.pool.seals().is_clean());
}

#[tokio::test]
async fn a_version_whose_row_is_gone_does_not_come_back() {
    let world = World::new().await;
    let service = world.service("shop").await;
    let [_first, second] = [made(&world, &service).await, made(&world, &service).await];
    let delete = format!(
        "DELETE FROM key_presence WHERE key_id = '{id}'; DELETE FROM keys WHERE id = '{id}'",
        id = row(&second)
    );
    Intruder::of(&world).run(&delete).await;
    assert_eq!(made(&world, &service).await["version"], 3);
}

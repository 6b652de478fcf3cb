//! `/admin/keys`.

mod adopt;
mod crash;
mod destruction;
mod import;
mod life;
mod reconciler;
mod rotation;
mod secrecy;
mod unopenable;
mod wrapped;

use serde_json::{Value, json};

use crate::support::{Answer, World};

/// Has a key of `algorithm` made for `service`.
async fn generate(world: &World, service: &str, algorithm: &str) -> Value {
    let order = json!({ "serviceId": service, "generate": true, "algorithm": algorithm });
    world
        .admin()
        .post("/admin/keys", order)
        .await
        .created()
        .json()
}

/// Sends a key for `service`, with these members beside.
async fn send(world: &World, service: &str, members: Value) -> Answer {
    let mut order = members;
    order["serviceId"] = json!(service);
    world.admin().post("/admin/keys", order).await
}

/// The key as it is now.
async fn read(world: &World, id: &str) -> Value {
    world.admin().get(&path(id)).await.ok().json()
}

/// Sets the status of a key.
async fn set(world: &World, id: &str, status: &str) -> Answer {
    world
        .admin()
        .put(&path(id), json!({ "status": status }))
        .await
}

fn path(id: &str) -> String {
    format!("/admin/keys/{id}")
}

fn id(key: &Value) -> &str {
    key["id"].as_str().expect("an id")
}

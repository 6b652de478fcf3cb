//! `/admin/keys`.

pub(in crate::admin) mod adopt;
mod checks;
mod crash;
mod destruction;
mod floor;
mod hybrid;
mod import;
mod jwk_intent;
mod life;
mod ml_dsa;
mod ml_kem;
mod partner_kid;
mod public_key;
mod reconciler;
mod rotation;
pub(in crate::admin) mod schedule;
mod secrecy;
mod unopenable;
mod versions;
mod weak_rsa;
pub(in crate::admin) mod wrapped;

use serde_json::{Value, json};

use testkit::{Answer, World};

/// Generates a key of `service` with this algorithm.
async fn generate(world: &World, service: &str, algorithm: &str) -> Value {
    let body = json!({ "serviceId": service, "generate": true, "algorithm": algorithm });
    world.admin().post("/admin/keys", body).await.created().json()
}

/// Sends a key request for `service` with these members.
async fn send(world: &World, service: &str, members: Value) -> Answer {
    let mut body = members;
    body["serviceId"] = json!(service);
    world.admin().post("/admin/keys", body).await
}

/// Reads a key.
async fn read(world: &World, id: &str) -> Value {
    world.admin().get(&path(id)).await.ok().json()
}

/// Sets the status of a key.
async fn set(world: &World, id: &str, status: &str) -> Answer {
    world.admin().put(&path(id), json!({ "status": status })).await
}

fn path(id: &str) -> String {
    format!("/admin/keys/{id}")
}

fn id(key: &Value) -> &str {
    key["id"].as_str().expect("an id")
}

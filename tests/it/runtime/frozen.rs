//! Frozen services: as callers, and as destinations.

use serde_json::{Value, json};

use testkit::{
    Client, DATA_KEYS, Destination, OPERATIONS, PATIENCE, PROTECT, PROTECT_BATCH, REWRAP,
    REWRAP_BATCH, UNPROTECT, UNPROTECT_BATCH, World, jwe, within,
};

const FROZEN: (u16, &str) = (403, "SERVICE_FROZEN");

async fn set(world: &World, service: &str, status: &str) {
    let path = format!("/admin/services/{service}");
    world.admin().patch(&path, json!({ "status": status })).await.ok();
}

/// A destination, an application that is another service, and an envelope.
async fn arranged(world: &World) -> (Destination, Client<'_>, Value) {
    let (destination, alice) = world.bound_application().await;
    let envelope = jwe(&alice.protect(json!(1)).await);
    (destination, alice, envelope)
}

/// Every operation under a policy, with its body.
fn under_the_policy(envelope: &Value) -> [(&'static str, Value); 4] {
    [
        (PROTECT, json!({ "payload": 1 })),
        (UNPROTECT, json!({ "jwe": envelope })),
        (REWRAP, json!({ "jwe": envelope })),
        (DATA_KEYS, json!({})),
    ]
}

#[tokio::test]
async fn every_operation_of_a_frozen_service_is_refused() {
    let world = World::new().await;
    let (destination, alice, envelope) = arranged(&world).await;
    set(&world, alice.service.as_ref().unwrap(), "frozen").await;
    for (path, body) in under_the_policy(&envelope) {
        let refused = alice.post(path, body).await;
        let message = refused.refused(FROZEN.0, FROZEN.1).message();
        assert_eq!(message, "The service of the caller is frozen", "{path}");
    }
    let hash = json!({ "data": "x", "algorithm": "SHA-256" });
    alice.operate("hash", hash).await.refused(FROZEN.0, FROZEN.1);
    // The items of a batch have the caller of the batch.
    let batch = json!({ "items": [{ "payload": 1 }] });
    alice.post(PROTECT_BATCH, batch).await.refused(FROZEN.0, FROZEN.1);
    // Its own envelopes stay readable to others.
    let bob = world.application("bob").bound_to(&destination.policy).await;
    bob.unprotect(&envelope).await.ok();
    set(&world, alice.service.as_ref().unwrap(), "active").await;
    alice.unprotect(&envelope).await.ok();
}

#[tokio::test]
async fn a_frozen_caller_is_refused_after_its_limit_and_before_the_members() {
    let world = World::new().await;
    let (_, alice, _) = arranged(&world).await;
    set(&world, alice.service.as_ref().unwrap(), "frozen").await;
    let broken = alice.send_text(axum::http::Method::POST, PROTECT, "{").await;
    broken.refused(400, "INVALID_REQUEST");
    alice.post(PROTECT, json!({ "colour": 1 })).await.refused(FROZEN.0, FROZEN.1);
    let limit =
        json!({ "tier": "enterprise", "rateLimit": { "requestsPerSecond": 1, "burst": 1 } });
    let path = format!("/admin/services/{}", alice.service.as_ref().unwrap());
    world.admin().patch(&path, limit).await.ok();
    within(PATIENCE, async || alice.post(OPERATIONS, json!({})).await.status == 429).await;
}

#[tokio::test]
async fn nothing_is_protected_or_opened_for_a_frozen_destination() {
    let world = World::new().await;
    let (destination, alice, envelope) = arranged(&world).await;
    set(&world, &destination.service, "frozen").await;
    for (path, body) in under_the_policy(&envelope) {
        let message = alice.post(path, body).await.refused(FROZEN.0, FROZEN.1).message();
        assert_eq!(message, "The destination service is frozen", "{path}");
    }
    for (path, item) in [
        (PROTECT_BATCH, json!({ "payload": 1 })),
        (UNPROTECT_BATCH, json!({ "jwe": envelope })),
        (REWRAP_BATCH, json!({ "jwe": envelope })),
    ] {
        let answer = alice.post(path, json!({ "items": [item] })).await.ok().json();
        assert_eq!(answer["items"][0]["status"], FROZEN.0, "{path}");
        assert_eq!(answer["items"][0]["error"]["code"], FROZEN.1, "{path}");
    }
    // Operations without a policy have no destination.
    let hash = json!({ "data": "x", "algorithm": "SHA-256" });
    alice.operate("hash", hash).await.ok();
    set(&world, &destination.service, "active").await;
    alice.unprotect(&envelope).await.ok();
}

#[tokio::test]
async fn a_frozen_destination_passes_nothing_through_and_drops_nothing() {
    let world = World::new().await;
    let (destination, alice, _) = arranged(&world).await;
    set(&world, &destination.service, "frozen").await;
    for mode in ["passthrough", "drop", "error"] {
        let inactive = json!({ "status": "inactive", "failureMode": mode });
        world.change_policy(&destination, inactive).await;
        alice.protect(json!(1)).await.refused(FROZEN.0, FROZEN.1);
    }
    // What the caller may not do is reported before.
    let nobody = json!({ "allowedServiceIds": [destination.service] });
    world.change_policy(&destination, nobody).await;
    alice.protect(json!(1)).await.refused(403, "OPERATION_NOT_ALLOWED");
}

#[tokio::test]
async fn either_side_of_a_rewrap_can_be_frozen() {
    let world = World::new().await;
    let (from, alice, envelope) = arranged(&world).await;
    let target = world.destination("target", "P-256", "ECDH-ES+A256KW").await;
    let body = json!({ "jwe": envelope, "toPolicyNumber": target.policy });
    alice.post(REWRAP, body.clone()).await.ok();
    for service in [&from.service, &target.service] {
        set(&world, service, "frozen").await;
        alice.post(REWRAP, body.clone()).await.refused(FROZEN.0, FROZEN.1);
        set(&world, service, "active").await;
    }
    alice.post(REWRAP, body).await.ok();
}

#[tokio::test]
async fn look_ups_health_and_published_keys_go_on() {
    let world = World::new().await;
    let (destination, alice, _) = arranged(&world).await;
    let path = format!("/api/v1/policies/{}", destination.policy);
    let look_up = async || alice.get(&path).await.ok().json();
    let publish = json!({ "publishKeys": true });
    let service = format!("/admin/services/{}", destination.service);
    world.admin().patch(&service, publish).await.ok();
    let active = look_up().await;
    assert_eq!(active["status"], "active");
    assert_ne!(active["key"], json!(null));

    let own = alice.service.clone().unwrap();
    set(&world, &own, "frozen").await;
    let found = look_up().await;
    assert_eq!((&found["status"], &found["key"]), (&json!("active"), &json!(null)));
    set(&world, &own, "active").await;

    set(&world, &destination.service, "frozen").await;
    let found = look_up().await;
    assert_eq!((&found["status"], &found["key"]), (&json!("frozen"), &json!(null)));
    // The frozen destination is also the caller.
    let key = json!({ "type": "live", "name": "own", "serviceId": destination.service });
    let key = world.admin().post("/admin/api-keys", key).await.created();
    let allowed = json!({ "allowedServiceIds": [own, destination.service] });
    world.change_policy(&destination, allowed).await;
    let itself = world.client(&key.text("secret"));
    assert_eq!(itself.get(&path).await.ok().text("status"), "frozen");
    alice.get("/api/v1/caller").await.ok();
    alice.get("/api/v1/health").await.ok();
    let jwks = format!("/.well-known/jwks/{}", destination.service);
    assert_eq!(world.anonymous().get(&jwks).await.ok().json()["keys"][0]["kid"], destination.key);
}

#[tokio::test]
async fn a_freeze_shows_a_policy_to_nobody_else() {
    let world = World::new().await;
    let (destination, alice, _) = arranged(&world).await;
    let nobody = json!({ "allowedServiceIds": [destination.service] });
    world.change_policy(&destination, nobody).await;
    let path = format!("/api/v1/policies/{}", destination.policy);
    set(&world, alice.service.as_ref().unwrap(), "frozen").await;
    alice.get(&path).await.refused(403, "OPERATION_NOT_ALLOWED");
    let limited = world.application("bob").with("allowedOperations", json!(["hash"])).await;
    world.admin().post("/admin/emergency/freeze", json!({ "reason": "x" })).await.ok();
    for client in [&alice, &limited] {
        client.get(&path).await.refused(403, "OPERATION_NOT_ALLOWED");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_freeze_holds_on_another_instance_within_a_second() {
    let world = World::new().await;
    let second = world.another().await;
    let (destination, alice, _) = arranged(&world).await;
    let elsewhere = second.client(alice.key.as_ref().unwrap());
    elsewhere.protect(json!(1)).await.ok();
    for service in [&destination.service, alice.service.as_ref().unwrap()] {
        set(&world, service, "frozen").await;
        within(PATIENCE, async || elsewhere.protect(json!(1)).await.status == 403).await;
        set(&world, service, "active").await;
        within(PATIENCE, async || elsewhere.protect(json!(1)).await.status == 200).await;
    }
}

#[tokio::test]
async fn frozen_services_are_listed() {
    let world = World::new().await;
    let (one, other) = (world.service("one").await, world.service("other").await);
    world.service("third").await;
    set(&world, &one, "frozen").await;
    // An operator froze this one without its row.
    let entry = "INSERT INTO revisions SELECT 'services', id, revision + 1, 'frozen' FROM services
                  WHERE name = 'other'";
    sqlx::query(entry).execute(&world.pool).await.expect("an entry");
    let listed = async |status: &str| {
        let listed = world.admin().get(&format!("/admin/services?status={status}")).await.ok();
        let listed = listed.json();
        let items = listed["items"].as_array().expect("items").iter();
        items.map(|item| item["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed("frozen").await, ["one", "other"]);
    assert_eq!(listed("active").await, ["third"]);
    world.admin().get("/admin/services?status=x").await.invalid(&[("status", "unsupported")]);
    set(&world, &other, "active").await;
    assert_eq!(listed("frozen").await, ["one"]);
}

#[tokio::test]
async fn the_refusals_are_recorded() {
    let world = World::new().await;
    let (destination, alice, _) = arranged(&world).await;
    set(&world, &destination.service, "frozen").await;
    alice.protect(json!(1)).await.refused(FROZEN.0, FROZEN.1);
    let records = world.admin().get("/admin/audit?outcome=refused").await.ok().json();
    let record = &records["items"][0];
    assert_eq!(record["error_code"], FROZEN.1);
    assert_eq!(record["policy_number"], destination.policy);
}

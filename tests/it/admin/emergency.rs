//! `/admin/emergency`: the switch that freezes everything.

use serde_json::{Value, json};

use testkit::{PATIENCE, World, within};

const EMERGENCY: &str = "/admin/emergency";
const FREEZE: &str = "/admin/emergency/freeze";
const UNFREEZE: &str = "/admin/emergency/unfreeze";

fn reason() -> Value {
    json!({ "reason": "a stolen laptop" })
}

async fn events(world: &World) -> Vec<(Value, Value, Value)> {
    let listed = world.admin().get("/admin/audit/management?resourceType=emergency").await.ok();
    let listed = listed.json();
    let items = listed["items"].as_array().expect("items").iter();
    let status = |state: &Value| state["status"].clone();
    items.map(|it| (it["action"].clone(), status(&it["before"]), status(&it["after"]))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_refused_until_the_switch_is_lifted() {
    let world = World::new().await;
    let second = world.another().await;
    let (destination, alice) = world.bound_application().await;
    let elsewhere = second.client(alice.key.as_ref().unwrap());
    elsewhere.protect(json!(1)).await.ok();
    let admin = world.admin();
    let unset = json!({ "status": "active", "reason": null, "frozenAt": null, "frozenBy": null });
    assert_eq!(admin.get(EMERGENCY).await.ok().json(), unset);

    let frozen = admin.post(FREEZE, reason()).await.ok();
    assert_eq!(frozen.text("status"), "frozen");
    assert_eq!(frozen.text("reason"), "a stolen laptop");
    assert_eq!(admin.get(EMERGENCY).await.ok().json(), frozen.json());
    let refused = alice.protect(json!(1)).await.refused(403, "SERVICE_FROZEN");
    assert_eq!(refused.message(), "All services are frozen");
    let hash = json!({ "data": "x", "algorithm": "SHA-256" });
    alice.operate("hash", hash).await.refused(403, "SERVICE_FROZEN");
    within(PATIENCE, async || elsewhere.protect(json!(1)).await.status == 403).await;
    // Look-ups, health and management go on.
    let policy = alice.get(&format!("/api/v1/policies/{}", destination.policy)).await.ok().json();
    assert_eq!((&policy["status"], &policy["key"]), (&json!("frozen"), &json!(null)));
    alice.get("/api/v1/caller").await.ok();
    alice.get("/api/v1/health").await.ok();
    let service = format!("/admin/services/{}", destination.service);
    assert_eq!(admin.get(&service).await.ok().text("status"), "active");

    let lifted = admin.post(UNFREEZE, json!({ "reason": "found" })).await.ok().json();
    let expected =
        json!({ "status": "active", "reason": "found", "frozenAt": null, "frozenBy": null });
    assert_eq!(lifted, expected);
    alice.protect(json!(1)).await.ok();
    within(PATIENCE, async || elsewhere.protect(json!(1)).await.status == 200).await;
    let expected = [("freeze", "active", "frozen"), ("unfreeze", "frozen", "active")];
    let expected =
        expected.map(|(action, before, after)| (json!(action), json!(before), json!(after)));
    let mut recorded = events(&world).await;
    recorded.sort_by_key(|(action, ..)| action.to_string());
    assert_eq!(recorded, expected);
}

#[tokio::test]
async fn setting_the_switch_twice_changes_nothing() {
    let world = World::new().await;
    let admin = world.admin();
    let first = admin.post(FREEZE, reason()).await.ok();
    let again = admin.post(FREEZE, json!({ "reason": "another" })).await.ok();
    assert_eq!(again.json(), first.json());
    assert_eq!(again.header("etag"), first.header("etag"));
    assert_eq!(events(&world).await.len(), 1);
    for _ in 0..2 {
        assert_eq!(admin.post_nothing(UNFREEZE).await.ok().text("status"), "active");
    }
    assert_eq!(events(&world).await.len(), 2);
}

#[tokio::test]
async fn an_unfreeze_that_is_sent_again_has_the_first_answer() {
    let world = World::new().await;
    world.admin().post(FREEZE, reason()).await.ok();
    let send = async |key: &str, path: &str, body: Value| {
        world.admin().with("idempotency-key", key).post(path, body).await.ok()
    };
    for key in ["a", "b"] {
        let first = send(key, UNFREEZE, reason()).await;
        let again = send(key, UNFREEZE, reason()).await;
        assert_eq!(again.header("idempotency-replayed"), "true", "{key}");
        assert_eq!((again.json(), again.header("etag")), (first.json(), first.header("etag")));
    }
}

#[tokio::test]
async fn the_reason_is_a_text_of_up_to_500_characters() {
    let world = World::new().await;
    let admin = world.admin();
    admin.post(FREEZE, json!({})).await.invalid(&[("reason", "required")]);
    admin.post(FREEZE, json!({ "reason": "" })).await.invalid(&[("reason", "length")]);
    let long = json!({ "reason": "x".repeat(501), "colour": 1 });
    admin.post(FREEZE, long).await.invalid(&[("reason", "length"), ("colour", "unknown")]);
    admin.post(FREEZE, json!({ "reason": "x".repeat(500) })).await.ok();
}

#[tokio::test]
async fn only_owners_set_the_switch_and_every_role_reads_it() {
    let world = World::new().await;
    for role in ["custodian", "policy-admin", "auditor"] {
        let other = world.administrator(&[role]).await;
        other.post(FREEZE, reason()).await.refused(403, "FORBIDDEN");
        other.post_nothing(UNFREEZE).await.refused(403, "FORBIDDEN");
        other.get(EMERGENCY).await.ok();
    }
    let application = world.application("alice").await;
    application.get(EMERGENCY).await.refused(403, "FORBIDDEN");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_freezes_at_once_one_counts() {
    let world = World::new().await;
    let second = world.another().await;
    let freeze = async |world: &World| {
        let admin = world.client(world.admin_key());
        admin.post(FREEZE, reason()).await.ok().json()
    };
    let (one, other) = tokio::join!(freeze(&world), freeze(&second));
    assert_eq!(one["frozenAt"], other["frozenAt"]);
    assert_eq!(events(&world).await.len(), 1);
}

//! Roles of administrators.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use testkit::{World, rewrite};

const KEYS: &str = "/admin/api-keys";

fn admin_key(members: &Value) -> Value {
    let mut body = json!({ "name": "n", "type": "admin" });
    let members = members.as_object().expect("an object").clone();
    body.as_object_mut().expect("an object").extend(members);
    body
}

/// The path of the first admin key.
async fn first_key(world: &World) -> String {
    let listed = world.admin().get("/admin/api-keys?name=first").await.ok();
    let id = listed.json()["items"][0]["id"].clone();
    format!("{KEYS}/{}", id.as_str().expect("an id"))
}

#[tokio::test]
async fn an_admin_key_has_roles_and_a_person() {
    let world = World::new().await;
    let admin = world.admin();
    let owner = admin.post(KEYS, admin_key(&json!({}))).await.created();
    assert_eq!(owner.json()["roles"], json!(["owner"]));
    assert_eq!(owner.json()["person"], json!(null));
    let body = json!({ "roles": ["auditor", "custodian", "auditor"], "person": "Zoë" });
    let created = admin.post(KEYS, admin_key(&body)).await.created();
    assert_eq!(created.json()["roles"], json!(["custodian", "auditor"]));
    assert_eq!(created.json()["person"], json!("Zoë"));

    let path = created.header("location");
    let read = admin.get(path).await.ok();
    let same = admin.put(path, read.json()).await.ok();
    assert_eq!(same.json(), read.json());
    let other = admin.put(path, json!({ "person": "Ada" })).await;
    other.invalid(&[("person", "conflict")]);
    let changed = admin.patch(path, json!({ "roles": ["policy-admin"] })).await;
    assert_eq!(changed.ok().json()["roles"], json!(["policy-admin"]));
    let live = world.application("billing").await;
    let read = admin.get(&live.key_path()).await.ok();
    admin.put(&live.key_path(), read.json()).await.ok();
}

#[tokio::test]
async fn roles_and_persons_are_checked() {
    let world = World::new().await;
    let admin = world.admin();
    let long = "x".repeat(129);
    for (members, field, code) in [
        (json!({ "roles": [] }), "roles", "length"),
        (json!({ "roles": "owner" }), "roles", "type"),
        (json!({ "roles": ["root"] }), "roles[0]", "unsupported"),
        (json!({ "person": "" }), "person", "length"),
        (json!({ "person": long }), "person", "length"),
        (json!({ "person": "a\u{202e}b" }), "person", "format"),
    ] {
        let refused = admin.post(KEYS, admin_key(&members)).await;
        refused.invalid(&[(field, code)]);
    }
    let created = admin.post(KEYS, admin_key(&json!({}))).await.created();
    let path = created.header("location");
    let refused = admin.put(path, json!({ "roles": [] })).await;
    refused.invalid(&[("roles", "length")]);
    let refused = admin.patch(path, json!({ "roles": null })).await;
    refused.invalid(&[("roles", "type")]);
    let service = world.service("billing").await;
    let live = json!({ "name": "n", "type": "live", "serviceId": service, "roles": ["owner"],
        "person": "Ada" });
    let refused = admin.post(KEYS, live).await;
    refused.invalid(&[("roles", "conflict"), ("person", "conflict")]);
}

#[tokio::test]
async fn only_owners_see_and_manage_admin_keys() {
    let world = World::new().await;
    let policy_admin = world.administrator(&["policy-admin", "auditor"]).await;
    let live = world.application("billing").await;
    let admin_path = first_key(&world).await;

    policy_admin.get(&live.key_path()).await.ok();
    let listed = policy_admin.get(KEYS).await.ok().json();
    let types = listed["items"].as_array().expect("items").iter();
    let types: Vec<_> = types.map(|key| key["type"].clone()).collect();
    assert_eq!(types, ["live"]);
    let filtered = policy_admin.get("/admin/api-keys?type=admin").await.ok();
    assert_eq!(filtered.json()["items"], json!([]));

    let forbidden = [
        policy_admin.get(&admin_path).await,
        policy_admin.put(&admin_path, json!({ "name": "x" })).await,
        policy_admin.patch(&admin_path, json!({ "name": "x" })).await,
        policy_admin.delete(&admin_path).await,
        policy_admin.post(KEYS, admin_key(&json!({}))).await,
        policy_admin.patch(&policy_admin.key_path(), json!({ "roles": ["owner"] })).await,
    ];
    for answer in forbidden {
        let refused = answer.refused(403, "FORBIDDEN");
        assert_eq!(refused.message(), "Requires the role owner");
    }
    let refused = world.admin();
    let refused = refused.get("/admin/audit/management?action=refuse").await;
    let events = refused.ok().json();
    let recorded = events["items"].as_array().expect("items");
    assert_eq!(recorded.len(), 6);
    assert!(recorded.iter().all(|event| event["after"]["status"] == 403));
}

#[tokio::test]
async fn the_last_owner_key_stays() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock.clone(), Stage::Development).await;
    let admin = world.admin();
    let first = first_key(&world).await;
    world.administrator(&["custodian", "policy-admin"]).await;
    let expiry = clock.now().plus(Duration::from_secs(60)).to_string();
    let temporary = admin_key(&json!({ "expiresAt": expiry }));
    let temporary = admin.post(KEYS, temporary).await.created();
    clock.advance(Duration::from_secs(60));

    admin.delete(&first).await.refused(409, "CONFLICT");
    let demoted = json!({ "roles": ["auditor"] });
    let refused = admin.patch(&first, demoted.clone()).await;
    refused.refused(409, "CONFLICT");
    admin.put(&first, demoted).await.refused(409, "CONFLICT");
    let ending = json!({ "expiresAt": clock.now().plus(Duration::from_secs(1)).to_string() });
    let refused = admin.patch(&first, ending.clone()).await;
    refused.refused(409, "CONFLICT");
    // An expired key is no owner, so it can be revoked.
    admin.delete(temporary.header("location")).await.gone();

    let second = world.administrator(&["owner", "auditor"]).await;
    admin.patch(&first, ending).await.ok();
    admin.delete(&first).await.gone();
    let refused = second.delete(&second.key_path()).await;
    refused.refused(409, "CONFLICT");
}

#[tokio::test]
async fn two_instances_do_not_remove_the_last_two_owners() {
    let world = World::new().await;
    let other = world.another().await;
    for _ in 0..8 {
        let one = world.administrator(&["owner"]).await;
        let two = world.administrator(&["owner"]).await;
        // The first key stays out of the race.
        rewrite(&world.pool, "UPDATE api_keys SET roles = '{auditor}' WHERE name = 'first'").await;
        let (one_path, two_path) = (one.key_path(), two.key_path());
        let key = two.key.clone().expect("a key");
        let two = other.client(&key);
        let demotion = json!({ "roles": ["custodian"] });
        let (revoked, demoted) =
            tokio::join!(one.delete(&two_path), two.patch(&one_path, demotion));
        let mut statuses = [revoked.status.as_u16(), demoted.status.as_u16()];
        statuses.sort_unstable();
        // The loser may have lost its own key or role before.
        assert!(matches!(statuses, [200 | 204, 401 | 403 | 409]), "{statuses:?}");
        let owners: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM api_keys WHERE 'owner' = ANY (roles) AND revoked_at IS NULL",
        )
        .fetch_one(&world.pool)
        .await
        .expect("a count");
        assert_eq!(owners, 1);
        rewrite(&world.pool, "UPDATE api_keys SET roles = '{owner}' WHERE name = 'first'").await;
        rewrite(&world.pool, "UPDATE api_keys SET revoked_at = now() WHERE name = 'owner'").await;
        world.admin().get("/admin/api-keys").await.ok();
    }
}

#[tokio::test]
async fn a_role_that_is_lost_during_a_slow_body_changes_nothing() {
    let world = World::new().await;
    let custodian = world.administrator(&["policy-admin"]).await;
    let key = custodian.key.clone().expect("a key");
    let (send, pieces) = mpsc::channel::<&str>(1);
    let body = stream::unfold(pieces, |mut pieces| async {
        Some((Ok::<_, Infallible>(pieces.recv().await?), pieces))
    });
    let request = Request::builder()
        .method(Method::POST)
        .uri("/admin/services")
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .body(Body::from_stream(body))
        .expect("a request");
    let demotion = async {
        // The channel holds one chunk, so sending the second proves that the service reads the body.
        send.send(r#"{"name":"#).await.expect("a reader");
        send.send(" ").await.expect("a reader");
        let demotion = json!({ "roles": ["auditor"] });
        let path = custodian.key_path();
        world.admin().patch(&path, demotion).await.ok();
        send.send(r#""late"}"#).await.expect("a reader");
        drop(send);
    };
    let (answer, ()) = tokio::join!(world.send(request), demotion);
    answer.refused(403, "FORBIDDEN");
    let listed = world.admin().get("/admin/services?name=late").await.ok();
    assert_eq!(listed.json()["items"], json!([]));
}

#[tokio::test]
async fn the_role_comes_before_the_answer_to_a_repeated_request() {
    let world = World::new().await;
    let owner = world.administrator(&["owner"]).await;
    let repeat = owner.clone().with("idempotency-key", "order 4711");
    repeat.post(KEYS, admin_key(&json!({}))).await.created();
    let again = repeat.post(KEYS, admin_key(&json!({}))).await.created();
    assert_eq!(again.header("idempotency-replayed"), "true");
    let service = json!({ "name": "billing" });
    repeat.post("/admin/services", service.clone()).await.created();

    let path = owner.key_path();
    let change = async |role: &str| {
        let roles = json!({ "roles": [role] });
        world.admin().patch(&path, roles).await.ok();
    };
    change("policy-admin").await;
    let refused = repeat.post(KEYS, admin_key(&json!({}))).await;
    refused.refused(403, "FORBIDDEN");
    repeat.post("/admin/services", service.clone()).await.created();
    change("auditor").await;
    for body in [service, json!({ "name": "another" })] {
        let refused = repeat.post("/admin/services", body).await;
        refused.refused(403, "FORBIDDEN");
    }
}

#[tokio::test]
async fn a_new_role_holds_on_every_instance() {
    let world = World::new().await;
    let other = world.another().await;
    let auditor = world.administrator(&["auditor"]).await;
    let key = auditor.key.clone().expect("a key");
    let there = other.client(&key);
    let body = json!({ "name": "billing" });
    let refused = there.post("/admin/services", body.clone()).await;
    refused.refused(403, "FORBIDDEN");
    let promotion = json!({ "roles": ["policy-admin"] });
    let path = auditor.key_path();
    world.admin().patch(&path, promotion).await.ok();
    let created = testkit::within(Duration::from_secs(1), async || {
        there.post("/admin/services", body.clone()).await.status == 201
    });
    created.await;
}

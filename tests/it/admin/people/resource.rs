//! The resource and its list.

use formats::clock::Clock;
use serde_json::{Value, json};

use super::{PEOPLE, key_of, lock, lock_by_entry, path, person, unlock};
use testkit::{OidcProvider, World};

#[tokio::test]
async fn an_unlock_has_no_members() {
    let world = World::new().await;
    let ada = key_of(&world, "ada", &["auditor"]).await;
    let admin = world.admin();
    let path = format!("{}/unlock", path(&person(&ada, "ada").await));
    admin.post(&path, json!({ "colour": 1 })).await.invalid(&[("colour", "unknown")]);
    let other = admin.send_as("text/html", axum::http::Method::POST, &path, "{}").await;
    other.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    admin.post(&path, json!({})).await.ok();
    admin.post_nothing(&path).await.ok();
}

#[tokio::test]
async fn a_person_exists_from_the_first_key_that_names_them() {
    let world = World::new().await;
    let ada = key_of(&world, "ada", &["owner"]).await;
    let again = key_of(&world, "ada", &["auditor"]).await;
    let read = ada.get(&path(&person(&ada, "ada").await)).await.ok();
    assert_eq!(read.header("etag"), "\"1\"");
    let shown = read.json();
    assert_eq!(shown["apiKeyIds"], json!([ada.key_id, again.key_id]));
    let mut members: Vec<&String> = shown.as_object().expect("an object").keys().collect();
    let mut expected = [
        "id",
        "issuer",
        "subject",
        "name",
        "status",
        "roles",
        "lastSeenAt",
        "lockedAt",
        "lockedBy",
        "lockReason",
        "apiKeyIds",
        "createdAt",
        "updatedAt",
    ];
    members.sort_unstable();
    expected.sort_unstable();
    assert_eq!(members, expected);
    let fixed = ["issuer", "subject", "name", "status", "roles", "lockedAt", "lockedBy"];
    let values = fixed.map(|member| shown[member].clone());
    let no = Value::Null;
    let expected =
        [no.clone(), json!("ada"), json!("ada"), json!("active"), json!([]), no.clone(), no];
    assert_eq!(values, expected);
    let events = ada.get("/admin/audit/management?resourceType=person").await.ok().json();
    assert_eq!(events["items"].as_array().expect("events").len(), 1);
    assert_eq!(events["items"][0]["action"], "create");
    assert_eq!(events["items"][0]["resource_id"], shown["id"]);
}

#[tokio::test]
async fn a_person_exists_from_the_first_token_with_its_roles() {
    let provider = OidcProvider::start();
    let admin = provider.admin("http://127.0.0.1:8080");
    let world = World::with_admin(Clock::system(), admin).await;
    let token = provider.tokens("amir").await.access_token;
    let amir = person(&world.client(&token), "amir").await;
    assert_eq!(amir["issuer"], provider.issuer());
    assert_eq!(amir["roles"], json!(["auditor"]));
    assert!(amir["lastSeenAt"].is_string(), "{amir}");
}

#[tokio::test]
async fn a_person_is_locked_before_they_are_seen() {
    let provider = OidcProvider::start();
    let admin = provider.admin("http://127.0.0.1:8080");
    let world = World::with_admin(Clock::system(), admin).await;
    let body = json!({ "subject": "olivia", "reason": "on leave" });
    let created = world.admin().post(PEOPLE, body.clone()).await.created();
    let olivia = created.json();
    assert_eq!(created.header("location"), path(&olivia));
    assert_eq!((&olivia["status"], &olivia["lockReason"]), (&json!("locked"), &json!("on leave")));
    assert_eq!(olivia["lockedBy"], "first");
    let token = provider.tokens("olivia").await.access_token;
    world.client(&token).get(PEOPLE).await.refused(401, "AUTHENTICATION_FAILED");
    world.admin().post(PEOPLE, body).await.refused(409, "CONFLICT");
    unlock(&world.admin(), &olivia).await.ok();
    world.client(&token).get(PEOPLE).await.ok();
}

#[tokio::test]
async fn people_are_listed_by_status() {
    let world = World::new().await;
    for name in ["ada", "bob", "eve"] {
        key_of(&world, name, &["owner"]).await;
    }
    lock(&world.admin(), &person(&world.admin(), "bob").await).await.ok();
    lock_by_entry(&world, "eve").await;
    let listed = async |query: &str| {
        let page = world.admin().get(&format!("{PEOPLE}{query}")).await.ok().json();
        let items = page["items"].as_array().expect("items").clone();
        items.iter().map(|it| it["subject"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(listed("").await, ["ada", "bob", "eve"]);
    assert_eq!(listed("?status=locked").await, ["bob", "eve"]);
    assert_eq!(listed("?status=active").await, ["ada"]);
    assert_eq!(listed("?limit=1").await, ["ada"]);
    world.admin().get(&format!("{PEOPLE}?status=gone")).await.invalid(&[("status", "unsupported")]);
}

#[tokio::test]
async fn owners_lock_and_auditors_read() {
    let world = World::new().await;
    key_of(&world, "ada", &["owner"]).await;
    let ada = person(&world.admin(), "ada").await;
    let auditor = world.administrator(&["auditor"]).await;
    auditor.get(PEOPLE).await.ok();
    auditor.get(&path(&ada)).await.ok();
    for roles in [["auditor"], ["custodian"], ["policy-admin"]] {
        let other = world.administrator(&roles).await;
        lock(&other, &ada).await.refused(403, "FORBIDDEN");
        unlock(&other, &ada).await.refused(403, "FORBIDDEN");
        let unseen = json!({ "subject": "eve", "reason": "r" });
        other.post(PEOPLE, unseen).await.refused(403, "FORBIDDEN");
    }
    for roles in [["custodian"], ["policy-admin"]] {
        let other = world.administrator(&roles).await;
        other.get(PEOPLE).await.refused(403, "FORBIDDEN");
        other.get(&path(&ada)).await.refused(403, "FORBIDDEN");
    }
}

#[tokio::test]
async fn a_lock_has_a_reason_an_author_and_an_event() {
    let world = World::new().await;
    let [ada, bob] =
        [key_of(&world, "ada", &["owner"]).await, key_of(&world, "bob", &["owner"]).await];
    let of_bob = person(&ada, "bob").await;
    let lock_path = format!("{}/lock", path(&of_bob));
    ada.post(&lock_path, json!({})).await.invalid(&[("reason", "required")]);
    ada.post(&lock_path, json!({ "reason": "" })).await.invalid(&[("reason", "length")]);
    let long = "r".repeat(501);
    ada.post(&lock_path, json!({ "reason": long })).await.invalid(&[("reason", "length")]);
    let outdated = ada.clone().with("if-match", "\"9\"");
    lock(&outdated, &of_bob).await.refused(412, "PRECONDITION_FAILED");
    let locked = lock(&ada, &of_bob).await.ok();
    assert_eq!(locked.header("etag"), "\"2\"");
    let locked = locked.json();
    assert_eq!(locked["lockedBy"], "ada");
    assert_eq!(locked["lockReason"], "left the company");
    assert_eq!(lock(&ada, &of_bob).await.ok().json(), locked);
    let unlocked = unlock(&ada, &of_bob).await.ok().json();
    assert_eq!((&unlocked["status"], &unlocked["lockReason"]), (&json!("active"), &Value::Null));
    bob.get(PEOPLE).await.ok();
    let events = ada.get("/admin/audit/management?resourceType=person").await.ok().json();
    let events = events["items"].as_array().expect("events").clone();
    let actions: Vec<&Value> = events.iter().map(|event| &event["action"]).collect();
    assert_eq!(actions, ["unlock", "lock", "create", "create"]);
    assert_eq!(events[1]["before"]["status"], "active");
    assert_eq!(events[1]["after"]["lockReason"], "left the company");
}

/// It is made again, because a lock in between may have ended.
#[tokio::test]
async fn a_lock_that_is_sent_again_has_no_further_effect() {
    let world = World::new().await;
    key_of(&world, "bob", &["owner"]).await;
    let bob = person(&world.admin(), "bob").await;
    let client = world.admin().with("idempotency-key", "lock bob");
    let first = lock(&client, &bob).await.ok();
    let again = lock(&client, &bob).await.ok();
    assert!(!again.headers.contains_key("idempotency-replayed"));
    assert_eq!((again.json(), again.header("etag")), (first.json(), first.header("etag")));
}

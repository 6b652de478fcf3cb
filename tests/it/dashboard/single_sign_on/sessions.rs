//! Sessions of people who signed in, and of admin keys beside them.

use axum::http::StatusCode;
use engine::settings::Admin;
use serde_json::{Value, json};

use super::{ADDRESS, MINUTE, assert_signed_in, world, world_at_rest};
use crate::dashboard::Browser;
use testkit::{OidcProvider, rewrite};

#[tokio::test]
async fn a_session_ends_like_that_of_a_key_and_with_the_last_role() {
    let provider = OidcProvider::start();
    let (clock, world) = world_at_rest(&provider).await;
    let mut idle = Browser::new(&world);
    idle.sign_in_at(&provider, "amir").await;
    clock.advance(MINUTE * 14);
    idle.get("/dashboard/audit").await.ok();
    clock.advance(MINUTE * 15);
    let ended = idle.get("/dashboard/audit").await;
    assert_eq!(ended.status, StatusCode::SEE_OTHER);

    let (_, world) = world_at_rest(&provider).await;
    let mut leaving = Browser::new(&world);
    leaving.sign_in_at(&provider, "amir").await;
    leaving.get("/dashboard/audit").await.ok();
    let secret = leaving.cookie.clone();
    leaving.send("/dashboard/sign-out", &[]).await;
    leaving.cookie = secret;
    let ended = leaving.get("/dashboard/audit").await;
    assert_eq!(ended.status, StatusCode::SEE_OTHER);

    let mut demoted = Browser::new(&world);
    demoted.sign_in_at(&provider, "amir").await;
    demoted.get("/dashboard/audit").await.ok();
    // As a later sign-in does when no group has a role any more.
    rewrite(&world.pool, "UPDATE people SET roles = '{}'").await;
    let ended = demoted.get("/dashboard/audit").await;
    assert_eq!(ended.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn events_name_the_person() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut browser = Browser::new(&world);
    browser.sign_in_at(&provider, "olivia").await;
    browser.get("/dashboard/services").await.ok();
    browser.submit("/dashboard/services", &[("name", "billing")]).await;
    browser.get("/dashboard/services").await.ok();
    browser.send("/dashboard/sign-out", &[]).await;
    let events = world.admin().get("/admin/audit/management").await.json();
    let of_people: Vec<&Value> = events["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| !event["person"].is_null())
        .collect();
    let person = json!({ "iss": provider.issuer(), "sub": "olivia" });
    for event in &of_people {
        assert_eq!(event["person"], person);
        assert_eq!(event["actor"], "Olivia Owner");
        assert_eq!(event["api_key_id"], Value::Null);
    }
    let actions: Vec<_> = of_people.iter().map(|event| &event["action"]).collect();
    assert_eq!(actions, ["sign_out", "create", "sign_in"]);
    assert_eq!(of_people[2]["after"], json!({ "roles": ["owner"] }));
}

#[tokio::test]
async fn admin_keys_can_be_turned_off_for_the_dashboard_only() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut open = Browser::signed_in(&world).await;
    let session = open.cookie.take();
    let mut visitor = Browser::new(&world);
    let page = visitor.get("/dashboard/sign-in").await.ok().body;
    let (_, rest) = page.split_once("name=\"form-token\" value=\"").unwrap();
    let token = rest.split('"').next().unwrap();
    let cookie = visitor.cookie.take();

    let world = world.admitting(Admin { key_sign_in: false, ..provider.admin(ADDRESS) }).await;
    let mut browser = Browser::new(&world);
    browser.cookie = cookie;
    let page = browser.get("/dashboard/sign-in").await.ok().body;
    assert!(!page.contains("Admin key"));
    let form = [("key", world.admin_key())];
    let refused = browser.send_with_token("/dashboard/sign-in", &form, token).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(refused.body.contains("Admin keys cannot sign in here"));
    browser.cookie = session;
    let ended = browser.get("/dashboard/keys").await;
    assert_eq!(ended.status, StatusCode::SEE_OTHER);
    world.admin().get("/admin/keys").await.ok();
    let mut person = Browser::new(&world);
    assert_signed_in(&person.sign_in_at(&provider, "olivia").await);
}

#[tokio::test]
async fn the_last_owner_key_can_be_revoked_if_owners_sign_in() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let keys = world.admin().get("/admin/api-keys").await.json();
    let own = keys["items"][0]["id"].as_str().unwrap();
    let mut owner = Browser::new(&world);
    owner.sign_in_at(&provider, "olivia").await;
    let place = format!("/dashboard/api-keys/{own}");
    owner.get(&format!("{place}/revoke")).await.ok();
    owner.submit(&format!("{place}/revoke"), &[]).await;
    let ended = world.admin().get("/admin/keys").await;
    assert_eq!(ended.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn after_a_sign_out_the_session_at_the_provider_can_end_too() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut browser = Browser::new(&world);
    browser.sign_in_at(&provider, "olivia").await;
    browser.get("/dashboard/keys").await.ok();
    let out = browser.send("/dashboard/sign-out", &[]).await;
    let page = browser.get(out.header("location")).await.ok().body;
    let end = format!("{}/session/end?client_id=sealward", provider.issuer());
    assert!(page.contains(&end), "{page}");
}

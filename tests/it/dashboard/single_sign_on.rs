//! Sign-in with OpenID Connect at a certified provider.

use std::time::Duration;

use axum::http::StatusCode;
use sealward::clock::Clock;
use sealward::settings::Admin;
use serde_json::{Value, json};

use super::Browser;
use crate::support::{Answer, OidcProvider, PATIENCE, World, within};

const ADDRESS: &str = "http://127.0.0.1:8080";
const MINUTE: Duration = Duration::from_secs(60);

async fn world(provider: &OidcProvider) -> World {
    World::with_admin(Clock::system(), provider.admin(ADDRESS)).await
}

/// A world whose clock stands still at the present time.
async fn world_at_rest(provider: &OidcProvider) -> (Clock, World) {
    let clock = Clock::held_at(Clock::system().now());
    let world = World::with_admin(clock.clone(), provider.admin(ADDRESS)).await;
    (clock, world)
}

fn assert_signed_in(answer: &Answer) {
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    assert_eq!(answer.header("location"), "/dashboard");
}

fn assert_unfinished(answer: &Answer) {
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{}", answer.body);
    assert!(answer.body.contains("The sign-in was not completed"));
}

/// The only failed sign-in, once it is recorded.
async fn recorded_failure(world: &World) -> String {
    let mut reasons = Vec::new();
    within(PATIENCE, async || {
        reasons = sqlx::query_scalar::<_, String>(
            "SELECT after ->> 'reason' FROM management_events WHERE action = 'sign_in_failed'",
        )
        .fetch_all(&world.pool)
        .await
        .unwrap();
        !reasons.is_empty()
    })
    .await;
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    reasons.remove(0)
}

#[tokio::test]
async fn a_person_signs_in_with_the_roles_of_their_groups() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut browser = Browser::new(&world);
    let page = browser.get("/dashboard/sign-in?to=/dashboard/keys").await;
    let page = page.ok().body;
    assert!(page.contains("Sign in with single sign-on"));
    assert!(page.contains("/dashboard/sign-in/provider?to=%2Fdashboard%2Fkeys"));

    let before = browser.cookie.clone();
    assert_signed_in(&browser.sign_in_at(&provider, "carla").await);
    assert_ne!(browser.cookie, before, "a new secret at the sign-in");
    let keys = browser.get("/dashboard/keys").await.ok().body;
    assert!(keys.contains("Carla Custodian") && keys.contains("custodian"));
    let refused = browser.get("/dashboard/api-keys/new").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);

    browser.get("/dashboard/sign-in").await.ok();
    let start = "/dashboard/sign-in/provider?to=/dashboard/keys";
    let start = browser.get(start).await;
    let back = provider.sign_in(start.header("location"), "olivia").await;
    assert_eq!(
        browser.get(&back).await.header("location"),
        "/dashboard/keys"
    );
    browser.get("/dashboard/api-keys/new").await.ok();
}

#[tokio::test]
async fn the_request_to_the_provider_is_bound_to_the_browser() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut browser = Browser::new(&world);
    let mut queries = Vec::new();
    for _ in 0..2 {
        let start = browser.get("/dashboard/sign-in/provider").await;
        let location = start.header("location").to_owned();
        let (endpoint, query) = location.split_once('?').unwrap();
        assert_eq!(endpoint, format!("{}/auth", provider.issuer()));
        let query = form_urlencoded::parse(query.as_bytes()).into_owned();
        queries.push(query.collect::<std::collections::BTreeMap<_, _>>());
    }
    let [one, two] = [&queries[0], &queries[1]];
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", "sealward"),
        ("scope", "openid profile groups"),
        ("code_challenge_method", "S256"),
        (
            "redirect_uri",
            "http://127.0.0.1:8080/dashboard/sign-in/callback",
        ),
    ] {
        assert_eq!(one[name], value);
    }
    for name in ["state", "nonce", "code_challenge"] {
        assert!(one[name].len() >= 43 && one[name] != two[name], "{name}");
    }
}

#[tokio::test]
async fn a_wrong_state_is_refused() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut browser = Browser::new(&world);
    let back = browser.redirect_at(&provider, "olivia").await;
    let mut other = Browser::new(&world);
    other.get("/dashboard/sign-in").await.ok();
    assert_unfinished(&other.get(&back).await);
    let reason = recorded_failure(&world).await;
    assert_eq!(reason, "the state was not issued to this browser");
    for wrong in ["", "x", "x.y"] {
        let place = format!("/dashboard/sign-in/callback?code=x&state={wrong}");
        assert_unfinished(&browser.get(&place).await);
    }
    // The browser that started it can still finish it.
    assert_signed_in(&browser.get(&back).await);
}

#[tokio::test]
async fn a_wrong_nonce_is_refused() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut browser = Browser::new(&world);
    let start = browser.get("/dashboard/sign-in/provider").await;
    let location = start.header("location").to_owned();
    let (before, rest) = location.split_once("nonce=").unwrap();
    let (_, after) = rest.split_once('&').unwrap();
    let changed = format!("{before}nonce=of-another-sign-in&{after}");
    let back = provider.sign_in(&changed, "olivia").await;
    assert_unfinished(&browser.get(&back).await);
    let reason = recorded_failure(&world).await;
    assert_eq!(
        reason,
        "the claim nonce of the ID token is missing or wrong"
    );
}

#[tokio::test]
async fn a_wrong_verifier_is_refused() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut browser = Browser::new(&world);
    let start = browser.get("/dashboard/sign-in/provider").await;
    let location = start.header("location").to_owned();
    let (before, rest) = location.split_once("code_challenge=").unwrap();
    let (_, after) = rest.split_once('&').unwrap();
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    let changed = format!("{before}code_challenge={challenge}&{after}");
    let back = provider.sign_in(&changed, "olivia").await;
    assert_unfinished(&browser.get(&back).await);
    let reason = recorded_failure(&world).await;
    assert_eq!(reason, "the provider answered \"invalid_grant\"");
}

#[tokio::test]
async fn a_redirect_of_another_issuer_is_refused() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut browser = Browser::new(&world);
    let back = browser.redirect_at(&provider, "olivia").await;
    let (before, _) = back.split_once("&iss=").unwrap();
    for wrong in [
        before.to_owned(),
        format!("{before}&iss=https%3A%2F%2Fevil.example"),
    ] {
        assert_unfinished(&browser.get(&wrong).await);
    }
}

#[tokio::test]
async fn an_expired_or_used_code_is_refused() {
    let mut provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut browser = Browser::new(&world);
    let back = browser.redirect_at(&provider, "olivia").await;
    provider.advance(MINUTE * 2);
    assert_unfinished(&browser.get(&back).await);
    let reason = recorded_failure(&world).await;
    assert_eq!(reason, "the provider answered \"invalid_grant\"");
}

#[tokio::test]
async fn a_sign_in_takes_at_most_ten_minutes() {
    let provider = OidcProvider::start();
    let (clock, world) = world_at_rest(&provider).await;
    let mut browser = Browser::new(&world);
    let back = browser.redirect_at(&provider, "olivia").await;
    clock.advance(MINUTE * 10);
    assert_unfinished(&browser.get(&back).await);
    let reason = recorded_failure(&world).await;
    assert_eq!(reason, "the sign-in took longer than 10 minutes");
}

#[tokio::test]
async fn clocks_can_differ_by_a_minute() {
    let mut provider = OidcProvider::start();
    let (clock, world) = world_at_rest(&provider).await;
    provider.advance(Duration::from_secs(45));
    let mut browser = Browser::new(&world);
    assert_signed_in(&browser.sign_in_at(&provider, "olivia").await);

    provider.advance(MINUTE);
    assert_unfinished(&Browser::new(&world).sign_in_at(&provider, "olivia").await);
    let reason = recorded_failure(&world).await;
    assert_eq!(reason, "the token is not valid yet");

    // Now the clock of the service is ahead: ID tokens are valid for ten minutes.
    clock.advance(MINUTE * 12);
    assert_signed_in(&Browser::new(&world).sign_in_at(&provider, "olivia").await);
    clock.advance(MINUTE * 2);
    assert_unfinished(&Browser::new(&world).sign_in_at(&provider, "olivia").await);
}

#[tokio::test]
async fn new_keys_of_the_provider_are_accepted() {
    let mut provider = OidcProvider::start();
    let (clock, world) = world_at_rest(&provider).await;
    assert_signed_in(&Browser::new(&world).sign_in_at(&provider, "olivia").await);
    provider.rotate_keys();
    clock.advance(MINUTE);
    assert_signed_in(&Browser::new(&world).sign_in_at(&provider, "olivia").await);
}

#[tokio::test]
async fn admin_keys_sign_in_while_the_provider_is_away() {
    let mut provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut person = Browser::new(&world);
    assert_signed_in(&person.sign_in_at(&provider, "olivia").await);
    let mut late = Browser::new(&world);
    let back = late.redirect_at(&provider, "carla").await;
    provider.stop();

    let refused = late.get(&back).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.body.contains("is unavailable"));
    assert!(
        recorded_failure(&world)
            .await
            .starts_with("the provider is unavailable")
    );
    // Sessions of people continue, and the page still takes admin keys.
    person.get("/dashboard/keys").await.ok();
    late.sign_in(world.admin_key()).await;
    late.get("/dashboard/keys").await.ok();
}

#[tokio::test]
async fn the_start_fails_while_the_provider_is_away() {
    let mut provider = OidcProvider::start();
    let world = world(&provider).await;
    provider.stop();
    let refused = Browser::new(&world)
        .get("/dashboard/sign-in/provider")
        .await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn a_person_without_a_role_gets_a_clear_page() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut browser = Browser::new(&world);
    let refused = browser.sign_in_at(&provider, "guest").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(
        refused
            .body
            .contains("Your account has no role in Sealward")
    );
    let reason = recorded_failure(&world).await;
    assert_eq!(reason, "no group of \"guest\" has a role");
    let away = browser.get("/dashboard/keys").await;
    assert_eq!(away.status, StatusCode::SEE_OTHER);
}

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
    sqlx::query("UPDATE people SET roles = '{}'")
        .execute(&world.pool)
        .await
        .unwrap();
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
    browser
        .submit("/dashboard/services", &[("name", "billing")])
        .await;
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

    let world = world
        .admitting(Admin {
            key_sign_in: false,
            ..provider.admin(ADDRESS)
        })
        .await;
    let mut browser = Browser::new(&world);
    browser.cookie = cookie;
    let page = browser.get("/dashboard/sign-in").await.ok().body;
    assert!(!page.contains("Admin key"));
    let form = [("key", world.admin_key())];
    let refused = browser
        .send_with_token("/dashboard/sign-in", &form, token)
        .await;
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

//! Sign-in with OpenID Connect at a certified provider.

mod checks;
mod logout;
mod refusals;
mod sessions;

use std::time::Duration;

use axum::http::StatusCode;
use formats::clock::Clock;

use super::Browser;
use testkit::{Answer, OidcProvider, PATIENCE, World, within};

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
    assert_eq!(browser.get(&back).await.header("location"), "/dashboard/keys");
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
        ("redirect_uri", "http://127.0.0.1:8080/dashboard/sign-in/callback"),
    ] {
        assert_eq!(one[name], value);
    }
    for name in ["state", "nonce", "code_challenge"] {
        assert!(one[name].len() >= 43 && one[name] != two[name], "{name}");
    }
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
    assert!(recorded_failure(&world).await.starts_with("the provider is unavailable"));
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
    let refused = Browser::new(&world).get("/dashboard/sign-in/provider").await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
}

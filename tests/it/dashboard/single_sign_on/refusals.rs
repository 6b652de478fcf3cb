//! Sign-ins that are not completed.

use axum::http::StatusCode;

use super::{MINUTE, assert_signed_in, assert_unfinished, recorded_failure, world, world_at_rest};
use crate::dashboard::Browser;
use testkit::OidcProvider;

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
    assert_eq!(reason, "the claim nonce of the ID token is missing or wrong");
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
    for wrong in [before.to_owned(), format!("{before}&iss=https%3A%2F%2Fevil.example")] {
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
async fn a_person_without_a_role_gets_a_clear_page() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut browser = Browser::new(&world);
    let refused = browser.sign_in_at(&provider, "guest").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(refused.body.contains("Your account has no role in Sealward"));
    let reason = recorded_failure(&world).await;
    assert_eq!(reason, "no group of \"guest\" has a role");
    let away = browser.get("/dashboard/keys").await;
    assert_eq!(away.status, StatusCode::SEE_OTHER);
}

/// The provider issues another code for the same request.
#[tokio::test]
async fn a_state_is_good_for_one_exchange() {
    let provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut browser = Browser::new(&world);
    let start = browser.get("/dashboard/sign-in/provider").await;
    let location = start.header("location").to_owned();
    let first = provider.sign_in(&location, "olivia").await;
    let second = provider.sign_in(&location, "olivia").await;
    let mut same = Browser::new(&world);
    same.cookie.clone_from(&browser.cookie);
    assert_signed_in(&browser.get(&first).await);
    assert_unfinished(&same.get(&second).await);
    assert_eq!(recorded_failure(&world).await, "the state was used before");
}

//! Sessions that the provider confirms again and again.

use std::time::Duration;

use axum::http::StatusCode;
use engine::settings::Span;
use formats::clock::Clock;

use super::{ADDRESS, MINUTE, world_at_rest};
use crate::dashboard::Browser;
use testkit::{Answer, OidcProvider, World};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// A page and its check at the provider.
const PAGE: &str = "/dashboard/keys?use=enc";
const CHECK: &str = "/dashboard/sign-in/provider?to=%2Fdashboard%2Fkeys%3Fuse%3Denc&check=yes";

/// Moves both clocks, and keeps the session from being idle.
async fn advance(
    provider: &mut OidcProvider,
    clock: &Clock,
    browser: &mut Browser<'_>,
    span: Duration,
) {
    let mut left = span;
    while left > Duration::ZERO {
        let step = left.min(MINUTE * 10);
        clock.advance(step);
        provider.advance(step);
        browser.get(PAGE).await;
        left -= step;
    }
}

#[track_caller]
fn assert_checked(answer: &Answer) {
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    assert_eq!(answer.header("location"), CHECK);
}

#[tokio::test]
async fn a_visit_goes_through_the_provider_every_hour() {
    let mut provider = OidcProvider::start();
    let (clock, world) = world_at_rest(&provider).await;
    let mut browser = Browser::new(&world);
    browser.sign_in_at(&provider, "carla").await;
    for _ in 0..2 {
        advance(&mut provider, &clock, &mut browser, HOUR - MINUTE).await;
        browser.get(PAGE).await.ok();
        advance(&mut provider, &clock, &mut browser, MINUTE).await;
        let (check, before) = (browser.get(PAGE).await, browser.cookie.clone());
        assert_checked(&check);
        let back = browser.confirm_at(&provider, &check).await;
        assert_eq!(back.status, StatusCode::SEE_OTHER, "{}", back.body);
        assert_eq!(back.header("location"), PAGE);
        assert_ne!(browser.cookie, before, "a new secret");
        browser.get(PAGE).await.ok();
        // The former session has ended.
        let mut former = Browser::new(&world);
        former.cookie = before;
        assert_eq!(
            former.get(PAGE).await.header("location"),
            "/dashboard/sign-in?to=%2Fdashboard%2Fkeys%3Fuse%3Denc"
        );
    }
}

#[tokio::test]
async fn a_check_does_not_make_a_session_longer() {
    let mut provider = OidcProvider::start();
    let (clock, world) = world_at_rest(&provider).await;
    let mut browser = Browser::new(&world);
    browser.sign_in_at(&provider, "carla").await;
    for _ in 0..11 {
        advance(&mut provider, &clock, &mut browser, HOUR).await;
        let check = browser.get(PAGE).await;
        browser.confirm_at(&provider, &check).await;
    }
    advance(&mut provider, &clock, &mut browser, HOUR - MINUTE).await;
    browser.get(PAGE).await.ok();
    clock.advance(MINUTE);
    let ended = browser.get(PAGE).await;
    assert!(ended.header("location").starts_with("/dashboard/sign-in?"), "{ended:?}");
}

#[tokio::test]
async fn the_settings_say_how_often() {
    let mut provider = OidcProvider::start();
    let clock = Clock::held_at(Clock::system().now());
    let mut admin = provider.admin(ADDRESS);
    admin.oidc.recheck = Span::seconds(120);
    let world = World::with_admin(clock.clone(), admin).await;
    let mut browser = Browser::new(&world);
    browser.sign_in_at(&provider, "carla").await;
    advance(&mut provider, &clock, &mut browser, MINUTE).await;
    browser.get(PAGE).await.ok();
    advance(&mut provider, &clock, &mut browser, MINUTE).await;
    assert_checked(&browser.get(PAGE).await);
}

#[tokio::test]
async fn forms_are_served_for_five_more_minutes() {
    let mut provider = OidcProvider::start();
    let (clock, world) = world_at_rest(&provider).await;
    let mut browser = Browser::new(&world);
    browser.sign_in_at(&provider, "olivia").await;
    browser.get("/dashboard/services/new").await.ok();
    advance(&mut provider, &clock, &mut browser, HOUR + MINUTE * 4).await;
    browser.submit("/dashboard/services", &[("name", "in time")]).await;
    clock.advance(MINUTE);
    let refused = browser.send("/dashboard/services", &[("name", "late")]).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert!(refused.body.contains("Your sign-in must be confirmed"), "{}", refused.body);
    let services = world.admin().get("/admin/services").await.ok().json();
    assert_eq!(services["items"].as_array().expect("services").len(), 1);
    // After a check, the session continues.
    let check = browser.get(PAGE).await;
    browser.confirm_at(&provider, &check).await;
    browser.get("/dashboard/services/new").await.ok();
    browser.submit("/dashboard/services", &[("name", "again")]).await;
}

#[tokio::test]
async fn a_provider_that_says_no_ends_the_session() {
    let mut provider = OidcProvider::start();
    let (clock, world) = world_at_rest(&provider).await;
    let mut browser = Browser::new(&world);
    browser.sign_in_at(&provider, "carla").await;
    advance(&mut provider, &clock, &mut browser, HOUR).await;
    let (check, session) = (browser.get(PAGE).await, browser.cookie.clone());
    browser.forget_provider();
    let ended = browser.confirm_at(&provider, &check).await;
    assert_eq!(ended.status, StatusCode::UNAUTHORIZED);
    assert!(ended.body.contains("Your session has ended"), "{}", ended.body);
    assert!(ended.body.contains("to=%2Fdashboard%2Fkeys%3Fuse%3Denc"), "{}", ended.body);
    browser.cookie = session;
    let refused = browser.get(PAGE).await;
    assert!(refused.header("location").starts_with("/dashboard/sign-in?"), "{refused:?}");
}

#[tokio::test]
async fn a_provider_that_confirms_another_person_ends_the_session() {
    let mut provider = OidcProvider::start();
    let (clock, world) = world_at_rest(&provider).await;
    let [mut carla, mut olivia] = [Browser::new(&world), Browser::new(&world)];
    carla.sign_in_at(&provider, "carla").await;
    olivia.sign_in_at(&provider, "olivia").await;
    advance(&mut provider, &clock, &mut carla, HOUR).await;
    let check = carla.get(PAGE).await;
    carla.use_provider_of(&olivia);
    let ended = carla.confirm_at(&provider, &check).await;
    assert_eq!(ended.status, StatusCode::UNAUTHORIZED, "{}", ended.body);
    assert_eq!(carla.get(PAGE).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn roles_follow_the_provider() {
    let mut provider = OidcProvider::start();
    let (clock, world) = world_at_rest(&provider).await;
    let mut browser = Browser::new(&world);
    browser.sign_in_at(&provider, "carla").await;
    let new_service = "/dashboard/services/new";
    assert_eq!(browser.get(new_service).await.status, StatusCode::FORBIDDEN);
    provider.move_to("carla", &["sealward-policies"]);
    advance(&mut provider, &clock, &mut browser, HOUR).await;
    let check = browser.get(PAGE).await;
    browser.confirm_at(&provider, &check).await;
    browser.get(new_service).await.ok();
    // Without a group, the session ends.
    provider.move_to("carla", &[]);
    advance(&mut provider, &clock, &mut browser, HOUR).await;
    let check = browser.get(PAGE).await;
    let ended = browser.confirm_at(&provider, &check).await;
    assert_eq!(ended.status, StatusCode::FORBIDDEN, "{}", ended.body);
    assert_eq!(browser.get(PAGE).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn sessions_wait_for_a_provider_that_is_away() {
    let mut provider = OidcProvider::start();
    let (clock, world) = world_at_rest(&provider).await;
    let mut browser = Browser::new(&world);
    browser.sign_in_at(&provider, "carla").await;
    advance(&mut provider, &clock, &mut browser, HOUR).await;
    let check = browser.get(PAGE).await;
    let back = browser.checked_at(&provider, &check).await;
    provider.stop();
    let away = browser.get(&back).await;
    assert_eq!(away.status, StatusCode::SERVICE_UNAVAILABLE, "{}", away.body);
    assert_checked(&browser.get(PAGE).await);
}

/// Such an error says nothing about the person.
#[tokio::test]
async fn a_failure_of_the_provider_does_not_end_the_session() {
    let mut provider = OidcProvider::start();
    let (clock, world) = world_at_rest(&provider).await;
    let mut browser = Browser::new(&world);
    browser.sign_in_at(&provider, "carla").await;
    advance(&mut provider, &clock, &mut browser, HOUR).await;
    let start = browser.get(CHECK).await;
    let mut parameters = start.header("location").split(['?', '&']);
    let state = parameters.find(|it| it.starts_with("state=")).expect("a state");
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("error", "temporarily_unavailable").append_pair("iss", provider.issuer());
    let back = format!("/dashboard/sign-in/callback?{state}&{}", query.finish());
    assert_eq!(browser.get(&back).await.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_checked(&browser.get(PAGE).await);
}

#[tokio::test]
async fn sessions_of_admin_keys_need_no_check() {
    let mut provider = OidcProvider::start();
    let (clock, world) = world_at_rest(&provider).await;
    let mut browser = Browser::signed_in(&world).await;
    advance(&mut provider, &clock, &mut browser, HOUR * 2).await;
    browser.get(PAGE).await.ok();
}

/// A check that fails ends the session, so that only this site starts one.
#[tokio::test]
async fn a_link_of_another_site_starts_no_check() {
    let provider = OidcProvider::start();
    let (_, world) = world_at_rest(&provider).await;
    let mut browser = Browser::new(&world);
    browser.sign_in_at(&provider, "carla").await;
    for site in ["cross-site", "same-site"] {
        let answer = browser.follow(CHECK, site).await.ok();
        assert_eq!(answer.header("refresh"), "0; url=/dashboard", "{site}");
    }
    // Browsers withhold the cookie from another site.
    let mut signed_out = Browser::new(&world);
    let answer = signed_out.follow(CHECK, "cross-site").await.ok();
    assert_eq!(answer.header("refresh"), "0; url=/dashboard");
    for site in ["same-origin", "none"] {
        let answer = browser.follow(CHECK, site).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{site}");
        assert!(answer.header("location").contains("prompt=none"), "{site}");
    }
}

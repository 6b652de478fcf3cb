//! Sign-in, sessions and form tokens.

use std::time::Duration;

use axum::http::StatusCode;
use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};

use super::Browser;
use testkit::{PATIENCE, World, within};

const MINUTE: Duration = Duration::from_secs(60);

fn redirects_to_sign_in(answer: &testkit::Answer) -> bool {
    answer.status == StatusCode::SEE_OTHER
        && answer.header("location").starts_with("/dashboard/sign-in")
}

#[tokio::test]
async fn every_page_redirects_to_the_sign_in() {
    let world = World::new().await;
    let mut browser = Browser::new(&world);
    for path in ["/dashboard", "/dashboard/keys?use=enc", "/dashboard/nowhere"] {
        assert!(redirects_to_sign_in(&browser.get(path).await), "{path}");
    }
    let place = browser.get("/dashboard/keys?use=enc").await;
    let expected = "/dashboard/sign-in?to=%2Fdashboard%2Fkeys%3Fuse%3Denc";
    assert_eq!(place.header("location"), expected);
}

#[tokio::test]
async fn only_a_valid_admin_key_signs_in() {
    let world = World::new().await;
    let application = world.application("billing").await;
    let mut browser = Browser::new(&world);
    for key in ["", "nonsense", application.key.as_deref().unwrap()] {
        let refused = browser.sign_in(key).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
        assert!(refused.body.contains("This key is not accepted"));
    }
    let before = browser.cookie.clone();
    let response = browser.sign_in(world.admin_key()).await;
    assert_eq!(response.header("location"), "/dashboard");
    let cookie = response.header("set-cookie");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    assert_ne!(browser.cookie, before, "a new secret at the sign-in");
    browser.get("/dashboard").await.ok();
}

#[tokio::test]
async fn unauthenticated_forms_are_limited_in_size() {
    let world = World::new().await;
    let refused = Browser::new(&world).sign_in(&"x".repeat(10_000)).await;
    assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn sign_in_attempts_are_limited() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    let mut browser = Browser::new(&world);
    for _ in 0..20 {
        let refused = browser.sign_in("nonsense").await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    }
    let refused = browser.sign_in(world.admin_key()).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn a_sign_in_over_the_limit_is_recorded() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    // Successes use up the limit, because only 20 events of unauthenticated clients are recorded in a second.
    for _ in 0..20 {
        let response = Browser::new(&world).sign_in(world.admin_key()).await;
        assert_eq!(response.status, StatusCode::SEE_OTHER);
    }
    let refused = Browser::new(&world).sign_in(world.admin_key()).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    within(PATIENCE, async || {
        let reason = "SELECT count(*) FROM management_events
            WHERE action = 'sign_in_failed' AND actor = 'unauthenticated'
              AND after ->> 'reason' = 'too many requests'";
        let recorded: i64 = sqlx::query_scalar(reason).fetch_one(&world.pool).await.unwrap();
        recorded == 1
    })
    .await;
}

#[tokio::test]
async fn a_session_ends_on_expiry_sign_out_and_key_revocation() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock.clone(), Stage::Development).await;

    let mut idle = Browser::signed_in(&world).await;
    clock.advance(MINUTE * 14);
    idle.get("/dashboard/services").await.ok();
    clock.advance(MINUTE * 15);
    assert!(redirects_to_sign_in(&idle.get("/dashboard/services").await));

    let mut busy = Browser::signed_in(&world).await;
    for _ in 0..72 {
        busy.get("/dashboard/services").await.ok();
        clock.advance(MINUTE * 10);
    }
    assert!(redirects_to_sign_in(&busy.get("/dashboard/services").await), "after 12 hours");

    let mut leaving = Browser::signed_in(&world).await;
    let secret = leaving.cookie.clone();
    leaving.send("/dashboard/sign-out", &[]).await;
    leaving.cookie = secret;
    assert!(redirects_to_sign_in(&leaving.get("/dashboard/services").await));

    let mut replaced = Browser::signed_in(&world).await;
    let secret = replaced.cookie.clone();
    replaced.sign_in(world.admin_key()).await;
    replaced.get("/dashboard/services").await.ok();
    replaced.cookie = secret;
    assert!(redirects_to_sign_in(&replaced.get("/dashboard/services").await));

    let mut revoked = Browser::signed_in(&world).await;
    let keys = world.admin().get("/admin/api-keys").await.json();
    let own = keys["items"][0]["id"].as_str().unwrap();
    // The last owner key cannot be revoked.
    world.administrator(&["owner"]).await;
    world.admin().delete(&format!("/admin/api-keys/{own}")).await.gone();
    assert!(redirects_to_sign_in(&revoked.get("/dashboard/services").await));
}

#[tokio::test]
async fn a_form_without_its_token_is_refused() {
    let world = World::new().await;
    let mut browser = Browser::signed_in(&world).await;
    let mut other = Browser::new(&world);
    let foreign = other.get("/dashboard/sign-in").await.body;
    let foreign = foreign.split("name=\"form-token\" value=\"").nth(1).unwrap();
    let foreign = foreign.split('"').next().unwrap();
    for token in ["", "nonsense", foreign] {
        for path in [
            "/dashboard/services",
            "/dashboard/policies",
            "/dashboard/keys",
            "/dashboard/keys/import-parameters",
            "/dashboard/api-keys",
            "/dashboard/sign-out",
            "/dashboard/sign-in",
        ] {
            let refused = browser.send_with_token(path, &[("name", "x")], token).await;
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{path} {token}");
        }
    }
    browser.get("/dashboard/services").await.ok();
    let services = world.admin().get("/admin/services").await.json();
    assert_eq!(services["items"], serde_json::json!([]));
}

#[tokio::test]
async fn sign_ins_sign_outs_and_refused_forms_are_recorded() {
    let world = World::new().await;
    let mut browser = Browser::new(&world);
    browser.sign_in("nonsense").await;
    browser.sign_in(world.admin_key()).await;
    browser.send_with_token("/dashboard/services", &[], "wrong").await;
    browser.get("/dashboard/services").await.ok();
    browser.send("/dashboard/sign-out", &[]).await;
    let events = async || {
        sqlx::query_as::<_, (String, String, bool)>(
            "SELECT action, actor, resource_id IS NOT NULL FROM management_events
              WHERE action IN ('sign_in', 'sign_in_failed', 'sign_out', 'refuse') ORDER BY action",
        )
        .fetch_all(&world.pool)
        .await
        .unwrap()
    };
    let event = |action: &str, actor: &str, has_id| (action.to_owned(), actor.to_owned(), has_id);
    let expected = [
        event("refuse", "first", false),
        event("sign_in", "first", true),
        event("sign_in_failed", "unauthenticated", false),
        event("sign_out", "first", true),
    ];
    within(PATIENCE, async || events().await == expected).await;
}

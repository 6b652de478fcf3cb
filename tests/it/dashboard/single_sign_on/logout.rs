//! Logout by the provider (OpenID Connect Back-Channel Logout 1.0).

use axum::body::Body;
use axum::http::{Method, Request, header};
use serde_json::{Map, Value, json};

use super::{ADDRESS, MINUTE, world, world_at_rest};
use crate::dashboard::Browser;
use testkit::{Answer, OidcProvider, World};

const PAGE: &str = "/dashboard/keys";
const LOGOUT: &str = "/dashboard/backchannel-logout";
const FORM: &str = "application/x-www-form-urlencoded";

/// The claims of a logout of Carla, with others in place of some.
fn claims(others: &Value) -> Value {
    let mut claims = json!({
        "sub": "carla",
        "events": { "http://schemas.openid.net/event/backchannel-logout": {} },
    });
    let others: Map<String, Value> = others.as_object().expect("an object").clone();
    claims.as_object_mut().expect("an object").extend(others);
    claims
}

async fn log_out(world: &World, token: &str) -> Answer {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("logout_token", token);
    send(world, FORM, form.finish()).await
}

async fn send(world: &World, media: &str, body: String) -> Answer {
    let request = Request::builder().method(Method::POST).uri(LOGOUT);
    let request = request.header(header::CONTENT_TYPE, media);
    world.send(request.body(Body::from(body)).expect("a request")).await
}

#[track_caller]
fn assert_answered(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{}", answer.body);
    assert_eq!(answer.header("cache-control"), "no-store");
}

/// A browser where Carla is signed in.
async fn carla<'w>(world: &'w World, provider: &OidcProvider) -> Browser<'w> {
    let mut browser = Browser::new(world);
    browser.sign_in_at(provider, "carla").await;
    browser.get(PAGE).await.ok();
    browser
}

#[tokio::test]
async fn a_logout_ends_the_sessions_of_a_person_on_all_instances() {
    let mut provider = OidcProvider::start();
    let world = world(&provider).await;
    let other = world.another_admitting(provider.admin(ADDRESS)).await;
    let mut browsers = [carla(&world, &provider).await, carla(&other, &provider).await];
    let mut olivia = Browser::new(&world);
    olivia.sign_in_at(&provider, "olivia").await;
    let token = provider.signed(&claims(&json!({})));
    assert_answered(&log_out(&world, &token).await, 200);
    for browser in &mut browsers {
        assert_eq!(browser.get(PAGE).await.status, 303);
    }
    olivia.get(PAGE).await.ok();
    let events = world.admin().get("/admin/audit/management?action=sign_out").await.ok().json();
    let event = &events["items"][0];
    assert_eq!(event["actor"], "identity provider");
    assert_eq!(event["after"], json!({ "subject": "carla", "sessions": 2 }));
}

#[tokio::test]
async fn a_logout_of_a_session_ends_only_that_one() {
    let mut provider = OidcProvider::start();
    let world = world(&provider).await;
    let [mut one, mut other] = [carla(&world, &provider).await, carla(&world, &provider).await];
    let sid: String = sqlx::query_scalar(
        "SELECT at_provider FROM dashboard_sessions ORDER BY started_at LIMIT 1",
    )
    .fetch_one(&world.pool)
    .await
    .expect("the ID token names a session");
    let token = provider.signed(&claims(&json!({ "sub": null, "sid": sid })));
    assert_answered(&log_out(&world, &token).await, 200);
    assert_eq!(one.get(PAGE).await.status, 303);
    other.get(PAGE).await.ok();
    // Of another person, no session has this name.
    let of_other = claims(&json!({ "sub": "olivia", "sid": sid }));
    assert_answered(&log_out(&world, &provider.signed(&of_other)).await, 200);
    other.get(PAGE).await.ok();
}

/// A person can hold the redirect back and send it after the logout.
#[tokio::test]
async fn a_logout_ends_a_sign_in_that_is_not_finished() {
    for sid in [false, true] {
        let mut provider = OidcProvider::start();
        let world = world(&provider).await;
        let mut browser = carla(&world, &provider).await;
        let name: String = sqlx::query_scalar("SELECT at_provider FROM dashboard_sessions")
            .fetch_one(&world.pool)
            .await
            .expect("the ID token names a session");
        let mut held = Browser::new(&world);
        held.use_provider_of(&browser);
        let back = held.redirect_again_at(&provider).await;
        let others = if sid { json!({ "sub": null, "sid": name }) } else { json!({}) };
        assert_answered(&log_out(&world, &provider.signed(&claims(&others))).await, 200);
        assert_eq!(held.get(&back).await.status, 303);
        for browser in [&mut held, &mut browser] {
            assert_eq!(browser.get(PAGE).await.status, 303);
        }
        carla(&world, &provider).await;
    }
}

/// Who writes to the database can hide the row meanwhile.
#[tokio::test]
async fn a_logout_ends_a_session_whose_row_is_hidden() {
    for sid in [false, true] {
        let mut provider = OidcProvider::start();
        let world = world(&provider).await;
        let [mut one, mut olivia] = [carla(&world, &provider).await, Browser::new(&world)];
        olivia.sign_in_at(&provider, "olivia").await;
        let run = async |sql: &'static str| {
            sqlx::raw_sql(sql).execute(&world.pool).await.expect("a change");
        };
        let name =
            "SELECT at_provider FROM dashboard_sessions s JOIN people p ON p.id = s.person_id
                     WHERE p.subject = 'carla'";
        let name: String = sqlx::query_scalar(name).fetch_one(&world.pool).await.expect("a name");
        let others = if sid { json!({ "sub": null, "sid": name }) } else { json!({}) };
        run(
            "CREATE TABLE kept AS SELECT * FROM dashboard_sessions; DELETE FROM dashboard_sessions",
        )
        .await;
        assert_answered(&log_out(&world, &provider.signed(&claims(&others))).await, 200);
        run("INSERT INTO dashboard_sessions SELECT * FROM kept").await;
        assert_eq!(one.get(PAGE).await.status, 303);
        olivia.get(PAGE).await.ok();
    }
}

#[tokio::test]
async fn only_a_logout_token_of_the_provider_ends_a_session() {
    let mut provider = OidcProvider::start();
    let world = world(&provider).await;
    let mut browser = carla(&world, &provider).await;
    let now = world.clock.now().as_millis() / 1_000;
    for (wrong, others) in [
        ("another issuer", json!({ "iss": "https://evil.example" })),
        ("another audience", json!({ "aud": "https://sealward.test/admin" })),
        ("no audience", json!({ "aud": null })),
        ("no time", json!({ "iat": null })),
        ("the future", json!({ "iat": now + 3_600 })),
        ("long ago", json!({ "iat": now - 3_600 })),
        ("expired", json!({ "exp": now - 120 })),
        ("no identifier", json!({ "jti": null })),
        ("an identifier of another type", json!({ "jti": 7 })),
        ("no events", json!({ "events": null })),
        ("another event", json!({ "events": { "https://example.com/other": {} } })),
        (
            "an event of another type",
            json!({ "events": { "http://schemas.openid.net/event/backchannel-logout": true } }),
        ),
        ("a nonce", json!({ "nonce": "n" })),
        ("neither subject nor session", json!({ "sub": null })),
        ("an empty subject", json!({ "sub": "" })),
        ("a session of another type", json!({ "sid": 7 })),
        ("a session with a NUL", json!({ "sid": "s\0" })),
    ] {
        let token = provider.signed(&claims(&others));
        let refused = log_out(&world, &token).await;
        assert_eq!(refused.status, 400, "{wrong}");
        assert_answered(&refused, 400);
    }
    let token = provider.signed(&claims(&json!({})));
    let (signed, _) = token.rsplit_once('.').expect("a token");
    assert_answered(&log_out(&world, &format!("{signed}.{}", "A".repeat(342))).await, 400);
    assert_answered(&log_out(&world, &provider.tokens("carla").await.id_token).await, 400);
    assert_answered(&log_out(&world, "nonsense").await, 400);
    browser.get(PAGE).await.ok();
    assert_answered(&log_out(&world, &token).await, 200);
    assert_eq!(browser.get(PAGE).await.status, 303);
}

#[tokio::test]
async fn a_logout_token_counts_once() {
    let mut provider = OidcProvider::start();
    let world = world(&provider).await;
    let other = world.another_admitting(provider.admin(ADDRESS)).await;
    let token = provider.signed(&claims(&json!({})));
    assert_answered(&log_out(&world, &token).await, 200);
    let mut browser = carla(&world, &provider).await;
    for instance in [&world, &other] {
        assert_answered(&log_out(instance, &token).await, 400);
    }
    browser.get(PAGE).await.ok();
}

#[tokio::test]
async fn a_logout_token_is_valid_for_ten_minutes() {
    let mut provider = OidcProvider::start();
    let (clock, world) = world_at_rest(&provider).await;
    let [early, late] = [(); 2].map(|()| provider.signed(&claims(&json!({}))));
    clock.advance(MINUTE * 10);
    assert_answered(&log_out(&world, &early).await, 200);
    clock.advance(MINUTE * 2);
    assert_answered(&log_out(&world, &late).await, 400);
}

#[tokio::test]
async fn a_logout_is_a_form() {
    let mut provider = OidcProvider::start();
    let world = world(&provider).await;
    let token = provider.signed(&claims(&json!({})));
    let json = json!({ "logout_token": token }).to_string();
    assert_answered(&send(&world, "application/json", json).await, 400);
    assert_answered(&send(&world, FORM, String::new()).await, 400);
    assert_answered(
        &send(&world, FORM, format!("logout_token={}", "A".repeat(65 * 1024))).await,
        400,
    );
    assert_answered(
        &send(&world, &format!("{FORM}; charset=utf-8"), format!("logout_token={token}")).await,
        200,
    );
}

#[tokio::test]
async fn logouts_are_limited_by_address() {
    let provider = OidcProvider::start();
    let (_, world) = world_at_rest(&provider).await;
    for _ in 0..1_000 {
        assert_eq!(send(&world, FORM, String::new()).await.status, 400);
    }
    assert_eq!(send(&world, FORM, String::new()).await.status, 429);
}

#[tokio::test]
async fn without_a_provider_nobody_is_logged_out() {
    let world = World::new().await;
    assert_eq!(send(&world, FORM, String::new()).await.status, 404);
}

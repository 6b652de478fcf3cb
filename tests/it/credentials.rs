//! Every route against every kind of credential.
//!
//! The test reads the routes from the router's source and the methods from its responses, so a new
//! route changes the snapshot.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::slice;
use std::time::Duration;

use axum::http::Method;
use engine::auth::{ApiKeySecret, ApiKeyType, Role};
use engine::settings::Stage;
use formats::clock::{Clock, Entropy, Timestamp};
use secrecy::ExposeSecret as _;
use serde_json::json;

use testkit::{Answer, OidcProvider, SigningKey, TokenIssuer, World};

const ROUTER: &str = include_str!("../../src/http/router.rs");

#[tokio::test]
async fn each_route_accepts_only_its_credentials() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock.clone(), Stage::Staging).await;
    let bad = bad_credentials(&world, &clock).await;
    let test_key = key(&world, "good", json!({})).await;
    let mut good = vec![("test", vec![bearer(&test_key)])];
    for role in Role::ALL {
        good.push((role.name(), vec![bearer(&admin_key(&world, role).await)]));
    }

    let mut grid = String::new();
    let names = bad.iter().chain(&good).map(|(name, _)| *name);
    let names: Vec<&str> = names.collect();
    writeln!(grid, "{:<42}{}", "", names.join(" ")).unwrap();
    for (method, path) in routes(&world).await {
        let mut row = format!("{:<42}", format!("{method} {path}"));
        let mut refusals = BTreeSet::new();
        for (name, lines) in bad.iter().chain(&good) {
            let answer = ask(&world, &method, &path, lines).await;
            let width = name.len() + 1;
            write!(row, "{:<width$}", answer.status.as_u16()).unwrap();
            if answer.status == 401 {
                assert_eq!(answer.header("www-authenticate"), "Bearer");
                refusals.insert(answer.body);
            }
        }
        assert!(refusals.len() <= 1, "{row}: {refusals:?}");
        writeln!(grid, "{}", row.trim_end()).unwrap();
    }
    insta::assert_snapshot!(grid);
}

/// The access token of a person allows what an admin key with the same roles allows.
#[tokio::test]
async fn each_route_accepts_people_like_keys_with_their_roles() {
    let provider = OidcProvider::start();
    let admin = provider.admin("http://127.0.0.1:8080");
    let world = World::with_admin(Clock::system(), admin).await;
    let mut pairs = Vec::new();
    for (person, role) in [
        ("olivia", Role::Owner),
        ("carla", Role::Custodian),
        ("paula", Role::PolicyAdmin),
        ("amir", Role::Auditor),
    ] {
        let token = provider.tokens(person).await.access_token;
        let key = admin_key(&world, role).await;
        pairs.push((person, bearer(&token), bearer(&key)));
    }
    for (method, path) in routes(&world).await {
        for (person, token, key) in &pairs {
            let [of_token, of_key] =
                [token, key].map(|line| ask(&world, &method, &path, slice::from_ref(line)));
            let (of_token, of_key) = (of_token.await, of_key.await);
            let place = format!("{method} {path} {person}: {}", of_token.body);
            assert_eq!(of_token.status, of_key.status, "{place}");
            if path.starts_with("/api/v1/") && path != "/api/v1/health" {
                assert_eq!(of_token.status, 403, "{place}");
            }
        }
    }
}

/// A workload is no administrator, whatever its credential.
#[tokio::test]
async fn no_management_route_accepts_a_workload() {
    let key = SigningKey::ec("one");
    let issuer = TokenIssuer::publishing(&[&key]).await;
    let world = World::with_auth(Clock::system(), issuer.auth()).await;
    let service = world.service("billing").await;
    let matching = json!({ "issuer": issuer.name(), "subject": "job" });
    let body = json!({ "name": "job", "serviceId": service, "match": matching });
    let identity = world.admin().post("/admin/identities", body).await;
    identity.created();
    let token = bearer(&key.token(&issuer.claims("job", world.clock.now())));
    for (method, path) in routes(&world).await {
        let answer = ask(&world, &method, &path, slice::from_ref(&token)).await;
        if path.starts_with("/admin/") {
            assert_eq!(answer.status, 403, "{method} {path}: {}", answer.body);
        } else {
            let is_refused = matches!(answer.status.as_u16(), 401 | 403);
            assert!(!is_refused, "{method} {path}: {}", answer.body);
        }
    }
}

/// A role adds nothing to a credential that is not valid.
#[tokio::test]
async fn invalid_admin_keys_are_refused_whatever_their_roles() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock.clone(), Stage::Staging).await;
    let mut bad = Vec::new();
    for role in Role::ALL {
        let revoked = world.administrator(&[role.name()]).await;
        world.revoke(&revoked).await;
        bad.push(revoked.key.unwrap());
        let expiry = clock.now().plus(Duration::from_secs(1)).to_string();
        for members in [json!({ "expiresAt": expiry }), json!({ "allowedCidrs": ["192.0.2.0/24"] })]
        {
            let mut body = json!({ "name": "bad", "type": "admin", "roles": [role] });
            let members = members.as_object().unwrap().clone();
            body.as_object_mut().unwrap().extend(members);
            let created = world.admin().post("/admin/api-keys", body).await;
            bad.push(created.created().text("secret"));
        }
    }
    clock.advance(Duration::from_secs(1));
    for (method, path) in routes(&world).await {
        if !path.starts_with("/admin/") {
            continue;
        }
        for key in &bad {
            let answer = ask(&world, &method, &path, &[bearer(key)]).await;
            assert_eq!(answer.status, 401, "{method} {path}: {}", answer.body);
        }
    }
}

#[tokio::test]
async fn failed_authentication_is_limited_but_valid_keys_still_work() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock.clone(), Stage::Development).await;
    let anonymous = world.anonymous();
    for _ in 0..1_000 {
        let refused = anonymous.get("/admin/services").await;
        refused.refused(401, "AUTHENTICATION_FAILED");
    }
    let limited = anonymous.get("/admin/services").await;
    let limited = limited.refused(429, "RATE_LIMIT_EXCEEDED");
    assert_eq!(limited.header("retry-after"), "1");
    world.admin().get("/admin/services").await.ok();
    clock.advance(Duration::from_millis(20));
    let refused = anonymous.get("/admin/services").await;
    refused.refused(401, "AUTHENTICATION_FAILED");
    let limited = anonymous.get("/admin/services").await;
    limited.refused(429, "RATE_LIMIT_EXCEEDED");
}

#[tokio::test]
async fn administrators_have_a_rate_limit_and_its_headers() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    let admin = world.admin();
    let first = admin.get("/admin/services").await.ok();
    assert_eq!(first.header("x-ratelimit-limit"), "1000");
    assert_eq!(first.header("x-ratelimit-remaining"), "999");
    assert_eq!(first.header("x-ratelimit-reset"), "1800000001");
    for _ in 0..999 {
        // Refused requests count too and have the headers.
        let missing = admin.get("/admin/services/x").await;
        missing.header("x-ratelimit-remaining");
    }
    let limited = admin.get("/admin/services").await;
    let limited = limited.refused(429, "RATE_LIMIT_EXCEEDED");
    assert_eq!(limited.header("x-ratelimit-remaining"), "0");
    assert_eq!(limited.header("retry-after"), "1");
}

/// The answer of an extractor would have another format.
#[tokio::test]
async fn a_path_that_cannot_be_decoded_is_not_found() {
    let world = World::new().await;
    let application = world.application("alice").await;
    let mut asked = 0;
    for (method, path) in routes(&world).await {
        let segments = path.split('/').map(|it| if it.starts_with('{') { "%ff" } else { it });
        let undecodable = segments.collect::<Vec<_>>().join("/");
        if undecodable == path {
            continue;
        }
        let key = match path.starts_with("/admin/") {
            true => world.admin_key(),
            false => application.key.as_ref().unwrap(),
        };
        let answer = ask(&world, &method, &undecodable, &[bearer(key)]).await;
        assert_eq!(answer.status, 404, "{method} {path}: {}", answer.body);
        assert_eq!(answer.header("content-type"), "application/json", "{method} {path}");
        let code = answer.json()["error"]["code"].clone();
        assert!(code.as_str().is_some_and(|code| code.ends_with("NOT_FOUND")), "{path}: {code}");
        asked += 1;
    }
    assert!(asked > 20, "{asked}");
}

/// The `Authorization` lines of each kind of bad credential.
async fn bad_credentials(world: &World, clock: &Clock) -> Vec<(&'static str, Vec<String>)> {
    let unknown = ApiKeySecret::generate(&Entropy::system(), ApiKeyType::Test);
    let unknown = unknown.expose_secret().to_owned();
    let good = key(world, "twice", json!({})).await;
    let mut typo = good.clone();
    typo.replace_range(20..21, if &typo[20..21] == "a" { "b" } else { "a" });

    let revoked = world.application("revoked").with("type", json!("test"));
    let revoked = revoked.await;
    world.revoke(&revoked).await;
    let expiry = clock.now().plus(Duration::from_secs(1)).to_string();
    let expired = key(world, "expired", json!({ "expiresAt": expiry })).await;
    clock.advance(Duration::from_secs(1));
    let live = key(world, "live", json!({ "type": "live" })).await;
    let restricted = json!({ "allowedCidrs": ["192.0.2.0/24"] });
    let restricted = key(world, "elsewhere", restricted).await;
    vec![
        ("none", Vec::new()),
        ("empty", vec![String::new()]),
        ("bare", vec![good.clone()]),
        ("basic", vec![format!("Basic {good}")]),
        ("typo", vec![bearer(&typo)]),
        ("twice", vec![bearer(&good), bearer(&good)]),
        ("unknown", vec![bearer(&unknown)]),
        ("revoked", vec![bearer(revoked.key.as_ref().unwrap())]),
        ("expired", vec![bearer(&expired)]),
        ("live", vec![bearer(&live)]),
        ("elsewhere", vec![bearer(&restricted)]),
    ]
}

/// Creates an API key of an application with these members.
async fn key(world: &World, name: &str, members: serde_json::Value) -> String {
    let mut application = world.application(name).with("type", json!("test"));
    for (member, value) in members.as_object().unwrap() {
        application = application.with(member, value.clone());
    }
    application.await.key.unwrap()
}

async fn admin_key(world: &World, role: Role) -> String {
    let administrator = world.administrator(&[role.name()]).await;
    administrator.key.unwrap()
}

fn bearer(key: &str) -> String {
    format!("Bearer {key}")
}

/// All methods of all paths of the service.
pub(crate) async fn routes(world: &World) -> Vec<(Method, String)> {
    let paths = ROUTER.split('"').skip(1).step_by(2);
    let paths: BTreeSet<&str> = paths.filter(|text| text.starts_with('/')).collect();
    let mut routes = Vec::new();
    for path in paths {
        // No route supports this method, so the response lists the supported methods.
        let refused = world.anonymous().send_text(Method::TRACE, path, "").await;
        let refused = refused.refused(405, "METHOD_NOT_ALLOWED");
        for method in refused.header("allow").split(',') {
            routes.push((method.trim().parse().unwrap(), path.to_owned()));
        }
    }
    routes.retain(|(method, _)| *method != Method::HEAD);
    assert!(routes.len() > 25, "{routes:?}");
    routes
}

async fn ask(world: &World, method: &Method, path: &str, lines: &[String]) -> Answer {
    let mut client = world.anonymous().with("x-request-id", "grid");
    for line in lines {
        client = client.with("authorization", line);
    }
    let body = if *method == Method::GET || *method == Method::DELETE { "" } else { "{}" };
    client.send_text(method.clone(), path, body).await
}

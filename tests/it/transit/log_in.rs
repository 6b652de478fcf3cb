//! Log-ins.

use std::time::Duration;

use formats::clock::{Clock, Timestamp};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Site, Vault, refused};
use testkit::{SigningKey, TokenIssuer, World};

/// The `auth` of a log-in.
async fn logged_in(vault: &Vault<'_>, path: &str, body: Value) -> Value {
    let answer = vault.write(&format!("auth/{path}"), body).await.ok().json();
    assert_eq!(answer["data"], Value::Null);
    answer["auth"].clone()
}

#[tokio::test]
async fn an_api_key_logs_in_as_an_app_role_and_as_a_password() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let anonymous = Vault(site.world.anonymous());
    for (path, body) in [
        ("approle/login", json!({ "role_id": "anything", "secret_id": site.token })),
        ("approle/login", json!({ "role_id": site.service, "secret_id": site.token })),
        ("team/a/approle/login", json!({ "role_id": "x", "secret_id": site.token })),
        ("userpass/login/somebody", json!({ "password": site.token })),
        ("ldap/login/somebody", json!({ "password": site.token })),
    ] {
        let auth = logged_in(&anonymous, path, body).await;
        let expected = json!({ "client_token": site.token, "accessor": "", "policies": ["default"],
            "token_policies": ["default"], "metadata": {}, "lease_duration": 900, "renewable": true,
            "entity_id": "", "token_type": "service", "orphan": true, "mfa_requirement": null,
            "num_uses": 0 });
        assert_eq!(auth, expected, "{path}");
    }
    // A token that a client sends along does not matter.
    let with_token = anonymous.with("x-vault-token", "nonsense");
    let body = json!({ "role_id": "x", "secret_id": site.token });
    let auth = logged_in(&with_token, "approle/login", body).await;
    let vault = Vault::of(&site.world, auth["client_token"].as_str().unwrap());
    vault.encrypted("orders", "hello").await;
}

#[tokio::test]
async fn the_lease_of_an_api_key_ends_with_it() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock.clone(), engine::settings::Stage::Development).await;
    let end = clock.now().plus(Duration::from_secs(100));
    let alice = world.application("alice").with("expiresAt", json!(end)).await;
    let token = alice.key.clone().unwrap();
    let body = json!({ "role_id": "x", "secret_id": token });
    let anonymous = Vault(world.anonymous());
    let lease = async || {
        logged_in(&anonymous, "approle/login", body.clone()).await["lease_duration"].clone()
    };
    assert_eq!(lease().await, 100);
    clock.advance(Duration::from_millis(99_500));
    assert_eq!(lease().await, 1);
    clock.advance(Duration::from_secs(1));
    let answer = anonymous.write("auth/approle/login", body.clone()).await;
    refused(&answer, 400, &["invalid role or secret ID"]);
}

#[tokio::test]
async fn a_jwt_logs_in_with_what_is_left_of_it() {
    let key = SigningKey::ec("one");
    let issuer = TokenIssuer::publishing(&[&key]).await;
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::with_auth(clock.clone(), issuer.auth()).await;
    let service = world.service("billing").await;
    let matching = json!({ "issuer": issuer.name(), "subject": "job" });
    let body = json!({ "name": "job", "serviceId": service, "match": matching });
    world.admin().post("/admin/identities", body).await.created();
    let now = clock.now().as_millis() / 1_000;
    let mut claims = issuer.claims("job", clock.now());
    claims["iat"] = json!(now);
    claims["exp"] = json!(now + 600);
    let token = key.token(&claims);
    let anonymous = Vault(world.anonymous());
    for mount in ["jwt", "kubernetes"] {
        let body = json!({ "role": "any", "jwt": token });
        let auth = logged_in(&anonymous, &format!("{mount}/login"), body).await;
        assert_eq!(auth["client_token"], json!(token));
        assert_eq!(auth["lease_duration"], 600);
    }
    clock.advance(Duration::from_secs(590));
    let vault = Vault::of(&world, &token);
    let renewed = vault.write("auth/token/renew-self", json!({ "increment": 0 })).await.ok().json();
    assert_eq!(renewed["auth"]["lease_duration"], 10);
    let known = super::data(vault.read("auth/token/lookup-self").await);
    assert_eq!((&known["ttl"], &known["creation_ttl"]), (&json!(10), &json!(600)));
    // A token that has ended still counts for a minute, but is not renewed.
    clock.advance(Duration::from_secs(30));
    vault.read("auth/token/lookup-self").await.ok();
    let answer = vault.write_nothing("auth/token/renew-self").await;
    refused(&answer, 403, &["permission denied"]);
    let body = json!({ "role": "any", "jwt": token });
    let answer = anonymous.write("auth/jwt/login", body).await;
    refused(&answer, 400, &["error validating token: the token is not valid here"]);
}

#[tokio::test]
async fn wrong_log_ins_are_refused_after_a_second() {
    let site = Site::new().await;
    let other = site.world.service("other").await;
    let anonymous = Vault(site.world.anonymous());
    let requests = [
        (
            "approle/login",
            json!({ "role_id": "x", "secret_id": "wrong" }),
            "invalid role or secret ID",
        ),
        (
            "approle/login",
            json!({ "role_id": other, "secret_id": site.token }),
            "invalid role or secret ID",
        ),
        (
            "approle/login",
            json!({ "role_id": other.to_uppercase(), "secret_id": site.token }),
            "invalid role or secret ID",
        ),
        ("approle/login", json!({ "secret_id": site.token }), "missing role_id"),
        ("jwt/login", json!({ "jwt": "a.b.c" }), "missing role"),
        (
            "jwt/login",
            json!({ "role": "r", "jwt": "a.b.c" }),
            "error validating token: the token is not valid here",
        ),
        ("userpass/login/me", json!({ "password": "wrong" }), "invalid username or password"),
        (
            "cert/login",
            json!({ "name": "web" }),
            "log in with an AppRole, a password or a JWT; a client certificate needs no log-in",
        ),
    ];
    let began = Instant::now();
    let answers = requests.iter().map(|(path, body, _)| {
        let (anonymous, path) = (&anonymous, format!("auth/{path}"));
        async move { anonymous.write(&path, body.clone()).await }
    });
    let answers = futures_util::future::join_all(answers).await;
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
    for (answer, (path, _, text)) in answers.iter().zip(&requests) {
        assert_eq!(answer.json()["errors"], json!([text]), "{path}");
        refused(answer, 400, &[text]);
    }
}

#[tokio::test]
async fn a_frozen_service_neither_logs_in_nor_renews() {
    let site = Site::new().await;
    let path = format!("/admin/services/{}", site.service);
    site.world.admin().patch(&path, json!({ "status": "frozen" })).await.ok();
    let body = json!({ "role_id": "x", "secret_id": site.token });
    let answer = Vault(site.world.anonymous()).write("auth/approle/login", body).await;
    refused(&answer, 403, &["permission denied"]);
    let answer = site.vault().write_nothing("auth/token/renew-self").await;
    refused(&answer, 403, &["permission denied"]);
    // Look-ups go on.
    site.vault().read("auth/token/lookup-self").await.ok();
}

#[tokio::test]
async fn a_failed_log_in_is_a_security_event() {
    let site = Site::new().await;
    let anonymous = Vault(site.world.anonymous()).with("x-request-id", "bad-login");
    anonymous.write("auth/approle/login", json!({ "role_id": "x", "secret_id": "wrong" })).await;
    let recorded = async || {
        let path = "/admin/audit/management?requestId=bad-login";
        let events = site.world.admin().get(path).await.ok().json();
        events["items"].as_array().unwrap().len() == 1
    };
    testkit::within(testkit::PATIENCE, recorded).await;
}

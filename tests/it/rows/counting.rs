//! Rows that were changed, whose seals were removed, and that were put back.

use serde_json::json;
use sqlx::AssertSqlSafe;

use super::Intruder;
use testkit::{Client, PATIENCE, UNPROTECT, World, jwe, within};

/// What an application sees while a row does not count.
struct Case {
    table: &'static str,
    /// A change that decides something.
    change: &'static str,
    /// A change of the same row by an administrator: path and body.
    patch: fn(&Fixture<'_>) -> (String, serde_json::Value),
    /// The status and the code of `/protect`.
    refusal: (u16, &'static str),
}

struct Fixture<'w> {
    application: Client<'w>,
    service: String,
    policy: String,
    key: String,
}

const CASES: [Case; 4] = [
    Case {
        table: "services",
        change: "UPDATE services SET tier = 'professional'",
        patch: |fixture| (fixture.service.clone(), json!({ "publishKeys": true })),
        refusal: (401, "AUTHENTICATION_FAILED"),
    },
    Case {
        table: "policies",
        change: "UPDATE policies SET require_binding = true",
        patch: |fixture| (fixture.policy.clone(), json!({ "name": "other" })),
        refusal: (404, "POLICY_NOT_FOUND"),
    },
    Case {
        table: "keys",
        change: "UPDATE keys SET public_key = (SELECT public_key FROM kept_keys WHERE name = 'other')",
        patch: |fixture| (fixture.key.clone(), json!({ "name": "renamed" })),
        refusal: (500, "DESTINATION_KEY_NOT_FOUND"),
    },
    Case {
        table: "api_keys",
        change: "UPDATE api_keys SET allowed_operations = NULL, name = 'more'",
        patch: |fixture| (fixture.application.key_path(), json!({ "name": "renamed" })),
        refusal: (401, "AUTHENTICATION_FAILED"),
    },
];

async fn arranged(world: &World) -> Fixture<'_> {
    let (destination, application) = world.bound_application().await;
    let other = world.service("other").await;
    let made = json!({ "serviceId": other, "name": "other", "use": "enc", "algorithm": "P-256",
        "generate": true });
    world.admin().post("/admin/keys", made).await.created();
    Fixture {
        service: format!("/admin/services/{}", application.service.as_ref().expect("a service")),
        policy: format!("/admin/policies/{}", destination.policy_id),
        key: format!("/admin/keys/{}", destination.key),
        application,
    }
}

/// Waits until `/protect` is refused like this.
async fn refused(fixture: &Fixture<'_>, case: &Case) {
    let (status, code) = case.refusal;
    within(PATIENCE, async || {
        let answer = fixture.application.protect(json!(1)).await;
        answer.status == status && answer.json()["error"]["code"] == code
    })
    .await;
}

async fn protects(fixture: &Fixture<'_>) {
    within(PATIENCE, async || fixture.application.protect(json!(1)).await.status == 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_row_does_not_count_until_it_is_as_before() {
    for case in &CASES {
        let world = World::new().await;
        let fixture = arranged(&world).await;
        let intruder = Intruder::of(&world);
        protects(&fixture).await;
        intruder.keep(&world, case.table).await;
        intruder.run(case.change).await;
        refused(&fixture, case).await;
        intruder.put_back(case.table).await;
        protects(&fixture).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_without_a_seal_does_not_count() {
    for case in &CASES {
        let world = World::new().await;
        let fixture = arranged(&world).await;
        let intruder = Intruder::of(&world);
        intruder.run(&format!("UPDATE {} SET seal = NULL", case.table)).await;
        refused(&fixture, case).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_was_put_back_does_not_count() {
    for case in &CASES {
        let world = World::new().await;
        let fixture = arranged(&world).await;
        let intruder = Intruder::of(&world);
        intruder.keep(&world, case.table).await;
        let (path, change) = (case.patch)(&fixture);
        world.admin().put(&path, change).await.ok();
        protects(&fixture).await;
        intruder.put_back(case.table).await;
        refused(&fixture, case).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_under_another_identifier_does_not_count() {
    let world = World::new().await;
    let fixture = arranged(&world).await;
    let intruder = Intruder::of(&world);
    // No row refers to this one.
    intruder.run("UPDATE api_keys SET id = gen_random_uuid() WHERE type = 'live'").await;
    refused(&fixture, &CASES[3]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inserted_api_key_authenticates_nobody() {
    let world = World::new().await;
    let secret = engine::auth::ApiKeySecret::generate(
        &formats::clock::Entropy::system(),
        engine::auth::ApiKeyType::Admin,
    );
    let digest: String =
        secret.at_rest().as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let text = secrecy::ExposeSecret::expose_secret(&secret).to_owned();
    Intruder::of(&world)
        .run(&format!(
            "INSERT INTO api_keys (id, name, type, roles, digest, last_four, created_at, updated_at, seal)
             SELECT gen_random_uuid(), 'owner', 'admin', '{{owner}}', decode('{digest}', 'hex'), 'abcd',
                    now(), now(), seal FROM api_keys LIMIT 1"
        ))
        .await;
    let refused = world.client(&text).get("/admin/services").await;
    refused.refused(401, "AUTHENTICATION_FAILED");
}

/// The envelope names a policy that was made here, and nobody knows any more what it allows.
#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_of_a_lost_policy_stays_closed() {
    let world = World::new().await;
    let (destination, application) = world.bound_application().await;
    let envelope = jwe(&application.protect(json!(1)).await);
    let other = json!({ "name": "other", "destinationServiceId": destination.service,
        "alg": "ECDH-ES+A256KW", "allowedServiceIds": ["*"] });
    let other = world.admin().post("/admin/policies", other).await.created().text("policyNumber");
    let body = json!({ "jwe": envelope, "policyNumber": other });
    application.post(UNPROTECT, body.clone()).await.ok();
    let sql =
        format!("UPDATE policies SET seal = NULL WHERE policy_number = '{}'", destination.policy);
    Intruder::of(&world).run(&sql).await;
    within(PATIENCE, async || application.post(UNPROTECT, body.clone()).await.status == 403).await;
    let refused = application.post(UNPROTECT, body.clone()).await;
    refused.refused(403, "OPERATION_NOT_ALLOWED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_ended_is_not_put_back() {
    let world = World::new().await;
    let intruder = Intruder::of(&world);
    let mut browser = crate::dashboard::Browser::signed_in(&world).await;
    intruder.keep(&world, "dashboard_sessions").await;
    browser.get("/dashboard").await.ok();
    let cookie = browser.cookie.clone();
    browser.send("/dashboard/sign-out", &[]).await;
    intruder.run("INSERT INTO dashboard_sessions SELECT * FROM kept_dashboard_sessions").await;
    browser.cookie = cookie;
    within(PATIENCE, async || browser.get("/dashboard").await.status == 303).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_away_at_its_sign_out_is_not_put_back() {
    let world = World::new().await;
    let intruder = Intruder::of(&world);
    let mut browser = crate::dashboard::Browser::signed_in(&world).await;
    intruder.keep(&world, "dashboard_sessions").await;
    let cookie = browser.cookie.clone();
    intruder.run("DELETE FROM dashboard_sessions").await;
    browser.send("/dashboard/sign-out", &[]).await;
    intruder.run("INSERT INTO dashboard_sessions SELECT * FROM kept_dashboard_sessions").await;
    // Another instance remembers nothing of the session.
    let other = world.another().await;
    let mut elsewhere = crate::dashboard::Browser::new(&other);
    elsewhere.cookie = cookie;
    assert_eq!(elsewhere.get("/dashboard/services").await.status, 303);
}

/// The end of a lock does not give back what the lock ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_away_at_the_end_of_a_lock_is_not_put_back() {
    let world = World::new().await;
    let (admin, intruder) = (world.admin(), Intruder::of(&world));
    let body = json!({ "name": "n", "type": "admin", "person": "ada" });
    let key = admin.post("/admin/api-keys", body).await.created().text("secret");
    let mut browser = crate::dashboard::Browser::new(&world);
    browser.sign_in(&key).await;
    browser.get("/dashboard/services").await.ok();
    intruder.keep(&world, "dashboard_sessions").await;
    intruder.run("DELETE FROM dashboard_sessions").await;
    let people = admin.get("/admin/people").await.ok().json();
    let path = format!("/admin/people/{}", people["items"][0]["id"].as_str().expect("an id"));
    admin.post(&format!("{path}/lock"), json!({ "reason": "r" })).await.ok();
    admin.post_nothing(&format!("{path}/unlock")).await.ok();
    intruder.run("INSERT INTO dashboard_sessions SELECT * FROM kept_dashboard_sessions").await;
    assert_eq!(browser.get("/dashboard/services").await.status, 303);
}

/// If an entry that takes nothing away from a session left it valid, the entry of its end would have no place,
/// and the row could be put back.
#[tokio::test(flavor = "multi_thread")]
async fn an_entry_of_another_kind_ends_a_session() {
    let world = World::new().await;
    let mut browser = crate::dashboard::Browser::signed_in(&world).await;
    browser.get("/dashboard").await.ok();
    Intruder::of(&world)
        .run(
            "INSERT INTO revisions SELECT 'dashboard_sessions', id, revision + 1, 'locked'
               FROM dashboard_sessions",
        )
        .await;
    assert_eq!(browser.get("/dashboard").await.status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_key_does_not_get_its_attempts_back() {
    let world = World::new().await;
    let intruder = Intruder::of(&world);
    let mechanism = json!({ "mechanism": "RSA_OAEP_SHA1_AES_KWP" });
    let made = world.admin().post("/admin/keys/import-parameters", mechanism).await;
    let service = world.service("importing").await;
    let import = json!({ "serviceId": service, "algorithm": "AES-256", "wrappedKey": {
        "importKeyId": made.text("importKeyId"), "mechanism": "RSA_OAEP_SHA1_AES_KWP",
        "ciphertext": "AAAA" } });
    intruder.keep(&world, "import_keys").await;
    world.admin().post("/admin/keys", import.clone()).await;
    let attempts: i32 = sqlx::query_scalar(AssertSqlSafe("SELECT attempts FROM import_keys"))
        .fetch_one(&world.pool)
        .await
        .expect("the import key");
    assert_eq!(attempts, 1);
    intruder.put_back("import_keys").await;
    let refused = world.admin().post("/admin/keys", import).await;
    refused.invalid(&[("wrappedKey.importKeyId", "unknown")]);
}

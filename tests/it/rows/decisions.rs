//! Rows that do not count for a moment, while somebody decides: with the login of the service in hand.

use formats::clock::Clock;
use serde_json::json;

use super::Intruder;
use testkit::{PATIENCE, Process, SigningKey, Site, TokenIssuer, World, within};

/// The object of a key is not for sale while its record is away.
#[tokio::test]
async fn nobody_adopts_the_object_of_a_key_whose_record_was_taken_away() {
    let world = World::new().await;
    let (victim, thief) = (world.service("victim").await, world.service("thief").await);
    let body = json!({ "serviceId": victim, "generate": true, "algorithm": "AES-256" });
    world.admin().post("/admin/keys", body).await.created();
    let id: uuid::Uuid =
        sqlx::query_scalar("SELECT id FROM keys").fetch_one(&world.pool).await.expect("a key");
    Intruder::of(&world).run("DELETE FROM key_presence; DELETE FROM keys").await;
    let object = json!({ "ckaId": id.simple().to_string() });
    let adoption = json!({ "serviceId": thief, "tokenObject": object });
    let refused = world.admin().post("/admin/keys", adoption).await;
    refused.refused(400, "INVALID_REQUEST");
}

#[tokio::test]
async fn a_credential_is_bound_to_a_policy_whose_row_counts() {
    let world = World::new().await;
    let (destination, _) = world.bound_application().await;
    let evil = world.service("evil").await;
    let body = json!({ "name": "evil", "policyNumber": "EVIL", "destinationServiceId": evil,
        "allowedServiceIds": ["*"] });
    world.admin().post("/admin/policies", body).await.created();
    let application = world.service("application").await;
    let number = &destination.policy;
    let swap = format!(
        "UPDATE policies SET policy_number = 'kept' WHERE policy_number = '{number}';
         UPDATE policies SET policy_number = '{number}' WHERE policy_number = 'EVIL'"
    );
    Intruder::of(&world).run(&swap).await;
    let body = json!({ "name": "app", "type": "live", "serviceId": application,
        "policyNumber": number });
    let refused = world.admin().post("/admin/api-keys", body).await;
    refused.invalid(&[("policyNumber", "unknown")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_key_that_was_away_while_its_service_was_deleted_is_refused() {
    let world = World::new().await;
    let old = world.application("old").await;
    old.get("/api/v1/caller").await.ok();
    let intruder = Intruder::of(&world);
    intruder.run("UPDATE api_keys SET revoked_at = now() WHERE type = 'live'").await;
    let service = format!("/admin/services/{}", old.service.as_ref().expect("a service"));
    world.admin().delete(&service).await.gone();
    intruder.run("UPDATE api_keys SET revoked_at = NULL WHERE type = 'live'").await;
    let second = world.another().await;
    let elsewhere = second.client(old.key.as_ref().expect("a key"));
    elsewhere.get("/api/v1/caller").await.refused(401, "AUTHENTICATION_FAILED");
}

/// Queries compare the text of a row, and its seal covers the value.
#[tokio::test]
async fn another_spelling_of_a_value_does_not_count() {
    let world = World::new().await;
    let service = world.service("shop").await;
    let fingerprint = "0f".repeat(32);
    let body = json!({ "name": "n", "serviceId": service,
        "match": { "certificateSha256": fingerprint } });
    world.admin().post("/admin/identities", body).await.created();
    Intruder::of(&world)
        .run(
            "UPDATE identities SET match = jsonb_set(match, '{certificateSha256}',
                                                     to_jsonb(upper(match->>'certificateSha256')))",
        )
        .await;
    engine::rows::examine_all(&world.pool).await.expect("the rows");
    let findings = world.pool.seals().findings();
    assert_eq!(findings.iter().map(|it| it.row.table).collect::<Vec<_>>(), ["identities"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_learn_that_the_seal_of_an_identity_changed() {
    let key = SigningKey::ec("one");
    let issuer = TokenIssuer::publishing(&[&key]).await;
    let world = World::with_auth(Clock::system(), issuer.auth()).await;
    let service = world.service("billing").await;
    let identity = async |name: &str, matching: serde_json::Value| {
        let body = json!({ "name": name, "serviceId": service, "match": matching });
        world.admin().post("/admin/identities", body).await.created();
    };
    identity("seen", json!({ "issuer": issuer.name(), "subject": "job" })).await;
    identity("other", json!({ "issuer": issuer.name(), "subject": "another" })).await;
    // Each token is looked up once.
    let caller = async |number: u32| {
        let mut claims = issuer.claims("job", world.clock.now());
        claims["jti"] = json!(number);
        world.client(&key.token(&claims)).get("/api/v1/caller").await.status.as_u16()
    };
    within(PATIENCE, async || caller(rand::random()).await == 200).await;
    let tampering = "UPDATE identities SET seal = NULL WHERE name = 'other'";
    Intruder::of(&world).run(tampering).await;
    within(PATIENCE, async || caller(rand::random()).await == 401).await;
}

/// The type of an API key decides who may change it.
#[tokio::test(flavor = "multi_thread")]
async fn the_type_of_an_api_key_is_judged_with_its_row() {
    let world = World::new().await;
    world.service("any").await;
    let padmin = world.administrator(&["policy-admin"]).await;
    let body = json!({ "name": "auditor", "type": "admin", "roles": ["auditor"] });
    let created = world.admin().post("/admin/api-keys", body).await.created();
    let path = created.header("location").to_owned();
    let intruder = Intruder::of(&world);
    intruder
        .run(
            "UPDATE api_keys SET type = 'live', roles = '{}',
                    service_id = (SELECT id FROM services LIMIT 1) WHERE name = 'auditor'",
        )
        .await;
    let mut held = intruder.pool.acquire().await.expect("a connection");
    let back = "BEGIN; UPDATE api_keys SET type = 'admin', roles = '{auditor}', service_id = NULL
                        WHERE name = 'auditor'";
    sqlx::raw_sql(back).execute(&mut *held).await.expect("the former row");
    let patch = padmin.patch(&path, json!({ "roles": ["owner"] }));
    let release = async {
        let waiting = "SELECT EXISTS (SELECT FROM pg_stat_activity
                        WHERE datname = current_database() AND wait_event_type = 'Lock')";
        within(PATIENCE, async || {
            sqlx::query_scalar(waiting).fetch_one(&world.pool).await.expect("the activity")
        })
        .await;
        sqlx::raw_sql("COMMIT").execute(&mut *held).await.expect("a commit");
    };
    let (answer, ()) = tokio::join!(patch, release);
    answer.refused(403, "FORBIDDEN");
    let read = world.admin().get(&path).await.ok().json();
    assert_eq!(read["roles"], json!(["auditor"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn sealing_a_row_gives_nothing_back() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let (_, application) = process.bound_application().await;
    let secret = application.key.clone().expect("a key");
    let id = application.key_path().replace("/admin/api-keys/", "");
    site.run(&["emergency", "revoke-api-key", &id]).success();
    process.terminate();
    let forged = "SET ROLE sealward_application;
                  INSERT INTO revisions SELECT table_name, id, revision + 1, 'changed' FROM revisions
                   WHERE what = 'revoked'";
    sqlx::raw_sql(forged).execute(&mut site.connect().await).await.expect("an entry");
    site.run(&["rows", "reseal", "--yes"]).success();
    let process = Process::start(&site).await;
    let refused = process.client(&secret).protect(json!(1)).await;
    refused.refused(401, "AUTHENTICATION_FAILED");
}

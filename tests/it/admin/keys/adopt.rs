//! Adoption of existing keys in the token.

use std::time::Duration;

use engine::ids::KeyId;
use engine::keys::Vault;
use engine::settings::Stage;
use formats::algorithms::Algorithm;
use formats::clock::{Clock, Entropy, Timestamp};
use hsm::{ErrorKind, KeyClass, KeyName, KeyRef, NewKey, Purpose};
use serde_json::json;
use sqlx::ConnectOptions as _;
use uuid::Uuid;

use super::{generate, id, send};
use crate::admin::fail_commits_of_keys;
use crate::dashboard::Browser;
use testkit::Site;
use testkit::{Answer, EXTRACTABLE, NOT_SENSITIVE, SOUND, World, rewrite, token};

/// Generates a key in the token, like a vendor tool, and returns its ID and label.
async fn vendors_key(algorithm: Algorithm, purpose: Purpose) -> (String, String) {
    let label = format!("vendor {:016x}", rand::random::<u64>());
    let id = vendors_key_with_label(&label, algorithm, purpose).await;
    (id, label)
}

/// Makes a key as the tools of a vendor do; its id in hex.
pub(in crate::admin) async fn vendors_key_with_label(
    label: &str,
    algorithm: Algorithm,
    purpose: Purpose,
) -> String {
    let id: [u8; 12] = rand::random();
    let body = NewKey { id: id.to_vec(), label: label.to_owned(), algorithm, purpose };
    token().await.generate(body).await.expect("a key");
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_adopted_by_id_or_by_label_and_once() {
    let world = World::new().await;
    let service = world.service("adopting").await;
    let (hex, label) = vendors_key(Algorithm::Rsa2048, Purpose::Envelope).await;
    let body = json!({"tokenObject": {"ckaId": hex}});
    let key = send(&world, &service, body.clone()).await.created().json();
    assert_eq!(
        (&key["origin"], &key["algorithm"], &key["use"], &key["hasPrivate"]),
        (&json!("adopted"), &json!("RSA-2048"), &json!("enc"), &json!(true))
    );
    assert_eq!(key["extractable"], json!(false));
    send(&world, &service, body).await.refused(409, "CONFLICT");
    let body = json!({"tokenObject": {"label": label}});
    send(&world, &service, body).await.refused(409, "CONFLICT");

    let (_, label) = vendors_key(Algorithm::Aes256, Purpose::Data).await;
    let body = json!({"tokenObject": {"label": label}});
    assert_eq!(send(&world, &service, body).await.created().json()["use"], "data");
}

/// An object is not for sale while its record is hidden.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_whose_record_is_hidden_is_not_adopted_again() {
    let world = World::new().await;
    let (victim, thief) = (world.service("victim").await, world.service("thief").await);
    let (hex, label) = vendors_key(Algorithm::Aes256, Purpose::Data).await;
    let body = json!({ "tokenObject": { "ckaId": hex } });
    send(&world, &victim, body.clone()).await.created();
    for hide in [
        "UPDATE keys SET token_id = '\\x00'",
        "UPDATE keys SET status = 'destroyed', destroy_at = now()",
        "DELETE FROM key_presence; DELETE FROM keys",
    ] {
        sqlx::raw_sql(hide).execute(&world.pool).await.expect("a change");
        send(&world, &thief, body.clone()).await.refused(409, "CONFLICT");
        let by_label = json!({ "tokenObject": { "label": label } });
        send(&world, &thief, by_label).await.refused(409, "CONFLICT");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destroyed_key_is_not_adopted_again() {
    let world = World::new().await;
    let service = world.service("adopting").await;
    let key = generate(&world, &service, "AES-256").await;
    let label = json!({ "tokenObject": { "label": key["id"] } });
    let refused = send(&world, &service, label.clone()).await;
    refused.invalid(&[("tokenObject", "conflict")]);
    // A token that was not reachable at the destruction still holds the key.
    let destroyed = "UPDATE keys SET status = 'destroyed', destroy_at = now()";
    rewrite(&world.pool, destroyed).await;
    let refused = send(&world, &service, label).await;
    refused.invalid(&[("tokenObject", "conflict")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_a_failed_request_left_is_not_adopted() {
    let world = World::new().await;
    let service = world.service("adopting").await;
    fail_commits_of_keys(&world.pool).await;
    let body = json!({ "serviceId": service, "algorithm": "AES-256", "generate": true });
    let failed = world.admin().post("/admin/keys", body).await;
    failed.refused(503, "SERVICE_UNAVAILABLE");
    let intended = sqlx::query_scalar("SELECT id FROM key_intents");
    let intended: Uuid = intended.fetch_one(&world.pool).await.expect("an intent");
    for object in [
        json!({ "label": KeyId::from_uuid(intended) }),
        json!({ "ckaId": intended.simple().to_string() }),
    ] {
        let refused = send(&world, &service, json!({ "tokenObject": object })).await;
        refused.invalid(&[("tokenObject", "conflict")]);
    }
}

/// A world in which a request failed, whose object nobody recorded, and the identifier of that object. Sixteen minutes
/// have passed.
async fn world_with_left_object() -> (World, Uuid) {
    let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
    let world = World::at(clock, Stage::Development).await;
    let service = world.service("left").await;
    fail_commits_of_keys(&world.pool).await;
    let body = json!({ "serviceId": service, "algorithm": "AES-256", "generate": true });
    let failed = world.admin().with("idempotency-key", "k").post("/admin/keys", body).await;
    failed.refused(503, "SERVICE_UNAVAILABLE");
    sqlx::raw_sql("DROP TRIGGER fail_late ON keys").execute(&world.pool).await.expect("no trigger");
    let intended = sqlx::query_scalar("SELECT id FROM key_intents WHERE attempt IS NOT NULL");
    let intended = intended.fetch_one(&world.pool).await.expect("an intent");
    world.clock.advance(Duration::from_secs(16 * 60));
    (world, intended)
}

async fn destroy_abandoned(world: &World) -> usize {
    let (pool, clock) = (world.pool.clone(), world.clock.clone());
    let vault = Vault::new(token().await, pool, clock, Entropy::system());
    vault.destroy_abandoned().await.expect("a run")
}

async fn is_held(id: Uuid) -> bool {
    let key = KeyRef { name: KeyName::Id(id.as_bytes().to_vec()), class: KeyClass::Secret };
    match token().await.find(&key).await {
        Ok(_) => true,
        Err(error) if error.kind() == ErrorKind::KeyMissing => false,
        Err(error) => panic!("{error:?}"),
    }
}

/// Whoever writes to the database can name any object of the token.
#[tokio::test(flavor = "multi_thread")]
async fn an_invented_intent_destroys_nothing() {
    let (world, left) = world_with_left_object().await;
    let orphan = Uuid::from_bytes(rand::random());
    let key = NewKey {
        id: orphan.as_bytes().to_vec(),
        label: KeyId::from_uuid(orphan).to_string(),
        algorithm: Algorithm::Aes256,
        purpose: Purpose::Data,
    };
    token().await.generate(key).await.expect("a key");
    sqlx::query(
        "WITH change AS (UPDATE key_intents SET change_id = gen_random_uuid() WHERE id = $2 RETURNING *)
         INSERT INTO key_intents (id, purpose, service_id, created_at, change_id, mac)
         SELECT $1, purpose, service_id, created_at, change_id, mac FROM change",
    )
    .bind(orphan)
    .bind(left)
    .execute(&world.pool)
    .await
    .expect("intents");
    assert_eq!(destroy_abandoned(&world).await, 0);
    assert!(is_held(orphan).await && is_held(left).await);
    sqlx::query("UPDATE key_intents SET change_id = NULL WHERE id = $1")
        .bind(left)
        .execute(&world.pool)
        .await
        .expect("the intent as it was");
    assert_eq!(destroy_abandoned(&world).await, 1);
    assert!(is_held(orphan).await && !is_held(left).await);
}

/// After a restore of an older database, the objects of later keys can be adopted. Whoever writes to the database can
/// have kept their intents, and can hide their new records.
#[tokio::test(flavor = "multi_thread")]
async fn an_intent_that_was_kept_does_not_destroy_the_object_of_an_adopted_key() {
    let (world, left) = world_with_left_object().await;
    let keep = "CREATE TABLE kept AS SELECT * FROM key_intents; DELETE FROM key_intents";
    sqlx::raw_sql(keep).execute(&world.pool).await.expect("no intent");
    let service = world.service("adopting").await;
    let body = json!({ "tokenObject": { "ckaId": left.simple().to_string() } });
    send(&world, &service, body).await.created();
    let hide = "UPDATE keys SET status = 'destroyed', destroy_at = now(), token_id = '\\x00';
                INSERT INTO key_intents SELECT * FROM kept";
    sqlx::raw_sql(hide).execute(&world.pool).await.expect("a change");
    assert_eq!(destroy_abandoned(&world).await, 0);
    assert!(is_held(left).await);
}

/// Of a key that was recorded, and whose record a restore took away.
#[tokio::test(flavor = "multi_thread")]
async fn an_intent_destroys_nothing_after_a_day() {
    let (world, left) = world_with_left_object().await;
    world.clock.advance(Duration::from_secs(23 * 60 * 60));
    assert_eq!(destroy_abandoned(&world).await, 0);
    assert!(is_held(left).await);
}

/// The job that removes objects of failed requests can run on another instance, whose clock is ahead.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_whose_intent_another_job_took_is_not_recorded() {
    let world = World::new().await;
    let service = world.service("slow").await;
    let former = generate(&world, &service, "P-256").await;
    let take = "CREATE FUNCTION take() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN DELETE FROM key_intents; RETURN NEW; END $$;
         CREATE TRIGGER take BEFORE INSERT ON keys FOR EACH ROW EXECUTE FUNCTION take();";
    sqlx::raw_sql(take).execute(&world.pool).await.expect("a trigger");
    let body = json!({ "serviceId": service, "algorithm": "P-256", "generate": true });
    let refused = world.admin().post("/admin/keys", body).await;
    refused.refused(409, "CONFLICT");
    let listed = world.admin().get("/admin/keys").await.ok().json();
    assert_eq!(listed["items"].as_array().expect("keys").len(), 1);
    assert_eq!(listed["items"][0]["id"], former["id"]);
    assert_eq!(listed["items"][0]["status"], "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_or_unsuitable_keys_are_not_adopted() {
    let world = World::new().await;
    let service = world.service("refusing").await;
    let own = generate(&world, &service, "P-256").await;
    let own: String = sqlx::query_scalar("SELECT encode(token_id, 'hex') FROM keys")
        .fetch_one(&world.pool)
        .await
        .unwrap_or_else(|error| panic!("{error}: {}", id(&own)));
    let (signing, _) = vendors_key(Algorithm::P256, Purpose::Sign).await;
    let cases = [
        (json!({"ckaId": own}), "", ("tokenObject", "conflict")),
        (json!({"ckaId": "abcdef"}), "", ("tokenObject", "unknown")),
        (json!({"ckaId": "abc"}), "", ("tokenObject.ckaId", "format")),
        (json!({"ckaId": signing}), "enc", ("tokenObject", "unsupported")),
        (json!({}), "", ("tokenObject", "required")),
    ];
    for (object, usage, problem) in cases {
        let mut body = json!({"tokenObject": object});
        if !usage.is_empty() {
            body["use"] = json!(usage);
        }
        send(&world, &service, body).await.invalid(&[problem]);
    }
}

/// Adopts the key with this label.
async fn adopt(world: &World, label: &str) -> Answer {
    let service = world.service(label).await;
    let body = json!({ "name": label, "tokenObject": { "label": label } });
    send(world, &service, body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extractable_key_is_adopted_with_a_warning() {
    for (label, extractable) in [(SOUND, false), (EXTRACTABLE, true), (NOT_SENSITIVE, true)] {
        let world = World::new().await;
        let key = adopt(&world, label).await.created().json();
        assert_eq!(key["extractable"], json!(extractable), "{label}");
        let path = format!("/admin/keys/{}", id(&key));
        let shown = world.admin().get(&path).await.ok().json();
        assert_eq!(shown["extractable"], json!(extractable));
        let changed = json!({ "extractable": !extractable });
        let refused = world.admin().put(&path, changed).await;
        refused.invalid(&[("extractable", "conflict")]);

        let warning = "can leave its token";
        let mut browser = Browser::signed_in(&world).await;
        for page in ["/dashboard".to_owned(), format!("/dashboard/keys/{}", id(&key))] {
            let page = browser.get(&page).await.ok().body;
            assert_eq!(page.contains(warning), extractable, "{label}: {page}");
        }
        let site = Site::new().await;
        let mut database = world.database().to_url_lossy();
        database.set_password(None).unwrap();
        let doctor =
            site.run_with(&["doctor", "--skip-trials"], "SEALWARD_DATABASE_URL", database.as_str());
        let found = format!("({label}) {warning}");
        assert_eq!(doctor.stdout.contains(&found), extractable, "{doctor:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn production_refuses_an_extractable_key() {
    let world = World::at(Clock::system(), Stage::Production).await;
    for label in [EXTRACTABLE, NOT_SENSITIVE] {
        let refused = adopt(&world, label).await;
        let error = refused.refused(403, "OPERATION_NOT_ALLOWED").json();
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains("keys.allow_extractable"), "{message}");
    }
    adopt(&world, SOUND).await.created();
}

#[tokio::test(flavor = "multi_thread")]
async fn production_adopts_and_uses_an_extractable_key_by_its_setting() {
    let world = World::in_production_with_extractable_keys().await;
    for label in [EXTRACTABLE, NOT_SENSITIVE] {
        let key = adopt(&world, label).await.created().json();
        assert_eq!(key["extractable"], json!(true), "{label}");
        let api_key = json!({ "name": label, "type": "live", "serviceId": key["serviceId"] });
        let created = world.admin().post("/admin/api-keys", api_key).await.created();
        let client = world.client(&created.text("secret"));
        let body = json!({ "data": "secret", "algorithm": "AES-256-GCM", "keyId": id(&key) });
        let encrypted = client.operate("encrypt", body).await.ok();
        let encrypted = encrypted.json()["result"].clone();
        assert_eq!(encrypted["keyId"], key["id"]);
        let decrypted = client.operate("decrypt", encrypted).await.ok().json();
        assert_eq!(decrypted["result"]["data"], "secret");
    }
}

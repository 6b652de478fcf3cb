//! `sealward emergency`, which needs neither a token nor the API.

use serde_json::{Value, json};
use uuid::Uuid;

use testkit::{Exit, PATIENCE, Process, Site, within};

/// Runs the command where no token can be opened.
fn emergency(site: &Site, arguments: &[&str]) -> Exit {
    let arguments = [&["emergency"], arguments].concat();
    let tokens = site.tokens("/nowhere.so", "sealward", "/nowhere.pin");
    site.run_with(&arguments, "SEALWARD_HSM_TOKENS", &tokens)
}

async fn event(process: &Process, action: &str) -> Value {
    let events = format!("/admin/audit/management?action={action}");
    let events = process.admin().get(&events).await.ok().json();
    events["items"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_is_frozen_until_the_api_unfreezes_it() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let (destination, application) = process.bound_application().await;
    application.protect(json!(1)).await.ok();
    let freeze = || emergency(&site, &["freeze", "--service", &destination.service]).success();
    assert_eq!(freeze().line(), "frozen");
    within(PATIENCE, async || application.protect(json!(1)).await.status == 403).await;
    application.protect(json!(1)).await.refused(403, "SERVICE_FROZEN");
    let event = event(&process, "freeze").await;
    assert_eq!(
        (&event["actor"], &event["resource_id"]),
        (&json!("cli"), &json!(destination.service))
    );
    assert_eq!(freeze().line(), "already frozen");
    let service = format!("/admin/services/{}", destination.service);
    process.admin().patch(&service, json!({ "status": "active" })).await.ok();
    application.protect(json!(1)).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_frozen_until_the_api_lifts_it() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let (_, application) = process.bound_application().await;
    for _ in 0..2 {
        application.protect(json!(1)).await.ok();
        assert_eq!(emergency(&site, &["freeze", "--all"]).success().line(), "frozen");
        within(PATIENCE, async || application.protect(json!(1)).await.status == 403).await;
        assert_eq!(emergency(&site, &["freeze", "--all"]).success().line(), "already frozen");
        let switch = process.admin().get("/admin/emergency").await.ok();
        assert_eq!(switch.text("status"), "frozen");
        assert_ne!(switch.json()["frozenAt"], json!(null));
        process.admin().post_nothing("/admin/emergency/unfreeze").await.ok();
    }
    // An entry without a row is no damage.
    let health = process.admin().get("/api/v1/health").await.ok().json();
    assert_eq!(health["checks"]["records"]["status"], "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_frozen_after_a_forged_end_of_the_switch() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let (_, application) = process.bound_application().await;
    let forged = "SET ROLE sealward_application;
                  INSERT INTO revisions
                  VALUES ('emergency', '00000000-0000-0000-0000-000000000001', 1, 'gone')";
    sqlx::raw_sql(forged).execute(&mut site.connect().await).await.expect("an entry");
    assert_eq!(emergency(&site, &["freeze", "--all"]).success().line(), "frozen");
    within(PATIENCE, async || application.protect(json!(1)).await.status == 403).await;
    application.protect(json!(1)).await.refused(403, "SERVICE_FROZEN");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_disabled_and_an_api_key_revoked() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let (destination, application) = process.bound_application().await;
    application.protect(json!(1)).await.ok();
    let done = emergency(&site, &["disable-key", &destination.key]).success();
    assert_eq!(done.line(), "disabled");
    within(PATIENCE, async || application.protect(json!(1)).await.status == 500).await;
    let key = format!("/admin/keys/{}", destination.key);
    assert_eq!(process.admin().get(&key).await.ok().text("status"), "disabled");
    assert_eq!(event(&process, "disable").await["actor"], "cli");
    // Another key takes its place.
    process.key(&destination.service, "enc", "P-256").await;
    application.protect(json!(1)).await.ok();
    assert_eq!(process.admin().get(&key).await.ok().text("status"), "disabled");

    let id = application.key_path().replace("/admin/api-keys/", "");
    assert_eq!(emergency(&site, &["revoke-api-key", &id]).success().line(), "revoked");
    within(PATIENCE, async || application.protect(json!(1)).await.status == 401).await;
    let shown = process.admin().get(&application.key_path()).await.ok();
    assert_eq!(shown.text("status"), "revoked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_locked_until_an_operator_unlocks_them() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let body = json!({ "name": "n", "type": "admin", "roles": ["auditor"], "person": "ada" });
    let created = process.admin().post("/admin/api-keys", body).await.created();
    let secret = created.text("secret");
    let ada = process.client(&secret);
    ada.get("/admin/services").await.ok();
    let lock = || emergency(&site, &["lock-person", "ada"]).success();
    assert_eq!(lock().line(), "locked");
    within(PATIENCE, async || ada.get("/admin/services").await.status == 401).await;
    assert_eq!(event(&process, "lock").await["actor"], "cli");
    let people = process.admin().get("/admin/people?status=locked").await.ok().json();
    assert_eq!(people["items"][0]["subject"], "ada");
    assert_eq!(lock().line(), "already locked");
    site.run(&["person", "unlock", "ada"]).success();
    within(PATIENCE, async || ada.get("/admin/services").await.status == 200).await;
}

/// A login can set this for itself.
#[tokio::test]
async fn everything_is_frozen_by_a_login_whose_transactions_only_read_by_default() {
    let site = Site::new().await;
    let only_read = "DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database());
    END $$";
    let set = sqlx::raw_sql(only_read);
    set.execute(&mut site.connect().await).await.expect("a default");
    assert_eq!(emergency(&site, &["freeze", "--all"]).success().line(), "frozen");
}

/// The login of the service can add any number of others.
#[tokio::test(flavor = "multi_thread")]
async fn those_who_had_a_subject_first_are_locked_first() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let body = json!({ "name": "n", "type": "admin", "roles": ["auditor"], "person": "ada" });
    process.admin().post("/admin/api-keys", body).await.created();
    process.terminate();
    let mut database = site.connect().await;
    let add = "INSERT INTO revisions (table_name, id, revision, what)
               SELECT 'people', lpad(n::text, 32, '0')::uuid, 1, 'made' FROM generate_series(1, 2) AS n;
               INSERT INTO revisions (table_name, id, revision, what, member)
               SELECT table_name, id, revision + n, what, lpad(n::text, 32, '0')::uuid
                 FROM revisions, generate_series(1, 2) AS n WHERE member = (SELECT id FROM people)";
    sqlx::raw_sql(add).execute(&mut database).await.expect("two people");
    let locked = emergency(&site, &["lock-person", "ada"]).success().stdout;
    assert_eq!(locked, "locked\nlocked\nlocked\n");
    let first =
        "SELECT resource_id FROM management_events WHERE action = 'lock' ORDER BY id LIMIT 1";
    let first = sqlx::query_scalar::<_, Uuid>(first).fetch_one(&mut database).await;
    let ada = sqlx::query_scalar::<_, Uuid>("SELECT id FROM people");
    let ada = ada.fetch_one(&mut database).await;
    assert_eq!(first.expect("an event"), ada.expect("a person"));
}

#[tokio::test]
async fn what_is_not_there_is_named() {
    let site = Site::new().await;
    emergency(&site, &["freeze", "--service", "svc_01h455vb4pex5vsknk084sn02q"])
        .failure(1, &["there is no such service"]);
    emergency(&site, &["disable-key", "key_01h455vb4pex5vsknk084sn02q"])
        .failure(1, &["there is no such key"]);
    emergency(&site, &["revoke-api-key", "ak_01h455vb4pex5vsknk084sn02q"])
        .failure(1, &["there is no such API key"]);
    emergency(&site, &["lock-person", "ada"]).failure(1, &["there is no such person"]);
    emergency(&site, &["freeze"]).failure(2, &["--service", "--all"]);
    let both = ["freeze", "--all", "--service", "svc_01h455vb4pex5vsknk084sn02q"];
    emergency(&site, &both).failure(2, &["--service", "--all"]);
}

//! Rows with valid seals that are not as the log of management events says.

mod attesting;

use engine::rows::{compare, seal_and_record};
use formats::clock::{Clock, Entropy};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use super::Intruder;
use crate::ledger::initialize;
use testkit::{PATIENCE, Process, SigningKey, Site, TokenIssuer, World, rewrite, within};

/// A table, how one of its rows deviates, and the members that differ.
pub(super) type Found = (String, String, Vec<String>);

/// A service with sealed events and a living row of each kind.
pub(super) async fn sealed_world() -> World {
    let world = world_with_identity().await;
    world.bound_application().await;
    world
}

/// A service with sealed events and a workload identity.
async fn world_with_identity() -> World {
    let key = SigningKey::ec("one");
    let issuer = TokenIssuer::publishing(&[&key]).await;
    let world = World::with_auth(Clock::system(), issuer.auth()).await;
    initialize(&world, Default::default()).await;
    let service = world.service("workloads").await;
    let matching = json!({ "issuer": issuer.name(), "subject": "job" });
    let identity = json!({ "name": "job", "serviceId": service, "match": matching });
    world.admin().post("/admin/identities", identity).await.created();
    world
}

/// Waits until all events are sealed.
pub(super) async fn sealed(world: &World) {
    let unsealed = "SELECT count(*) FROM management_events e
                     WHERE NOT EXISTS (SELECT FROM audit_log_index i WHERE i.record_id = e.id AND i.log = 2)";
    within(PATIENCE, async || {
        let left: i64 = sqlx::query_scalar(unsealed).fetch_one(&world.pool).await.expect("events");
        left == 0
    })
    .await;
}

pub(super) async fn found(world: &World) -> Vec<Found> {
    sealed(world).await;
    let found = compare(&world.pool).await.expect("a comparison").expect("sealed events");
    let found = found.into_iter().map(|deviation| {
        let (table, difference) = (deviation.row.table, deviation.difference.name());
        (table.to_owned(), difference.to_owned(), deviation.members)
    });
    found.collect()
}

/// Runs statements as the owner, without checks of references.
async fn as_owner(world: &World, sql: &str) {
    let sql = format!("BEGIN; SET LOCAL session_replication_role = replica; {sql}; COMMIT");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&world.pool).await.expect("a change");
}

pub(super) fn deviates(table: &str, difference: &str, members: &[&str]) -> Vec<Found> {
    let members = members.iter().map(|&member| member.to_owned()).collect();
    vec![(table.to_owned(), difference.to_owned(), members)]
}

/// Every way in which administrators and the service itself change rows.
#[tokio::test(flavor = "multi_thread")]
async fn what_administrators_change_does_not_deviate() {
    let world = world_with_identity().await;
    let admin = world.admin();
    let (destination, application) = world.bound_application().await;
    application.protect(json!(1)).await.ok();

    let service = world.service("changing").await;
    let path = format!("/admin/services/{service}");
    let enterprise =
        json!({ "tier": "enterprise", "rateLimit": { "requestsPerSecond": 7, "burst": 9 } });
    admin.put(&path, enterprise).await.ok();
    admin.put(&path, json!({ "tier": "professional", "rateLimit": null })).await.ok();
    admin.delete(&path).await.gone();

    let policy = format!("/admin/policies/{}", destination.policy);
    admin.put(&policy, json!({ "requireBinding": true, "description": "é \u{1f512}" })).await.ok();
    let deleted = world.policy(&destination.service).await;
    let deleted = format!("/admin/policies/{deleted}");
    admin.delete(&deleted).await.gone();
    admin.post(&format!("{deleted}/restore"), json!({})).await.ok();

    let key = json!({ "serviceId": destination.service, "name": "next", "use": "enc", "algorithm": "P-256",
        "generate": true, "rotationDays": 30 });
    let next = admin.post("/admin/keys", key).await.created().text("id");
    let next = format!("/admin/keys/{next}");
    admin.put(&next, json!({ "status": "disabled" })).await.ok();
    admin.delete(&next).await;
    admin.put(&next, json!({ "status": "disabled" })).await;

    let key_path = application.key_path();
    admin.put(&key_path, json!({ "allowedCidrs": ["192.0.2.0/24"], "name": "narrow" })).await.ok();
    admin.delete(&key_path).await;
    let identities = admin.get("/admin/identities").await.ok().json();
    let identity = identities["items"][0]["id"].as_str().expect("an identity").to_owned();
    let identity = format!("/admin/identities/{identity}");
    admin.put(&identity, json!({ "status": "disabled" })).await.ok();
    admin.delete(&identity).await.gone();

    assert_eq!(found(&world).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn before_its_event_is_sealed_a_row_is_not_compared() {
    let world = World::new().await;
    world.service("early").await;
    assert_eq!(compare(&world.pool).await.expect("no comparison"), None);
    initialize(&world, Default::default()).await;
    assert_eq!(found(&world).await, []);
}

/// Each with a valid seal, as if the owner had the row key.
#[tokio::test(flavor = "multi_thread")]
async fn a_changed_row_is_named_with_its_members() {
    let cases: [(&str, &'static str, &str); 5] = [
        ("services", "UPDATE services SET tier = 'professional' WHERE name = 'workloads'", "tier"),
        ("policies", "UPDATE policies SET require_binding = true", "requireBinding"),
        ("keys", "UPDATE keys SET status = 'retired', retire_at = NULL", "status"),
        ("api_keys", "UPDATE api_keys SET name = 'other' WHERE type = 'live'", "name"),
        ("identities", "UPDATE identities SET status = 'disabled'", "status"),
    ];
    let world = sealed_world().await;
    let mut expected = Vec::new();
    for (table, sql, member) in cases {
        rewrite(&world.pool, sql).await;
        expected.extend(deviates(table, "changed", &[member]));
    }
    // The tier determines the rate limit, which the event shows too.
    expected[0].2 = vec!["rateLimit".to_owned(), "tier".to_owned()];
    assert_eq!(found(&world).await, expected);
}

/// A backup of single tables with their revisions: every seal is valid.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_was_rolled_back_is_named() {
    let world = sealed_world().await;
    let admin = world.admin();
    let first = async |list: &str, member: &str| {
        let listed = admin.get(list).await.ok().json();
        format!("{list}/{}", listed["items"][0][member].as_str().expect("an identifier"))
    };
    let key = admin.get("/admin/keys").await.ok().json()["items"][0]["id"].clone();
    let live = "SELECT id FROM api_keys WHERE type = 'live'";
    let live: uuid::Uuid = sqlx::query_scalar(live).fetch_one(&world.pool).await.expect("a key");
    let live = engine::ids::ApiKeyId::from_uuid(live);
    let cases = [
        ("services", first("/admin/services", "id").await, json!({ "publishKeys": true })),
        ("policies", first("/admin/policies", "policyNumber").await, json!({ "name": "other" })),
        (
            "keys",
            format!("/admin/keys/{}", key.as_str().expect("a key")),
            json!({ "name": "other" }),
        ),
        ("api_keys", format!("/admin/api-keys/{live}"), json!({ "name": "other" })),
        ("identities", first("/admin/identities", "id").await, json!({ "name": "other" })),
    ];
    let intruder = Intruder::of(&world);
    for (table, path, change) in cases {
        let member = change.as_object().and_then(|it| it.keys().next()).expect("a member").clone();
        intruder.keep(&world, table).await;
        as_owner(&world, "CREATE TABLE kept_revisions AS SELECT * FROM revisions").await;
        admin.put(&path, change).await.ok();
        intruder.put_back(table).await;
        as_owner(
            &world,
            "DELETE FROM revisions; INSERT INTO revisions SELECT * FROM kept_revisions; DROP TABLE kept_revisions",
        )
        .await;
        let members = [&member, "updatedAt"].map(str::to_owned).to_vec();
        let expected = (table.to_owned(), "rolled_back".to_owned(), members);
        assert!(found(&world).await.contains(&expected), "{table}: {:?}", found(&world).await);
    }
    assert_eq!(found(&world).await.len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn added_and_removed_rows_are_named() {
    for table in ["services", "policies", "keys", "api_keys", "identities"] {
        let world = sealed_world().await;
        let one = format!("(SELECT id FROM {table} ORDER BY id DESC LIMIT 1)");
        as_owner(
            &world,
            &format!(
                "DELETE FROM revisions WHERE id = {one}; DELETE FROM {table} WHERE id = {one}"
            ),
        )
        .await;
        assert_eq!(found(&world).await, deviates(table, "removed", &[]));
        // An operator accepts it.
        let removed = compare(&world.pool).await.expect("a comparison").expect("sealed events");
        let removed: Vec<_> = removed.iter().map(|deviation| deviation.row).collect();
        let mut connection = world.pool.acquire().await.expect("a connection");
        let rows = world.pool.rows_on(&mut connection);
        let at = (&Clock::system(), &Entropy::system());
        seal_and_record(rows, &[], &removed, at).await.expect("an event");
        assert_eq!(found(&world).await, []);
    }
    let world = sealed_world().await;
    rewrite(
        &world.pool,
        "INSERT INTO services (id, name, tier, created_at, updated_at)
         VALUES (gen_random_uuid(), 'added', 'standard', now(), now())",
    )
    .await;
    assert_eq!(found(&world).await, deviates("services", "added", &[]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_event_attests_nothing() {
    let world = sealed_world().await;
    sealed(&world).await;
    rewrite(&world.pool, "UPDATE policies SET require_binding = true").await;
    as_owner(
        &world,
        "UPDATE management_events SET after = jsonb_set(after, '{requireBinding}', 'true')
          WHERE resource_type = 'policy'",
    )
    .await;
    assert_eq!(found(&world).await, deviates("policies", "event_changed", &[]));
}

/// An operator finds a rolled back row and accepts it.
#[tokio::test(flavor = "multi_thread")]
async fn a_rolled_back_row_is_named_everywhere_until_an_operator_seals_it() {
    let site = Site::new().await;
    let keys = site.run(&["audit", "init"]).success().stdout;
    let key = keys.lines().find(|key| key.contains("/management")).expect("a key").to_owned();
    let process = Process::start(&site).await;
    let service = process.service("billing").await;
    let path = format!("/admin/services/{service}");
    let mut database = site.connect().await;
    let mut run = async |sql: &str| {
        let run = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut database);
        run.await.expect("a change");
    };
    run("CREATE TABLE kept AS SELECT * FROM services; CREATE TABLE kept_revisions AS SELECT * FROM revisions").await;
    process.admin().put(&path, json!({ "tier": "professional" })).await.ok();
    let note = async || {
        let checkpoint = "/admin/audit/log/management/checkpoint";
        process.admin().get(checkpoint).await
    };
    let sealed = async || {
        let event = "/admin/audit/management?action=update";
        let event = process.admin().get(event).await.ok().json();
        !event["items"][0]["log_index"].is_null() && note().await.status == 200
    };
    within(PATIENCE, sealed).await;
    let note = site.write("note", &note().await.ok().body);
    process.terminate();
    run("SET session_replication_role = replica; DELETE FROM services; INSERT INTO services SELECT * FROM kept;
         DELETE FROM revisions WHERE table_name = 'services';
         INSERT INTO revisions SELECT * FROM kept_revisions WHERE table_name = 'services'")
    .await;

    let metrics = [("SEALWARD_METRICS_LISTEN", "127.0.0.1:0")];
    let process = Process::start_with(&site, &metrics).await;
    within(PATIENCE, async || process.metrics().sum("sealward_rows_deviating", &[]) == 1.0).await;
    let health = process.admin().get("/api/v1/health").await.ok().json();
    assert_eq!(health["checks"]["records"]["status"], "degraded");
    let events = async || -> Value {
        process.admin().get("/admin/audit/management?action=row.deviates").await.ok().json()
    };
    within(PATIENCE, async || events().await["items"][0].is_object()).await;
    let event = events().await["items"][0].clone();
    assert_eq!(event["resource_id"], service);
    let details = json!({ "table": "services", "difference": "rolled_back",
        "members": ["rateLimit", "tier", "updatedAt"] });
    assert_eq!(event["after"], details);
    process.terminate();

    let doctor = site.run(&["doctor", "--skip-trials"]);
    assert!(doctor.stdout.contains("rolled_back rateLimit, tier, updatedAt"), "{}", doctor.stdout);
    doctor.failure(1, &["rows of the database do not count or deviate"]);
    let verify = || {
        let note = note.to_str().expect("a path of text");
        site.run(&["audit", "verify", "--database", "--key", &key, "--checkpoint", note])
    };
    verify().failure(1, &["TAMPERED: 1 rows", "rolled_back"]);
    let sealed = site.run(&["rows", "reseal", "--yes"]).success();
    assert!(
        sealed.stdout.contains("counts  rolled_back: rateLimit, tier, updatedAt"),
        "{}",
        sealed.stdout
    );

    let process = Process::start(&site).await;
    let event = "/admin/audit/management?action=row.sealed";
    within(PATIENCE, async || {
        let sealed = process.admin().get(event).await.ok().json();
        !sealed["items"][0]["log_index"].is_null()
    })
    .await;
    process.terminate();
    verify().success();
    assert_eq!(site.run(&["rows", "reseal"]).success().line(), "every row counts");
}

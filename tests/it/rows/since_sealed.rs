//! Whether a row is as it was last sealed: an operator who seals it again must know.

use engine::resource::SeenRow;
use engine::rows::invalid_rows;
use engine::seals::SealComparison;
use serde_json::json;

use super::Intruder;
use testkit::{PATIENCE, Process, Site, World, within};

/// What an operator sees of the only row that does not count.
async fn shown(world: &World) -> SealComparison {
    let mut connection = world.pool.acquire().await.expect("a connection");
    let seen = invalid_rows(world.pool.rows_on(&mut connection), &[]).await.expect("the rows");
    let [SeenRow { comparison, .. }] = seen[..] else {
        panic!("{seen:?}");
    };
    comparison
}

/// A world with one service, whose tier was changed once.
async fn changed_service() -> (World, Intruder) {
    let world = World::new().await;
    let path = format!("/admin/services/{}", world.service("billing").await);
    let intruder = Intruder::of(&world);
    intruder.keep(&world, "services").await;
    world.admin().patch(&path, json!({ "tier": "professional" })).await.ok();
    (world, intruder)
}

#[tokio::test]
async fn a_row_without_its_seal_is_as_last_sealed() {
    let (world, intruder) = changed_service().await;
    intruder.run("UPDATE services SET seal = NULL").await;
    assert_eq!(shown(&world).await, SealComparison::Same);
}

#[tokio::test]
async fn another_row_and_an_earlier_row_are_not_as_last_sealed() {
    let (world, intruder) = changed_service().await;
    intruder.run("UPDATE services SET publish_keys = true").await;
    assert_eq!(shown(&world).await, SealComparison::Changed);
    intruder.put_back("services").await;
    assert_eq!(shown(&world).await, SealComparison::Changed);
}

/// An entry with the seal of another revision, or with no seal, does not hide the last seal.
#[tokio::test]
async fn added_entries_are_passed_over() {
    let (world, intruder) = changed_service().await;
    intruder
        .run(
            "INSERT INTO revisions (table_name, id, revision, what, content, kept_seal)
             SELECT table_name, id, revision + 2, 'changed', content, kept_seal FROM revisions
              WHERE table_name = 'services' AND what = 'made'",
        )
        .await;
    intruder
        .run(
            "INSERT INTO revisions (table_name, id, revision, what, content)
             SELECT 'services', id, 9, 'changed', sha256('') FROM services",
        )
        .await;
    assert_eq!(shown(&world).await, SealComparison::Same);
    intruder.run("UPDATE services SET tier = 'standard'").await;
    assert_eq!(shown(&world).await, SealComparison::Changed);
}

#[tokio::test]
async fn a_deleted_row_that_is_put_back_is_not_as_last_sealed() {
    let (world, intruder) = changed_service().await;
    let accepted = "INSERT INTO revisions (table_name, id, revision, what, accepted)
                    SELECT 'services', id, revision + 1, 'gone', true FROM services";
    sqlx::query(accepted).execute(&world.pool).await.expect("an accepted absence");
    assert_eq!(shown(&world).await, SealComparison::Gone);
    intruder.run("DELETE FROM services").await;
    world.service("other").await;
    intruder
        .run(
            "INSERT INTO services (id, name, tier, created_at, updated_at)
             VALUES (gen_random_uuid(), 'added', 'standard', now(), now())",
        )
        .await;
    assert_eq!(shown(&world).await, SealComparison::Unknown);
}

/// No event has the secret of an API key, and an attacker would wait until somebody seals the row.
#[tokio::test(flavor = "multi_thread")]
async fn an_operator_learns_that_the_secret_of_an_api_key_is_another_one() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    process.bound_application().await;
    process.terminate();
    // The kept seals count after a new row key, too.
    site.run(&["rows", "new-key"]).success();
    let mut database = site.connect().await;
    let unsealed = "UPDATE api_keys SET seal = NULL WHERE type <> 'admin'";
    sqlx::query(unsealed).execute(&mut database).await.expect("a change");
    let seen = site.run(&["rows", "reseal"]);
    assert!(seen.stdout.contains("unsealed  as last sealed\n"), "{}", seen.stdout);
    assert!(!seen.stderr.contains("no event has all of some rows"), "{}", seen.stderr);
    let stolen =
        "UPDATE api_keys SET digest = sha256('a secret of somebody else') WHERE type <> 'admin'";
    sqlx::query(stolen).execute(&mut database).await.expect("a change");
    let seen = site.run(&["rows", "reseal"]);
    assert!(seen.stdout.contains("unsealed  not as last sealed\n"), "{}", seen.stdout);
    assert!(seen.stderr.contains("the secrets of API keys"), "{}", seen.stderr);
    seen.failure(1, &["no row was sealed"]);
}

/// An entry that takes something away counts, whatever revision the row says that it has.
#[tokio::test(flavor = "multi_thread")]
async fn sealing_a_row_at_another_revision_gives_nothing_back() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    process.admin().post("/admin/emergency/freeze", json!({ "reason": "a drill" })).await.ok();
    process.admin().post_nothing("/admin/emergency/unfreeze").await.ok();
    process.terminate();
    site.run(&["emergency", "freeze", "--all"]).success();
    let forged = "SET ROLE sealward_application;
        INSERT INTO revisions (table_name, id, revision, what)
        SELECT table_name, id, max(revision) + 1, 'changed' FROM revisions
         WHERE table_name = 'emergency' GROUP BY table_name, id;
        UPDATE emergency SET revision = (SELECT max(revision) FROM revisions WHERE table_name = 'emergency')";
    sqlx::raw_sql(forged).execute(&mut site.connect().await).await.expect("a change");
    let sealed = site.run(&["rows", "reseal", "--yes"]).success().stdout;
    assert!(sealed.contains("not as last sealed"), "{sealed}");
    let process = Process::start(&site).await;
    let switch = process.admin().get("/admin/emergency").await.ok();
    assert_eq!(switch.text("status"), "frozen");
}

/// Segments below the accepted size need no signature and no MAC, also if nobody knows whether the row was changed.
#[tokio::test(flavor = "multi_thread")]
async fn an_origin_accepts_nothing_that_its_log_gets_later() {
    let site = Site::new().await;
    site.run(&["audit", "init"]).success();
    let accept = "SET ROLE sealward_application;
        UPDATE audit_log_origins SET accepted = 1000 WHERE id = '00000000-0000-0000-0000-000000000002'";
    let refused = sqlx::raw_sql(accept).execute(&mut site.connect().await).await;
    let refused = refused.expect_err("a size").to_string();
    assert!(refused.contains("the log has fewer than 1000 records"), "{refused}");
}

/// The listed segments need no MAC.
#[tokio::test(flavor = "multi_thread")]
async fn a_changed_origin_of_a_log_ends_and_is_made_again() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    process.service("first").await;
    process.terminate();
    site.run(&["audit", "init"]).success();
    let changed = "SET ROLE sealward_application;
        UPDATE audit_log_origins SET foreign_segments = ARRAY[id], revision = 9 WHERE id = '00000000-0000-0000-0000-000000000002'";
    let mut database = site.connect().await;
    sqlx::raw_sql(changed).execute(&mut database).await.expect("a change");
    let ended = site.run(&["rows", "reseal", "--yes"]).success();
    assert!(ended.stdout.contains("not as last sealed, ends\n"), "{}", ended.stdout);
    assert!(ended.stdout.contains("0 rows are sealed\n1 rows ended\n"), "{}", ended.stdout);
    assert!(ended.stderr.contains("sealward audit init --new-origin"), "{}", ended.stderr);
    assert_eq!(site.run(&["rows", "reseal"]).success().line(), "every row counts");

    let process = Process::start(&site).await;
    within(PATIENCE, async || process.log().contains("the management log has no sealed origin"))
        .await;
    process.terminate();
    site.run(&["audit", "init", "--new-origin"]).success();
    let accepted = "SELECT o.accepted = h.size FROM audit_log_origins o, audit_log_heads h
                     WHERE o.id = '00000000-0000-0000-0000-000000000002' AND h.log = 2";
    let accepted: bool =
        sqlx::query_scalar(accepted).fetch_one(&mut database).await.expect("a size");
    assert!(accepted);
    assert_eq!(site.run(&["rows", "reseal"]).success().line(), "every row counts");
}

/// Clients would wrap keys for somebody else.
#[tokio::test(flavor = "multi_thread")]
async fn a_changed_wrapping_key_ends_when_rows_are_sealed() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let mechanism = json!({ "mechanism": "RSA_OAEP_SHA1_AES_KWP" });
    let made = process.admin().post("/admin/keys/import-parameters", mechanism).await;
    assert_eq!(made.status, 201, "{}", made.body);
    process.terminate();
    site.run(&["audit", "init"]).success();
    let changed = "SET ROLE sealward_application;
        UPDATE import_keys SET public_key = (SELECT public_key FROM audit_log_keys)";
    let mut database = site.connect().await;
    sqlx::raw_sql(changed).execute(&mut database).await.expect("a change");
    let ended = site.run(&["rows", "reseal", "--yes"]).success();
    assert!(ended.stdout.contains("not as last sealed, ends\n"), "{}", ended.stdout);
    let left = "SELECT count(*) FROM import_keys";
    let left: i64 = sqlx::query_scalar(left).fetch_one(&mut database).await.expect("a number");
    assert_eq!(left, 0);
    assert_eq!(site.run(&["rows", "reseal"]).success().line(), "every row counts");
}

/// Whoever waits until an operator seals rows gets no session of an owner.
#[tokio::test(flavor = "multi_thread")]
async fn an_added_session_ends_when_rows_are_sealed() {
    let site = Site::new().await;
    let added = "SET ROLE sealward_application;
        INSERT INTO dashboard_sessions (id, digest, api_key_id, checked_at, started_at, seen_at, revision)
        SELECT gen_random_uuid(), sha256('a cookie'), id, now(), now(), now(), 1 FROM api_keys LIMIT 1";
    let mut database = site.connect().await;
    Process::start(&site).await.terminate();
    sqlx::raw_sql(added).execute(&mut database).await.expect("a row");
    let sealed = site.run(&["rows", "reseal", "--yes"]).success();
    assert!(sealed.stdout.contains("unsealed  no former seal counts, ends"), "{}", sealed.stdout);
    let left = "SELECT count(*) FROM dashboard_sessions";
    let left: i64 = sqlx::query_scalar(left).fetch_one(&mut database).await.expect("a number");
    assert_eq!(left, 0);
    assert_eq!(site.run(&["rows", "reseal"]).success().line(), "every row counts");
}

/// Otherwise an operator could not revoke the key, and would give it back by sealing its row.
#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_says_gone_does_not_stop_a_revocation() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let (_, application) = process.bound_application().await;
    let (id, key) = (application.key_id.clone(), application.key.clone());
    let (id, key) = id.zip(key).expect("a key of its own");
    drop(application);
    process.terminate();
    let gone = "SET ROLE sealward_application;
        INSERT INTO revisions (table_name, id, revision, what)
        SELECT 'api_keys', id, revision + 1, 'gone' FROM api_keys WHERE type <> 'admin'";
    sqlx::raw_sql(gone).execute(&mut site.connect().await).await.expect("an entry");
    site.run(&["emergency", "revoke-api-key", &id]).success();
    site.run(&["rows", "reseal", "--yes"]).success();
    let process = Process::start(&site).await;
    let refused = process.client(&key).get("/api/v1/caller").await;
    refused.refused(401, "AUTHENTICATION_FAILED");
}

//! Reports after an intruder has written to the database, or flooded the audit log.

use std::time::Duration;

use engine::reports::NotVerified;
use sqlx::AssertSqlSafe;

use super::{csv, entry, generate, register, reporting_world, trusted};
use testkit::{PATIENCE, World, rewrite, within};

async fn by_sql(world: &World, sql: &str) {
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&world.pool).await;
    done.unwrap_or_else(|error| panic!("{sql}: {error}"));
}

async fn is_refused(world: &World) {
    let refused = world.admin().get("/admin/reports/keys").await.refused(409, "CONFLICT");
    assert!(refused.message().contains("`sealward doctor` names it"), "{}", refused.message());
}

/// A world with a key, which a policy uses.
async fn world_with_key() -> (World, String) {
    let world = reporting_world().await;
    let service = world.service("billing").await;
    let key = generate(&world, &service, "RSA-2048").await;
    world.policy(&service).await;
    (world, key)
}

/// Whoever writes to the database cannot name other people.
#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_no_change_wrote_names_nobody() {
    let (world, key) = world_with_key().await;
    let before = register(&world, "").await;
    assert_eq!(entry(&before, &key)["createdBy"]["actor"], "first");
    by_sql(
        &world,
        "INSERT INTO management_events (id, at, actor, action, resource_type, resource_id, after, approved_by)
         SELECT overlay(id::text PLACING '0000' FROM 20)::uuid, at, 'a ceremony', action, resource_type,
                resource_id, after, '{eve}'
           FROM management_events WHERE resource_type = 'key'",
    )
    .await;
    let is_sealed = async || {
        let sql = "SELECT bool_and(EXISTS (SELECT FROM audit_log_places(2::smallint, id)))
                     FROM management_events WHERE actor = 'a ceremony'";
        sqlx::query_scalar::<_, bool>(sql).fetch_one(&world.pool).await.expect("an answer")
    };
    within(PATIENCE, is_sealed).await;
    let after = register(&world, "").await;
    for member in ["createdBy", "approvedBy"] {
        assert_eq!(entry(&after, &key)[member], entry(&before, &key)[member], "{member}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_was_changed_ends_the_reports() {
    let (world, _) = world_with_key().await;
    register(&world, "").await;
    by_sql(&world, "UPDATE management_events SET actor = 'mallory', approved_by = '{eve}'").await;
    is_refused(&world).await;
}

/// Otherwise a signed register would lack a key or a policy permanently.
#[tokio::test(flavor = "multi_thread")]
async fn no_report_is_made_while_a_row_is_hidden_or_changed() {
    let (world, _) = world_with_key().await;
    let first = register(&world, "").await;
    for table in ["keys", "policies", "services"] {
        by_sql(&world, &format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}")).await;
    }
    let hide = |table: &str| format!("SET session_replication_role = replica; DELETE FROM {table}");
    // Without the columns that Postgres generates.
    let show = |table: &str| {
        format!(
            "SET session_replication_role = replica;
             DO $$ BEGIN EXECUTE (
                 SELECT format('INSERT INTO {table} (%1$s) SELECT %1$s FROM kept_{table}',
                               string_agg(quote_ident(column_name), ', '))
                   FROM information_schema.columns WHERE table_name = '{table}' AND is_generated = 'NEVER'
             ); END $$"
        )
    };
    for table in ["keys", "policies", "services"] {
        by_sql(&world, &hide(table)).await;
        is_refused(&world).await;
        by_sql(&world, &show(table)).await;
    }
    for (tampering, undo) in [
        ("UPDATE keys SET algorithm = 'RSA-4096'", "UPDATE keys SET algorithm = 'RSA-2048'"),
        (
            "UPDATE policies SET seal = NULL",
            "UPDATE policies p SET seal = k.seal FROM kept_policies k WHERE k.id = p.id",
        ),
    ] {
        by_sql(&world, tampering).await;
        is_refused(&world).await;
        by_sql(&world, undo).await;
    }
    assert_eq!(register(&world, "").await["keys"], first["keys"]);
}

/// A key whose row does not count is in the report whatever the filter, because its members can be wrong.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_a_seal_passes_every_filter() {
    let (world, key) = world_with_key().await;
    by_sql(&world, "UPDATE keys SET seal = NULL").await;
    let report = register(&world, "?strengthBelow=64").await;
    assert_eq!(entry(&report, &key)["sealValid"], false);
}

/// An older key would sign.
#[tokio::test(flavor = "multi_thread")]
async fn no_report_is_made_while_the_row_of_a_report_key_does_not_count() {
    let (world, _) = world_with_key().await;
    let older = "INSERT INTO report_keys (id, public_key, created_at)
        SELECT gen_random_uuid(), public_key, created_at - interval '1 day' FROM report_keys";
    rewrite(&world.pool, older).await;
    register(&world, "").await;
    let hide = "UPDATE report_keys SET seal = NULL
        WHERE created_at = (SELECT max(created_at) FROM report_keys)";
    by_sql(&world, hide).await;
    let refused = world.admin().get("/admin/reports/keys").await.refused(409, "CONFLICT");
    assert!(refused.message().contains("`sealward init`"), "{}", refused.message());
}

/// Their requests are events, but no changes.
#[tokio::test(flavor = "multi_thread")]
async fn unauthenticated_requests_do_not_delay_reports() {
    let (world, _) = world_with_key().await;
    let flood = async {
        let unauthenticated = world.client("a false key");
        loop {
            unauthenticated.get("/admin/services").await.refused(401, "AUTHENTICATION_FAILED");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let reports = async {
        for _ in 0..3 {
            world.admin().get("/admin/reports/keys").await.ok();
        }
    };
    tokio::select! {
        () = flood => {}
        () = reports => {}
    }
}

/// Nor do they hide a change that the log does not have yet.
#[tokio::test(flavor = "multi_thread")]
async fn no_report_is_made_without_the_last_change_however_many_refusals_follow() {
    let (world, _) = world_with_key().await;
    world.admin().get("/admin/reports/keys").await.ok();
    by_sql(
        &world,
        "CREATE FUNCTION refuse_positions() RETURNS trigger LANGUAGE plpgsql AS
             $$BEGIN RAISE EXCEPTION 'the log has stopped'; END$$;
         CREATE TRIGGER refuse_positions BEFORE INSERT ON audit_log_positions
             FOR EACH STATEMENT EXECUTE FUNCTION refuse_positions()",
    )
    .await;
    world.service("late").await;
    by_sql(
        &world,
        "INSERT INTO management_events (id, at, actor, action, resource_type)
         SELECT (lpad(to_hex(extract(epoch FROM clock_timestamp())::bigint * 1000 + 1000), 12, '0')
                    || '70008000' || lpad(to_hex(number), 12, '0'))::uuid,
                now(), 'nobody', 'refuse', 'request'
           FROM generate_series(1, 5000) AS number",
    )
    .await;
    let refused = world.admin().get("/admin/reports/keys").await;
    refused.refused(503, "SERVICE_UNAVAILABLE");
    by_sql(&world, "DROP TRIGGER refuse_positions ON audit_log_positions").await;
    let is_made = async || world.admin().get("/admin/reports/keys").await.status.as_u16() == 200;
    within(PATIENCE, is_made).await;
}

/// A table without a line says nothing about itself.
#[tokio::test(flavor = "multi_thread")]
async fn the_signature_says_what_an_empty_table_is_about() {
    let (world, _) = world_with_key().await;
    let keys = trusted(&world).await;
    let empty = async |query: &str| {
        let admin = world.admin().with("accept", "text/csv");
        admin.get(&format!("/admin/reports/keys?{query}")).await.ok()
    };
    let [one, other] = [empty("algorithm=ML-DSA-87").await, empty("strengthBelow=1").await];
    for (table, filter) in [(&one, "algorithm=ML-DSA-87"), (&other, "strengthBelow=1")] {
        let signature = table.header("x-report-signature");
        let verified = keys.verify(table.body.as_bytes(), signature).expect("a signature");
        assert_eq!(verified.register.expect("a register").filter, filter);
        let moved = signature.replacen('.', "A.", 1);
        let refused = keys.verify(table.body.as_bytes(), &moved);
        assert!(
            matches!(refused, Err(NotVerified::Malformed | NotVerified::Changed)),
            "{refused:?}"
        );
    }
    // All lines name the report.
    assert!(csv(&world).await.body.lines().count() > 1);
}

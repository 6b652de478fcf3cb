//! What the login of the service can do, and what it does not gain by it.

use engine::ledger::{Log, SealState, take_back};
use engine::segments::remove_forged;
use formats::tlog::Hash;
use serde_json::json;
use sqlx::AssertSqlSafe;

use super::fixture::{Written, position};
use crate::ledger::{covered, hash, sealed_world};
use testkit::{PATIENCE, Site, pool, within};

/// A segment of the newest record with another hash and no valid MAC.
const FORGED: &str = "INSERT INTO audit_log_segments (log, id, ids, hashes, mac)
    SELECT 1, '00000000-0000-7000-8000-000000000000', ARRAY[id], decode(repeat('11', 32), 'hex'),
           decode('00000001' || repeat('22', 32), 'hex')
      FROM crypto_operations_audit ORDER BY id DESC LIMIT 1";

impl Written {
    /// Runs SQL with the login of the service.
    pub(super) async fn as_service(&self, sql: &str) -> Result<(), String> {
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&self.kept.pool).await;
        done.map(|_| ()).map_err(|error| code(&error))
    }
}

pub(super) fn code(error: &sqlx::Error) -> String {
    let code = error.as_database_error().and_then(|error| error.code());
    code.expect("a code").into_owned()
}

fn says(part: &'static str) -> impl Fn(&SealState) -> bool {
    move |state| matches!(state, SealState::Failed(error) if error.contains(part))
}

const MOVED: &str = "moved while this instance had the lock of the sealer";

const UNTRUSTED: &str = "has grown by records that no instance sealed";

#[tokio::test]
async fn the_login_only_inserts_segments() {
    let written = Written::new().await;
    written.write(1).await;
    const FORBIDDEN: &str = "42501";
    for attempt in [
        "UPDATE audit_log_segments SET hashes = hashes",
        "UPDATE audit_log_segments SET mac = mac",
        "INSERT INTO audit_log_segments VALUES (1, gen_random_uuid(), '{}', '', '', pg_current_xact_id())",
        "DELETE FROM audit_log_segments",
        "INSERT INTO audit_log_positions VALUES (1, 0, 1, gen_random_uuid())",
        "UPDATE audit_log_positions SET base = 1",
        "DELETE FROM audit_log_positions",
        "INSERT INTO audit_log_nodes VALUES (1, 1, 0, decode(repeat('00', 32), 'hex'))",
        "UPDATE audit_log_heads SET size = 1",
        "UPDATE audit_log_heads SET root = root",
        "DELETE FROM audit_log_heads",
    ] {
        assert_eq!(written.as_service(attempt).await, Err(FORBIDDEN.to_owned()), "{attempt}");
    }
    assert_eq!(written.as_service(FORGED).await, Ok(()));
}

#[tokio::test]
async fn a_forged_segment_is_named_and_passed_over() {
    let written = Written::new().await;
    written.write(3).await;
    written.as_service(FORGED).await.expect("a segment");
    let sealer = written.kept.sealer().await;
    written.assert_sealed_once(3).await;
    sealer.state(|state| *state == SealState::Sealing).await;
    within(PATIENCE, async || written.flaws("audit_log_segments") == ["forged"]).await;
}

#[tokio::test]
async fn a_forged_segment_is_an_event() {
    let world = sealed_world().await;
    hash(&world, 1).await;
    // The function of the owner would give it a position.
    let forged =
        FORGED.replace("'00000000-0000-7000-8000-000000000000'", "audit_segment_bound(id)");
    let inserted = sqlx::query(AssertSqlSafe(forged)).execute(&pool(world.as_application())).await;
    assert_eq!(inserted.expect("a segment").rows_affected(), 1);
    let alarm = async || {
        let path = "/admin/audit/management?action=row.invalid";
        world.admin().get(path).await.ok().json()["items"][0]["after"].clone()
    };
    let named = json!({ "table": "audit_log_segments", "flaw": "forged" });
    within(PATIENCE, async || alarm().await == named).await;
    assert_eq!(covered(&world, Log::Operations, 1).await.size, 1);
}

/// Whoever writes a record by SQL cannot hide it from the log with a forged segment.
#[tokio::test]
async fn a_forged_segment_does_not_hide_a_record_without_one() {
    let written = Written::new().await;
    written.write(1).await;
    written.kept.record(1).await;
    written
        .as_service(&FORGED.replace("'00000000-0000-7000-8000-000000000000'", "id"))
        .await
        .expect("a segment");
    let _sealer = written.kept.sealer().await;
    written.assert_sealed_once(2).await;
}

/// The metric shows it, because an instance without its token writes such records too.
#[tokio::test]
async fn a_new_record_that_no_instance_wrote_is_sealed_and_counted() {
    let written = Written::new().await;
    written.write(2).await;
    let sealer = written.kept.sealer().await;
    written.assert_sealed_once(2).await;
    written.kept.record(3).await;
    written.assert_sealed_once(5).await;
    let counted = || sealer.status.stragglers().map(|(_, count)| count).collect::<Vec<_>>();
    within(PATIENCE, async || counted() == [3, 0]).await;
    assert_eq!(written.flaws("crypto_operations_audit"), Vec::<String>::new());
}

#[tokio::test]
async fn an_old_record_that_no_instance_wrote_is_sealed_and_named() {
    let written = Written::new().await;
    written.write(1).await;
    written.kept.record_at(2, "inserted", "now() - interval '2 hours'").await;
    let sealer = written.kept.sealer().await;
    written.assert_sealed_once(3).await;
    sealer.state(|state| *state == SealState::Sealing).await;
    assert_eq!(written.flaws("crypto_operations_audit"), ["unsealed"]);
}

#[tokio::test]
async fn a_record_that_is_too_long_is_named_and_stops_nothing() {
    let written = Written::new().await;
    written.write(1).await;
    written.kept.record(1).await;
    let long = "UPDATE crypto_operations_audit SET error_message = repeat('x', 70000) WHERE request_id = 'r'";
    written.kept.allow_long().await;
    written.kept.execute(long).await;
    let sealer = written.kept.sealer().await;
    sealer.state(|state| *state == SealState::Sealing).await;
    written.write(1).await;
    written.kept.covered(2).await;
    within(PATIENCE, async || written.flaws("crypto_operations_audit") == ["unsealed"]).await;
}

/// Another instance seals on, because the segment is genuine. This one alarms until it starts again.
#[tokio::test]
async fn a_head_that_moves_while_the_lock_is_held_is_an_alarm_until_the_restart() {
    let written = Written::new().await;
    written.write(1).await;
    let (segment, leaves) = written.segments().await.remove(0);
    written
        .kept
        .execute(
            "CREATE TABLE held AS TABLE audit_log_segments; GRANT SELECT ON held TO sealward_application;
             DELETE FROM audit_log_segments; DELETE FROM crypto_operations_audit",
        )
        .await;
    let sealer = written.kept.sealer().await;
    sealer.state(|state| *state == SealState::Sealing).await;
    let mut transaction = written.kept.pool.begin().await.expect("a transaction");
    let put_back = "INSERT INTO audit_log_segments SELECT log, id, ids, hashes, mac FROM held";
    sqlx::query(put_back).execute(&mut *transaction).await.expect("a segment");
    position(&mut transaction, segment, &leaves, None).await;
    transaction.commit().await.expect("a commit");
    written.write(1).await;
    sealer.state(says(MOVED)).await;
    let other = written.kept.sealer().await;
    written.kept.covered(2).await;
    other.state(|state| *state == SealState::Sealing).await;
    written.write(1).await;
    written.kept.covered(3).await;
    assert!(says(MOVED)(&sealer.status.state()));
    sealer.stop().await;
    let sealer = written.kept.sealer().await;
    sealer.state(|state| *state == SealState::Standby).await;
}

#[tokio::test]
async fn a_head_that_moves_to_a_segment_that_no_instance_wrote_stops_sealing() {
    let written = Written::new().await;
    let sealer = written.kept.sealer().await;
    sealer.state(|state| *state == SealState::Sealing).await;
    written.as_service(FORGED_ALONE).await.expect("a segment");
    let [(segment, leaves)] = written.segments().await.try_into().expect("one segment");
    written.position(segment, &leaves, None).await;
    sealer.state(|state| says(MOVED)(state) || says(UNTRUSTED)(state)).await;
    written.write(1).await;
    sealer.stop().await;
    // After a restart its MAC decides.
    let sealer = written.kept.sealer().await;
    sealer.state(says(UNTRUSTED)).await;
    assert!(written.kept.checkpoint().await.is_none_or(|checkpoint| checkpoint.size == 0));
    // An operator removes the segment.
    take_back_all(&written, 0).await;
    assert_eq!(remove_forged(&written.kept.owner).await.expect("segments"), [segment]);
    written.kept.covered(1).await;
    sealer.state(|state| *state == SealState::Sealing).await;
}

/// A segment of no record.
pub(super) const FORGED_ALONE: &str = "INSERT INTO audit_log_segments (log, id, ids, hashes, mac)
    VALUES (1, '01900000-0000-7000-8000-000000000000', '{01900000-0000-7000-8000-000000000000}',
            decode(repeat('11', 32), 'hex'), decode('00000001' || repeat('22', 32), 'hex'))";

#[tokio::test]
async fn an_operator_removes_the_segments_that_no_instance_wrote() {
    let site = Site::new().await;
    site.run(&["audit", "init"]).success();
    let mut owner = site.connect().await;
    let mut count = async |sql: &'static str| -> i64 {
        sqlx::query_scalar(sql).fetch_one(&mut owner).await.expect(sql)
    };
    const SEGMENTS: &str = "SELECT count(*) FROM audit_log_segments";
    let genuine = count(SEGMENTS).await;
    assert!(genuine > 0);
    sqlx::query(FORGED_ALONE).execute(&mut site.connect().await).await.expect("a segment");
    let removed = site.run(&["rows", "remove-segments"]).success().stdout;
    assert_eq!(removed, "01900000-0000-7000-8000-000000000000\n1 segments are removed\n");
    assert_eq!(count(SEGMENTS).await, genuine);
    assert_eq!(site.run(&["rows", "remove-segments"]).success().line(), "0 segments are removed");
}

#[tokio::test]
async fn growth_by_genuine_segments_is_trusted_after_a_restart() {
    let written = Written::new().await;
    written.write(3).await;
    for (segment, leaves) in written.segments().await {
        written.position(segment, &leaves, None).await;
    }
    let _sealer = written.kept.sealer().await;
    written.assert_sealed_once(3).await;
}

/// Instances read such rows at once, and again and again.
#[tokio::test]
async fn no_row_is_too_long_to_be_read() {
    let written = Written::new().await;
    const REFUSED: &str = "23514";
    for attempt in [
        "INSERT INTO management_events (id, at, actor, action, resource_type, after)
         VALUES (gen_random_uuid(), now(), 'n', 'update', 'key', jsonb_build_object('x', repeat('x', 600000)))",
        "UPDATE audit_log_heads SET cosigned = repeat('x', 70000)",
        "UPDATE audit_log_heads SET checkpoint = repeat('x', 70000)",
        "INSERT INTO job_leaders VALUES ('x', now(), decode(repeat('00', 65), 'hex'))",
        "INSERT INTO audit_log_segments VALUES (1, gen_random_uuid(), '{}', decode(repeat('00', 16385), 'hex'), '')",
        "INSERT INTO audit_log_segments VALUES (1, gen_random_uuid(), '{}', '', decode(repeat('00', 65), 'hex'))",
    ] {
        assert_eq!(written.as_service(attempt).await, Err(REFUSED.to_owned()), "{attempt}");
    }
}

#[tokio::test]
async fn a_false_root_is_not_signed() {
    let written = Written::new().await;
    written.write(1).await;
    let (segment, leaves) = written.segments().await.remove(0);
    written.position(segment, &leaves, Some(Hash::of_leaf(b"another"))).await;
    let sealer = written.kept.sealer().await;
    sealer.state(says("the hashes of the operations log do not match its head")).await;
    assert!(written.kept.checkpoint().await.is_none());
    take_back_all(&written, 1).await;
    written.kept.covered(1).await;
}

/// Otherwise the sealer would give signed positions to other segments.
#[tokio::test]
async fn nothing_that_is_signed_is_taken_back() {
    let written = Written::new().await;
    written.write(1).await;
    let sealer = written.kept.sealer().await;
    written.kept.covered(1).await;
    sealer.stop().await;
    written.as_service(FORGED_ALONE).await.expect("a segment");
    let (genuine, mut leaves) = written.segments().await.pop().expect("a segment");
    let (forged, of_forged) = written.segments().await.remove(0);
    assert_ne!(genuine, forged);
    leaves.extend(of_forged);
    written.position(forged, &leaves, None).await;
    let lost =
        "UPDATE audit_log_heads SET checkpoint = NULL, checkpoint_at = NULL, checkpoint_size = 0";
    written.as_service(lost).await.expect("a change");
    take_back_all(&written, 1).await;
    written.as_service("UPDATE audit_log_heads SET origin = 'x'").await.expect("a change");
    take_back(&written.kept.owner).await.expect_err("another origin");
}

/// Takes back what the login of the service has added to the log of operations.
async fn take_back_all(written: &Written, size: u64) {
    let shortened = take_back(&written.kept.owner).await.expect("a log");
    assert_eq!(shortened, [(Log::Operations, size)]);
}

/// Otherwise a session that keeps the lock of the sealer would also keep the alert away.
#[tokio::test]
async fn the_age_of_a_checkpoint_is_not_what_the_login_writes() {
    let written = Written::new().await;
    written.write(1).await;
    let sealer = written.kept.sealer().await;
    written.kept.covered(1).await;
    sealer.stop().await;
    let mut intruder = written.kept.pool.acquire().await.expect("a session");
    sqlx::query("SELECT pg_advisory_lock(hashtextextended('sealward job sealer', 0))")
        .execute(&mut *intruder)
        .await
        .expect("the lock");
    let signed = "SELECT floor(extract(epoch FROM checkpoint_at))::bigint FROM audit_log_heads WHERE log = 1";
    let signed = written.count(signed).await;
    let sealer = written.kept.sealer().await;
    let known = || sealer.status.logs().into_iter().find(|it| it.log == Log::Operations);
    within(PATIENCE, async || known().is_some()).await;
    let forged = "UPDATE audit_log_heads SET origin = 'x', checkpoint_size = size, checkpoint_at = now() + interval '1 hour'";
    written.as_service(forged).await.expect("a change");
    written.write(1).await;
    within(PATIENCE, async || known().is_some_and(|it| it.unsealed == 1)).await;
    let status = known().expect("a status");
    assert_eq!(status.checkpoint_size, 1);
    assert_eq!(status.checkpoint_at.map(|at| at.as_millis() / 1000), Some(signed));
}

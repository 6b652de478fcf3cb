//! What the audit writer writes.

use std::time::Duration;

use engine::db::Pool;
use sqlx::postgres::PgPoolOptions;

use super::fixture::Written;
use crate::audit::record;
use crate::ledger::fixture::Kept;
use testkit::{PATIENCE, Proxy, pool, within};

#[tokio::test]
async fn each_record_is_in_the_segment_of_its_transaction() {
    let written = Written::new().await;
    written.write(600).await;
    written.assert_each_in_one_segment(600).await;
    let _sealer = written.kept.sealer().await;
    written.assert_sealed_once(600).await;
    let too_many = "SELECT count(*) FROM audit_log_segments WHERE cardinality(ids) > 512";
    assert_eq!(written.count(too_many).await, 0);
}

/// The answer to the commit is lost, so that the writer finds the records when it writes them again.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_whose_commit_was_not_answered_has_one_segment() {
    let kept = Kept::new().await;
    let options = kept.pool.current().connect_options();
    let (through, proxy) = Proxy::for_server(&options).await;
    let written = Written::through(kept, pool(through));
    written.write(1).await;
    proxy.slow_down(Duration::from_millis(300));
    let pending = written.submit((0..5).map(|_| record("unanswered")).collect());
    let arrived = async || {
        let count = "SELECT count(*) FROM crypto_operations_audit WHERE request_id = 'unanswered'";
        written.count(count).await == 5
    };
    within(PATIENCE, arrived).await;
    proxy.close_connections();
    proxy.slow_down(Duration::ZERO);
    proxy.resume();
    for pending in pending {
        pending.receipt().await.expect("a receipt");
    }
    assert!(proxy.executed("ON CONFLICT DO NOTHING RETURNING id") > 0);
    written.assert_each_in_one_segment(6).await;
    let _sealer = written.kept.sealer().await;
    written.assert_sealed_once(6).await;
}

/// The sessions that wait for a lock.
const WAITING: &str =
    "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/// The connection ends before the commit, so that the writer finds no records when it writes them again.
#[tokio::test]
async fn a_batch_whose_first_attempt_was_not_committed_has_one_segment() {
    let written = Written::new().await;
    written.write(1).await;
    let mut lock = written.kept.owner.begin().await.expect("a transaction");
    let statement = "LOCK TABLE crypto_operations_audit IN EXCLUSIVE MODE";
    sqlx::query(statement).execute(&mut *lock).await.expect("a lock");
    let pending = written.submit((0..5).map(|_| record("uncommitted")).collect());
    let waits = async |attempt: &str| {
        let waiting = format!("SELECT count(*) FROM {WAITING} AND query LIKE '{attempt}%'");
        written.count(&waiting).await == 1
    };
    within(PATIENCE, async || waits("WITH records AS (INSERT INTO").await).await;
    written.kept.execute(&format!("SELECT pg_terminate_backend(pid) FROM {WAITING}")).await;
    within(PATIENCE, async || waits("INSERT INTO crypto_operations_audit").await).await;
    written.assert_each_in_one_segment(1).await;
    lock.rollback().await.expect("a rollback");
    for pending in pending {
        pending.receipt().await.expect("a receipt");
    }
    written.assert_each_in_one_segment(6).await;
    let segments = "SELECT count(*) FROM audit_log_segments WHERE log = 1";
    assert_eq!(written.count(segments).await, 2);
}

#[tokio::test]
async fn the_halves_of_a_batch_have_segments_of_their_own() {
    let written = Written::new().await;
    written
        .kept
        .execute("ALTER TABLE crypto_operations_audit ADD CONSTRAINT poison CHECK (request_id <> 'poison')")
        .await;
    let names = (0..20).map(|number| if number == 7 { "poison" } else { "good" });
    let mut refused = 0;
    for pending in written.submit(names.map(record).collect()) {
        refused += u32::from(pending.receipt().await.is_err());
    }
    assert_eq!(refused, 1);
    written.assert_each_in_one_segment(19).await;
    let _sealer = written.kept.sealer().await;
    written.assert_sealed_once(19).await;
}

/// A process that started while no token answered.
#[tokio::test]
async fn records_of_a_process_without_the_row_key_are_sealed_without_an_alarm() {
    let kept = Kept::new().await;
    let options = kept.pool.current().connect_options();
    let keyless: Pool = PgPoolOptions::new().connect_lazy_with((*options).clone()).into();
    let written = Written::through(kept, keyless);
    written.write(3).await;
    assert_eq!(written.count("SELECT count(*) FROM audit_log_segments WHERE log = 1").await, 0);
    let _sealer = written.kept.sealer().await;
    written.assert_sealed_once(3).await;
    written.assert_each_in_one_segment(3).await;
    assert_eq!(written.flaws("crypto_operations_audit"), Vec::<String>::new());
}

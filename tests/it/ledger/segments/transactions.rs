//! Transactions that commit late, in part or not at all.

use std::time::Duration;

use engine::ledger::SealState;
use formats::clock::Clock;

use super::fixture::Written;
use crate::ledger::fixture::OwnSealer;

impl Written {
    /// Takes the records and their segments out of their tables.
    pub(super) async fn hold(&self) {
        self.kept
            .execute(
                "CREATE TABLE held AS TABLE crypto_operations_audit;
                 CREATE TABLE held_segments AS TABLE audit_log_segments;
                 GRANT SELECT ON held, held_segments TO sealward_application;
                 DELETE FROM crypto_operations_audit; DELETE FROM audit_log_segments",
            )
            .await;
    }
}

pub(super) const PUT_BACK: &str = "INSERT INTO crypto_operations_audit SELECT * FROM held;
                        INSERT INTO audit_log_segments
                        SELECT log, id, ids, hashes, mac FROM held_segments WHERE log = 1";

#[tokio::test]
async fn a_transaction_that_commits_late_is_sealed_after_the_others_and_once() {
    let written = Written::new().await;
    written.write(3).await;
    written.hold().await;
    let mut late = written.kept.owner.begin().await.expect("a transaction");
    sqlx::raw_sql(PUT_BACK).execute(&mut *late).await.expect("records");
    let _sealer = written.kept.sealer().await;
    written.write(2).await;
    written.kept.covered(2).await;
    late.commit().await.expect("a commit");
    written.assert_sealed_once(5).await;
    let first = "SELECT count(*) FROM audit_log_index i JOIN held h ON h.id = i.record_id
                  WHERE i.log = 1 AND i.log_index < 2";
    assert_eq!(written.count(first).await, 0);
}

#[tokio::test]
async fn what_is_rolled_back_is_not_sealed() {
    let written = Written::new().await;
    written.write(3).await;
    written.hold().await;
    let mut transaction = written.kept.owner.begin().await.expect("a transaction");
    sqlx::raw_sql(PUT_BACK).execute(&mut *transaction).await.expect("records");
    let _sealer = written.kept.sealer().await;
    written.write(1).await;
    written.kept.covered(1).await;
    transaction.rollback().await.expect("a rollback");
    written.write(1).await;
    written.assert_sealed_once(2).await;
}

#[tokio::test]
async fn what_a_savepoint_takes_back_is_not_sealed() {
    let written = Written::new().await;
    written.write(1).await;
    written.hold().await;
    let renamed =
        "ALTER TABLE held RENAME TO taken; ALTER TABLE held_segments RENAME TO taken_segments";
    written.kept.execute(renamed).await;
    let taken_back = PUT_BACK.replace("held", "taken");
    written.write(3).await;
    written.hold().await;
    let mut transaction = written.kept.owner.begin().await.expect("a transaction");
    let statements = format!("SAVEPOINT one; {taken_back}; ROLLBACK TO one; {PUT_BACK}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(statements))
        .execute(&mut *transaction)
        .await
        .expect("records");
    let _sealer = written.kept.sealer().await;
    written.write(1).await;
    written.kept.covered(1).await;
    transaction.commit().await.expect("a commit");
    written.assert_sealed_once(4).await;
    let taken = "SELECT count(*) FROM audit_log_index i JOIN taken t ON t.id = i.record_id";
    assert_eq!(written.count(taken).await, 0);
}

/// A commit can be late by any time, and a clock wrong by any. The first sweeps pass over such segments.
#[tokio::test]
async fn a_segment_of_any_time_is_sealed() {
    let written = Written::new().await;
    written.write(1).await;
    let sealer = written.kept.sealer().await;
    written.kept.covered(1).await;
    let now = Clock::system().now();
    let [minute, hour] = [60, 3_600].map(Duration::from_secs);
    for moment in [now.minus(11 * minute), now.minus(72 * hour), now.plus(hour)] {
        written.write_at(moment).await;
    }
    written.assert_sealed_once(4).await;
    // They are sealed as segments, not as records without one.
    sealer.assert_no_stragglers();
}

/// A database that lost its last commits can have segments without their positions, which are committed later.
#[tokio::test]
async fn a_lost_tail_is_sealed_anew_only_without_a_checkpoint_of_it() {
    let written = Written::new().await;
    written.write(3).await;
    written.kept.execute("CREATE TABLE heads AS TABLE audit_log_heads").await;
    let sealer = written.kept.sealer().await;
    written.kept.covered(3).await;
    sealer.stop().await;
    written
        .kept
        .execute(
            "DELETE FROM audit_log_positions; DELETE FROM audit_log_heads;
             INSERT INTO audit_log_heads SELECT * FROM heads",
        )
        .await;
    let sealer = written.kept.sealer().await;
    let is_fork = |state: &SealState| {
        matches!(state, SealState::Failed(error)
            if error.contains("does not extend its checkpoint of 3 records in audit.seal.anchor"))
    };
    sealer.state(is_fork).await;
    assert_eq!(written.count("SELECT count(*) FROM audit_log_positions WHERE log = 1").await, 0);
    sealer.stop().await;

    // This sealer has neither the anchor nor a memory of the checkpoint.
    let sealer = OwnSealer::start(written.kept.pool.clone(), None).await;
    written.assert_sealed_once(3).await;
    sealer.assert_no_stragglers();
}

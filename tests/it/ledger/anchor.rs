//! The database loses or changes sealed records: no checkpoint contradicts an earlier one.

use std::fs;

use engine::ledger::{self, Log, Renewal, SealState, take_back};
use formats::tlog::Checkpoint;
use sqlx::AssertSqlSafe;

use super::fixture::{Kept, ORIGIN, OwnSealer, initialize_in};
use testkit::{PATIENCE, within};

impl Kept {
    /// Seals three records, backs the database up, and seals two more.
    pub(super) async fn back_up(&self) {
        self.write(3).await;
        self.covered(3).await;
        self.keep_heads().await;
        self.write(2).await;
        self.covered(5).await;
    }

    pub(super) async fn keep_heads(&self) {
        self.execute("CREATE TABLE backup AS TABLE audit_log_heads").await;
    }

    /// Restores the backup, after which two other records are written.
    pub(super) async fn restore(&self) {
        self.roll_back().await;
        self.write(2).await;
    }

    /// Restores the logs as they were when their heads were kept.
    pub(super) async fn roll_back(&self) {
        self.execute(
            "DELETE FROM crypto_operations_audit r USING audit_log_index i
              WHERE i.record_id = r.id AND i.log = 1 AND i.log_index >= 3;
             DELETE FROM audit_log_segments s USING audit_log_positions p, backup b
              WHERE s.log = p.log AND s.id = p.segment AND p.log = b.log AND p.base >= b.size;
             DELETE FROM audit_log_positions p USING backup b WHERE p.log = b.log AND p.base >= b.size;
             DELETE FROM audit_log_heads;
             INSERT INTO audit_log_heads SELECT * FROM backup",
        )
        .await;
    }
}

pub(super) fn is_fork(place: &str) -> impl Fn(&SealState) -> bool {
    let text = format!("does not extend its checkpoint of 5 records in {place}");
    move |state| matches!(state, SealState::Failed(error) if error.contains(&text))
}

fn is_other_origin(state: &SealState) -> bool {
    matches!(state, SealState::Failed(error) if error.contains("the origin of the operations log was changed"))
}

#[tokio::test]
async fn sealing_stops_after_a_restored_backup_until_the_origin_is_new() {
    let kept = Kept::new().await;
    let sealer = kept.sealer().await;
    kept.back_up().await;
    sealer.assert_no_stragglers();
    sealer.stop().await;
    kept.restore().await;
    let anchored = fs::read(kept.anchor()).unwrap();

    let sealer = kept.sealer().await;
    sealer.state(is_fork("audit.seal.anchor")).await;
    assert_eq!(kept.checkpoint().await.unwrap().size, 3);
    assert_eq!(fs::read(kept.anchor()).unwrap(), anchored);

    kept.execute("CREATE TABLE former_origins AS TABLE audit_log_origins").await;
    let renewal = Renewal { origin: true, ..Renewal::default() };
    let keys = initialize_in(&kept.pool, renewal).await;
    sealer.state(|state| *state == SealState::Sealing).await;
    let checkpoint = kept.covered(5).await;
    assert_eq!(checkpoint.origin, keys[0].name());
    assert!(checkpoint.origin.starts_with(&format!("{ORIGIN}/2")));
    assert!(checkpoint.origin.ends_with("/operations"));

    // The service's login can change the origin.
    kept.execute(&format!(
        "UPDATE audit_log_heads SET origin = '{ORIGIN}/operations', checkpoint = NULL,
                                    checkpoint_size = 0, checkpoint_at = NULL WHERE log = 1"
    ))
    .await;
    kept.record(1).await;
    sealer.state(is_other_origin).await;
    // The owner puts the sealed row back.
    kept.execute(
        "DELETE FROM audit_log_origins; INSERT INTO audit_log_origins SELECT * FROM former_origins;
         DELETE FROM revisions WHERE table_name = 'audit_log_origins' AND revision > 1",
    )
    .await;
    sealer.state(is_fork("audit.seal.anchor")).await;
}

#[tokio::test]
async fn a_running_sealer_notices_a_restored_backup_without_the_anchor() {
    let kept = Kept::new().await;
    let sealer = OwnSealer::start(kept.pool.clone(), None).await;
    kept.back_up().await;
    kept.restore().await;
    sealer.state(is_fork("memory")).await;
    assert_eq!(kept.checkpoint().await.unwrap().size, 3);
}

#[tokio::test]
async fn a_sealer_that_loses_its_connection_seals_each_record_once() {
    let kept = Kept::new().await;
    let sealer = kept.sealer().await;
    for round in 1..=5 {
        kept.write(2).await;
        kept.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE application_name = 'sealward sealer' AND datname = current_database()",
        )
        .await;
        kept.covered(2 * round).await;
    }
    let sealed: (i64, i64) = sqlx::query_as(
        "SELECT count(*), count(DISTINCT record_id) FROM audit_log_index WHERE log = 1",
    )
    .fetch_one(&kept.owner)
    .await
    .unwrap();
    assert_eq!(sealed, (10, 10));
    sealer.assert_no_stragglers();
}

#[tokio::test]
async fn two_sealers_sign_one_history() {
    let kept = Kept::new().await;
    let one = kept.sealer().await;
    one.state(|state| *state == SealState::Sealing).await;
    let two = kept.sealer().await;
    two.state(|state| *state == SealState::Standby).await;
    kept.write(3).await;
    kept.covered(3).await;
    one.assert_no_stragglers();
    one.stop().await;
    two.state(|state| *state == SealState::Sealing).await;
    kept.write(1).await;
    kept.covered(4).await;
    two.assert_no_stragglers();
}

/// The owner of the database can insert such a position.
#[tokio::test]
async fn a_position_beyond_the_log_does_not_make_a_record_sealed() {
    let kept = Kept::new().await;
    let sealer = kept.sealer().await;
    kept.write(3).await;
    kept.covered(3).await;
    sealer.stop().await;
    kept.record(1).await;
    kept.execute(
        "INSERT INTO audit_log_segments (log, id, ids, hashes, mac)
         SELECT 1, id, ARRAY[id], decode(repeat('00', 32), 'hex'), ''
           FROM crypto_operations_audit ORDER BY ts DESC, id DESC LIMIT 1;
         INSERT INTO audit_log_positions (log, base, count, segment)
         SELECT 1, 4000000000000000000, 1, id
           FROM crypto_operations_audit ORDER BY ts DESC, id DESC LIMIT 1",
    )
    .await;
    let sealer = kept.sealer().await;
    kept.covered(4).await;
    sealer.stop().await;
    // The position of a segment that an instance wrote stops sealing.
    kept.execute(
        "UPDATE audit_log_positions SET base = 4000000000000000001 WHERE log = 1 AND base = 3",
    )
    .await;
    let sealer = kept.sealer().await;
    sealer.state(|state| matches!(state, SealState::Failed(_))).await;
}

/// The owner of the database can change the head and insert nodes that the log does not have yet.
#[tokio::test]
async fn a_head_that_does_not_extend_the_checkpoint_is_not_signed() {
    let kept = Kept::new().await;
    let sealer = kept.sealer().await;
    kept.record(3).await;
    kept.covered(3).await;
    kept.execute(
        "INSERT INTO audit_log_nodes VALUES (1, 2, 0, decode(repeat('00', 32), 'hex'));
         UPDATE audit_log_heads SET size = 65536, root = decode(repeat('00', 32), 'hex') WHERE log = 1",
    )
    .await;
    kept.record(1).await;
    let is_refused = |state: &SealState| matches!(state, SealState::Failed(error) if error.contains("has grown by records that no instance sealed"));
    sealer.state(is_refused).await;
    assert_eq!(kept.checkpoint().await.unwrap().size, 3);
}

/// Otherwise the log would continue as another one, whose checkpoints it does not extend.
#[tokio::test]
async fn a_log_with_the_origin_of_the_other_log_is_not_signed() {
    let kept = Kept::new().await;
    let sealer = kept.sealer().await;
    kept.record(3).await;
    kept.covered(3).await;
    kept.execute(&format!(
        "UPDATE audit_log_heads SET origin = '{ORIGIN}/management', checkpoint = NULL,
                                    checkpoint_size = 0, checkpoint_at = NULL WHERE log = 1"
    ))
    .await;
    kept.record(1).await;
    sealer.state(is_other_origin).await;
    assert!(kept.checkpoint().await.is_none());
}

/// The login of the service can write any origin, also one that no key can have.
#[tokio::test]
async fn initialization_puts_the_sealed_origin_back() {
    let kept = Kept::new().await;
    let sealer = kept.sealer().await;
    kept.record(3).await;
    kept.covered(3).await;
    let others = ["x", "no name+", &format!("{ORIGIN}/management")];
    for (size, other) in (4..).zip(others) {
        let change = format!("UPDATE audit_log_heads SET origin = '{other}' WHERE log = 1");
        let change = sqlx::raw_sql(AssertSqlSafe(change)).execute(&kept.pool).await;
        change.expect("a change of the login of the service");
        kept.record(1).await;
        let SealState::Failed(error) = sealer.state(is_other_origin).await else {
            panic!("{other}: records are sealed");
        };
        assert!(error.contains("run `sealward audit init`"), "{error}");
        let refused = take_back(&kept.owner).await.expect_err(other).to_string();
        assert!(refused.contains("run `sealward audit init`"), "{refused}");

        initialize_in(&kept.pool, Renewal::default()).await;
        sealer.state(|state| *state == SealState::Sealing).await;
        let checkpoint = kept.covered(size).await;
        assert_eq!(checkpoint.origin, format!("{ORIGIN}/operations"));
    }
}

#[tokio::test]
async fn changed_hashes_stop_sealing() {
    let kept = Kept::new().await;
    let sealer = kept.sealer().await;
    kept.record(3).await;
    kept.covered(3).await;
    sealer.stop().await;
    kept.execute(
        "UPDATE audit_log_segments SET hashes = overlay(hashes PLACING decode(repeat('00', 32), 'hex') FROM 1)
          WHERE log = 1",
    )
    .await;
    let sealer = kept.sealer().await;
    let state = sealer.state(|state| matches!(state, SealState::Failed(_))).await;
    let SealState::Failed(error) = state else {
        panic!("{state:?}");
    };
    assert!(error.contains("the hashes of the operations log"), "{error}");
}

#[tokio::test]
async fn an_anchor_that_this_service_has_not_signed_stops_sealing() {
    let kept = Kept::new().await;
    let sealer = kept.sealer().await;
    kept.record(3).await;
    kept.covered(3).await;
    // Both logs are in the anchor, which the sealer no longer writes.
    within(PATIENCE, async || {
        let management = ledger::checkpoint(&kept.pool, Log::Management).await;
        management.unwrap().is_some()
    })
    .await;
    sealer.stop().await;
    let anchor = fs::read_to_string(kept.anchor()).unwrap();
    fs::write(kept.anchor(), anchor.replace("\\n3\\n", "\\n4\\n")).unwrap();
    let sealer = kept.sealer().await;
    let unsigned = |state: &SealState| matches!(state, SealState::Failed(error) if error.contains("no valid signature of a known key"));
    sealer.state(unsigned).await;
    fs::write(kept.anchor(), "[]").unwrap();
    let content = |state: &SealState| matches!(state, SealState::Failed(error) if error.contains("must be a JSON object of checkpoints"));
    sealer.state(content).await;
}

/// The login of the service can write any checkpoint. The anchor has one that is as new.
#[tokio::test]
async fn a_forged_checkpoint_in_the_database_is_named_and_replaced_if_there_is_an_anchor() {
    let kept = Kept::new().await;
    let sealer = kept.sealer().await;
    kept.record(3).await;
    kept.covered(3).await;
    sealer.stop().await;
    let forge = "UPDATE audit_log_heads SET checkpoint = origin || E'\nx' WHERE log = 1";
    kept.execute(forge).await;

    // Nothing else shows what was sealed.
    let without = OwnSealer::start(kept.pool.clone(), None).await;
    let unsigned = |state: &SealState| matches!(state, SealState::Failed(error) if error.contains("in the database has no valid signature"));
    without.state(unsigned).await;
    without.stop().await;

    let sealer = kept.sealer().await;
    let replaced = "SELECT checkpoint <> origin || E'\\nx' FROM audit_log_heads WHERE log = 1";
    within(PATIENCE, async || sqlx::query_scalar(replaced).fetch_one(&kept.owner).await.unwrap())
        .await;
    kept.covered(3).await;
    kept.record(1).await;
    kept.covered(4).await;
    sealer.state(|state| *state == SealState::Sealing).await;
    let found = kept.pool.seals().findings();
    assert!(found.iter().any(|it| it.row.table == "audit_log_heads"), "{found:?}");
    sealer.stop().await;

    // The head must extend the checkpoint in the anchor.
    kept.execute(forge).await;
    let anchor = fs::read_to_string(kept.anchor()).unwrap();
    kept.execute("UPDATE audit_log_heads SET size = 3, checkpoint_size = 3 WHERE log = 1").await;
    let sealer = kept.sealer().await;
    sealer.state(|state| matches!(state, SealState::Failed(_))).await;
    assert_eq!(fs::read_to_string(kept.anchor()).unwrap(), anchor);
}

#[tokio::test]
async fn a_new_origin_ends_the_stop_by_a_forged_checkpoint_without_an_anchor() {
    let kept = Kept::new().await;
    let sealer = OwnSealer::start(kept.pool.clone(), None).await;
    kept.record(3).await;
    kept.covered(3).await;
    sealer.stop().await;
    kept.execute("UPDATE audit_log_heads SET checkpoint = origin || E'\nx' WHERE log = 1").await;
    kept.record(1).await;
    let sealer = OwnSealer::start(kept.pool.clone(), None).await;
    let names_cure = |state: &SealState| matches!(state, SealState::Failed(error) if error.contains("run `sealward audit init --new-origin`"));
    sealer.state(names_cure).await;
    let renewal = Renewal { origin: true, ..Renewal::default() };
    initialize_in(&kept.pool, renewal).await;
    sealer.state(|state| *state == SealState::Sealing).await;
    kept.covered(4).await;
}

#[tokio::test]
async fn earlier_checkpoints_verify_under_the_earlier_key() {
    let kept = Kept::new().await;
    let sealer = kept.sealer().await;
    kept.record(1).await;
    kept.covered(1).await;
    let earlier = ledger::checkpoint(&kept.pool, Log::Operations).await.unwrap().unwrap();
    let renewal = Renewal { key: true, ..Renewal::default() };
    initialize_in(&kept.pool, renewal).await;
    sealer.stop().await;
    let _sealer = kept.sealer().await;
    kept.record(1).await;
    within(PATIENCE, async || {
        let note = ledger::checkpoint(&kept.pool, Log::Operations).await.unwrap();
        note.is_some_and(|note| note != earlier)
    })
    .await;
    let latest = ledger::checkpoint(&kept.pool, Log::Operations).await.unwrap().unwrap();
    let keys = ledger::keys(&kept.pool, Log::Operations).await.unwrap().unwrap();
    assert_eq!(Checkpoint::open(&latest, &keys[0]).unwrap().size, 2);
    assert_eq!(Checkpoint::open(&earlier, &keys[1]).unwrap().size, 1);
    assert!(Checkpoint::open(&earlier, &keys[0]).is_err());
}

//! Changes of rows in the database.

use engine::ids::RecordId;
use engine::ledger::verify::{Change, NotVerified};
use engine::ledger::{self, Log};
use serde_json::{Value, json};

use super::fixture::{Sealed, finds, with};
use crate::ledger::fixture::Kept;

#[tokio::test]
async fn a_changed_row_is_found_and_named() {
    let sealed = Sealed::new().await;
    let tiles = sealed.mirror().await;
    sealed
        .kept
        .execute(
            "UPDATE crypto_operations_audit r SET response_status = 500
               FROM audit_log_index i WHERE i.record_id = r.id AND log_index = 4",
        )
        .await;
    let changed = Change::Changed { index: 4, record: sealed.id(4) };
    let lines = sealed.kept.export().await;
    finds(sealed.export(&lines, Some(&tiles)), &changed, Some(6));
    finds(sealed.export(&lines, None), &Change::Within(4..6), Some(6));
    finds(sealed.database().await, &changed, Some(6));
}

#[tokio::test]
async fn a_row_that_was_made_too_long_is_found_and_named() {
    let sealed = Sealed::new().await;
    sealed.kept.allow_long().await;
    sealed
        .kept
        .execute(
            "UPDATE crypto_operations_audit r SET request_id = repeat('x', 70000)
               FROM audit_log_index i WHERE i.record_id = r.id AND log_index = 4",
        )
        .await;
    let changed = Change::Changed { index: 4, record: sealed.id(4) };
    finds(sealed.database().await, &changed, Some(6));
}

#[tokio::test]
async fn a_row_whose_hash_was_changed_too_is_found() {
    let sealed = Sealed::new().await;
    let line = with(&sealed.lines[1], "response_status", json!(500));
    let leaf = ledger::leaf(Log::Operations, &line).unwrap();
    let hash = formats::tlog::Hash::of_leaf(&leaf);
    let hex: String = hash.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    sealed
        .kept
        .execute(&format!(
            "UPDATE crypto_operations_audit r SET response_status = 500
               FROM audit_log_index i WHERE i.record_id = r.id AND log_index = 1;
             UPDATE audit_log_segments s SET hashes = overlay(hashes PLACING decode('{hex}', 'hex') FROM 33)
               FROM audit_log_positions p WHERE p.log = 1 AND p.base = 0 AND s.log = 1 AND s.id = p.segment"
        ))
        .await;
    finds(sealed.database().await, &Change::Within(0..4), Some(4));
}

#[tokio::test]
async fn a_removed_row_is_found() {
    let sealed = Sealed::new().await;
    sealed
        .kept
        .execute(
            "DELETE FROM crypto_operations_audit r USING audit_log_index i
              WHERE i.record_id = r.id AND log_index = 2",
        )
        .await;
    let lines = sealed.kept.export().await;
    finds(sealed.export(&lines, None), &Change::Missing(2), Some(4));
    finds(sealed.database().await, &Change::Missing(2), Some(4));
}

/// No hash covers the identifier of a record in its segment. This one is of 2020.
#[tokio::test]
async fn a_removed_row_with_an_older_time_in_the_index_is_found() {
    let sealed = Sealed::new().await;
    sealed
        .kept
        .execute(
            "DELETE FROM crypto_operations_audit r USING audit_log_index i
              WHERE i.record_id = r.id AND log_index = 2;
             UPDATE audit_log_segments s SET ids[3] = '016f5e66-e800-7000-8000-000000000000'
               FROM audit_log_positions p WHERE p.log = 1 AND p.base = 0 AND s.log = 1 AND s.id = p.segment",
        )
        .await;
    finds(sealed.database().await, &Change::Missing(2), Some(4));
}

#[tokio::test]
async fn a_dropped_day_is_found() {
    let sealed = Sealed::new().await;
    sealed
        .kept
        .execute("DO $$ BEGIN EXECUTE 'DROP TABLE ' || audit_day_name((now() AT TIME ZONE 'UTC')::date); END $$")
        .await;
    let lines = sealed.kept.export().await;
    finds(sealed.export(&lines, None), &Change::Missing(0), Some(4));
    finds(sealed.database().await, &Change::Missing(0), Some(4));
}

#[tokio::test]
async fn a_row_added_with_a_past_time_is_found() {
    let sealed = Sealed::new().await;
    let added = add(&sealed.kept, 3).await;
    let added = Change::Added { record: added.to_string() };
    finds(sealed.database().await, &added, Some(6));
    let unsealed = with(&sealed.lines[0], "log_index", Value::Null);
    let mut lines = sealed.lines.clone();
    lines.insert(3, unsealed);
    let added = Change::Added { record: sealed.id(0) };
    finds(sealed.export(&lines, None), &added, Some(4));
    lines[3] = with(&sealed.lines[0], "log_index", json!(2));
    finds(sealed.export(&lines, None), &added, Some(4));
}

/// A position that the log does not have makes no record sealed.
#[tokio::test]
async fn an_added_row_with_a_position_beyond_the_log_is_found() {
    let sealed = Sealed::new().await;
    let id = add(&sealed.kept, 3).await;
    sealed
        .kept
        .execute(&format!(
            "INSERT INTO audit_log_segments (log, id, ids, hashes, mac)
             VALUES (1, '{id}', ARRAY['{id}'::uuid], decode(repeat('00', 32), 'hex'), '');
             INSERT INTO audit_log_positions (log, base, count, segment)
             VALUES (1, 4000000000000000000, 1, '{id}');
             UPDATE audit_log_heads SET size = 4000000000000000001 WHERE log = 1",
            id = id.uuid()
        ))
        .await;
    let added = Change::Added { record: id.to_string() };
    finds(sealed.database().await, &added, Some(6));
}

/// A row with the identifier of a sealed record and another time would take its place in lists.
#[tokio::test]
async fn an_added_row_with_the_identifier_of_a_sealed_record_is_found() {
    let sealed = Sealed::new().await;
    let day = "SELECT make_audit_day(((now() - interval '3 hours') AT TIME ZONE 'UTC')::date)";
    sealed.kept.execute(day).await;
    let copy = "INSERT INTO crypto_operations_audit
                    (id, ts, request_id, payload_size_bytes, response_status, response_time_ms, outcome)
                SELECT id, ts - interval '3 hours', 'copy', 0, 400, 1, 'refused'
                  FROM crypto_operations_audit JOIN audit_log_index ON record_id = id
                 WHERE log_index = 2";
    let refused = sqlx::query(copy).execute(&sealed.kept.owner).await;
    let refused = refused.expect_err("the identifier contains another time");
    let refused = refused.as_database_error().expect("an error of Postgres");
    let constraint = "crypto_operations_audit_id_has_time";
    assert_eq!(refused.constraint(), Some(constraint));
    // The owner can remove the constraint.
    let unchecked = format!("ALTER TABLE crypto_operations_audit DROP CONSTRAINT {constraint}");
    sealed.kept.execute(&unchecked).await;
    sealed.kept.execute(copy).await;
    let added = Change::Added { record: sealed.id(2) };
    finds(sealed.database().await, &added, Some(6));
}

/// Adds a record of this many hours ago. Returns its identifier.
async fn add(kept: &Kept, hours: u8) -> RecordId {
    let name = format!("{hours} hours ago");
    let time = format!("now() - interval '{hours} hours'");
    kept.record_at(1, &name, &time).await;
    let id = sqlx::query_scalar("SELECT id FROM crypto_operations_audit WHERE request_id = $1");
    id.bind(name).fetch_one(&kept.owner).await.expect("a record")
}

/// Sealing is interrupted for hours. Afterwards new records are sealed before those of the interruption.
#[tokio::test]
async fn records_of_an_interruption_are_not_reported_as_added() {
    let kept = Kept::new().await;
    add(&kept, 8).await;
    let sealed = Sealed::of(kept, [(3, 4), (2, 6)]).await;
    for hours in [6, 5, 4] {
        add(&sealed.kept, hours).await;
    }
    let verified = sealed.database().await.unwrap();
    assert_eq!((verified.covered, verified.unsealed), (6, 3));
    // Before the first sealed record there was no interruption.
    let added = Change::Added { record: add(&sealed.kept, 10).await.to_string() };
    finds(sealed.database().await, &added, Some(6));
}

/// The sealer has not run since the last sealed record.
#[tokio::test]
async fn records_after_the_last_sealed_one_are_not_reported_as_added() {
    let kept = Kept::new().await;
    add(&kept, 9).await;
    add(&kept, 8).await;
    let sealed = Sealed::of(kept, [(0, 2), (0, 2)]).await;
    add(&sealed.kept, 3).await;
    let verified = sealed.database().await.unwrap();
    assert_eq!((verified.covered, verified.unsealed), (2, 1));
}

/// What verification names in the database.
async fn changes(sealed: &Sealed) -> Vec<Change> {
    let Err(NotVerified::Tampered(findings)) = sealed.database().await else {
        panic!("the log was changed");
    };
    findings.first.into_iter().map(|finding| finding.change).collect()
}

/// Verification does not end with the first finding.
#[tokio::test]
async fn every_change_is_named() {
    let sealed = Sealed::new().await;
    let [changed, repeated] = [1, 4].map(|index| sealed.id(index));
    sealed
        .kept
        .execute(
            "UPDATE crypto_operations_audit r SET response_status = 500
               FROM audit_log_index i WHERE i.record_id = r.id AND log_index = 1;
             DELETE FROM crypto_operations_audit r USING audit_log_index i
              WHERE i.record_id = r.id AND log_index = 2;
             INSERT INTO audit_log_segments (log, id, ids, hashes, mac)
             SELECT log, audit_segment_bound(record_id), ARRAY[record_id], leaf_hash, ''
               FROM audit_log_index WHERE log_index = 4;
             INSERT INTO audit_log_positions (log, base, count, segment)
             SELECT log, 6, 1, audit_segment_bound(record_id) FROM audit_log_index WHERE log_index = 4;
             UPDATE audit_log_heads SET size = 7 WHERE log = 1",
        )
        .await;
    let expected = [
        Change::Missing(2),
        Change::Changed { index: 1, record: changed },
        Change::Repeated { record: repeated },
    ];
    assert_eq!(changes(&sealed).await, expected);
}

/// After a gap, no root can be compared.
#[tokio::test]
async fn a_changed_record_after_a_gap_is_named_without_a_proof() {
    let sealed = Sealed::new().await;
    sealed
        .kept
        .execute(
            "UPDATE crypto_operations_audit r SET response_status = 500
               FROM audit_log_index i WHERE i.record_id = r.id AND log_index = 4;
             UPDATE audit_log_positions SET base = 5 WHERE log = 1 AND base = 4",
        )
        .await;
    let Err(NotVerified::Tampered(findings)) = sealed.database().await else {
        panic!("the log was changed");
    };
    let found = findings.first.into_iter().map(|it| (it.change, it.checkpoint));
    let changed = Change::Changed { index: 5, record: sealed.id(4) };
    let found = found.collect::<Vec<_>>();
    assert!(found.contains(&(changed, None)), "{found:?}");
}

/// The owner of the database removed many segments before the last one.
#[tokio::test]
async fn a_long_gap_hides_nothing_after_it() {
    let sealed = Sealed::new().await;
    sealed
        .kept
        .execute(
            "UPDATE crypto_operations_audit r SET response_status = 500
               FROM audit_log_index i WHERE i.record_id = r.id AND log_index = 4;
             UPDATE audit_log_positions SET base = 1204 WHERE log = 1 AND base = 4;
             INSERT INTO audit_log_positions (log, base, count, segment)
             SELECT 1, 4 + 2 * number, 2, gen_random_uuid() FROM generate_series(0, 599) AS number;
             UPDATE audit_log_heads SET size = 1206 WHERE log = 1",
        )
        .await;
    let changed = Change::Changed { index: 1204, record: sealed.id(4) };
    assert_eq!(changes(&sealed).await, [Change::Missing(4), changed]);
    let last = sealed.kept.export().await.pop().expect("a line");
    assert_eq!(serde_json::from_str::<Value>(&last).expect("JSON")["log_index"], 1205);
}

/// The segments are contiguous.
#[tokio::test]
async fn a_segment_at_a_later_position_is_found() {
    let sealed = Sealed::new().await;
    sealed.kept.execute("UPDATE audit_log_positions SET base = 5 WHERE log = 1 AND base = 4").await;
    finds(sealed.database().await, &Change::Missing(4), Some(4));
}

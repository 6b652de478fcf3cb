//! Processes that are killed or paused while they seal.

use std::collections::HashSet;
use std::fs;

use engine::ledger::Log;
use formats::tlog::Checkpoint;
use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use super::fixture::{Kept, indexes, root_of};
use testkit::{OPERATIONS, PATIENCE, within};
use testkit::{Process, Site};

/// The number of records without a segment in a round. The sealer needs several transactions for them.
const RECORDS: u16 = 3_000;

/// The number of records with segments in a round.
const HASHES: u16 = 20;

const SIZE: &str = "SELECT size FROM audit_log_heads WHERE log = 1";

/// The connections of sealers. One of them has the lock.
const SEALERS: &str = "pg_stat_activity
    WHERE application_name = 'sealward sealer' AND datname = current_database()";

/// The number of records whose segment a sealer made: it names such a segment otherwise than the audit writer does.
const STRAGGLERS: &str = "SELECT count(*) FROM audit_log_segments s, unnest(s.ids)
    WHERE s.log = 1 AND s.id <> s.ids[cardinality(s.ids)]";

/// The number of records whose segment has no position.
const WAITING: &str = "SELECT count(*) FROM audit_log_segments s, unnest(s.ids)
    WHERE s.log = 1 AND NOT EXISTS (
        SELECT FROM audit_log_positions p WHERE p.log = s.log AND p.segment = s.id)";

async fn count(kept: &Kept, sql: &str) -> i64 {
    let count = sqlx::query_scalar(AssertSqlSafe(sql.to_owned()));
    count.fetch_one(&kept.owner).await.expect(sql)
}

async fn sealers(kept: &Kept) -> i64 {
    count(kept, &format!("SELECT count(*) FROM {SEALERS}")).await
}

/// Ends the connections of sealers. The server would go on with the statement of a process that was killed.
async fn end_sealers(kept: &Kept) {
    kept.execute(&format!("SELECT pg_terminate_backend(pid) FROM {SEALERS}")).await;
}

/// The API key of an application.
async fn api_key(process: &Process) -> String {
    process.application("billing").await.key.expect("a key")
}

/// Hashes payloads. Only a process of the site has the row key, with which it writes a segment of each record.
async fn hash(process: &Process, key: &str, count: u16) {
    let client = process.client(key);
    for data in 0..count {
        let payload = json!({ "data": data, "algorithm": "SHA-256" });
        let body = json!({ "operation": "hash", "payload": payload });
        client.post(OPERATIONS, body).await.ok();
    }
}

/// Waits until these many records are sealed, and asserts that each is sealed once.
async fn assert_sealed_once(kept: &Kept, total: u64) {
    let checkpoint = kept.covered(total).await;
    let lines = kept.export().await;
    assert_eq!(indexes(&lines), (0..total).collect::<Vec<_>>());
    assert_eq!(root_of(Log::Operations, &lines), checkpoint.root);
    let id = |line: &String| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(lines.iter().map(id).collect::<HashSet<_>>().len(), lines.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_while_it_seals_segments_seals_each_record_once() {
    let site = Site::new().await;
    let keys = site.run(&["audit", "init"]).success().stdout;
    let kept = Kept::of_site(&site, &keys);
    let mut process = Process::start(&site).await;
    let key = api_key(&process).await;
    hash(&process, &key, 1).await;
    let mut total = 1;
    kept.covered(total).await;
    for _ in 0..3 {
        // The sealer waits for this lock when it has the hashes of a segment, before the segment has a position.
        let mut lock = kept.owner.begin().await.unwrap();
        let head = "SELECT FROM audit_log_heads WHERE log = 1 FOR UPDATE";
        sqlx::query(head).execute(&mut *lock).await.unwrap();
        hash(&process, &key, HASHES).await;
        total += u64::from(HASHES);
        let sealing = format!("SELECT count(*) FROM {SEALERS} AND wait_event_type = 'Lock'");
        within(PATIENCE, async || count(&kept, &sealing).await == 1).await;
        process.kill();
        end_sealers(&kept).await;
        within(PATIENCE, async || sealers(&kept).await == 0).await;
        lock.rollback().await.unwrap();
        assert_eq!(count(&kept, WAITING).await, i64::from(HASHES));

        process = Process::start(&site).await;
        assert_sealed_once(&kept, total).await;
    }
    assert_eq!(count(&kept, STRAGGLERS).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_while_it_makes_segments_seals_each_record_once() {
    let site = Site::new().await;
    let keys = site.run(&["audit", "init"]).success().stdout;
    let kept = Kept::of_site(&site, &keys);
    // The day of the records exists before a process makes it.
    kept.record(1).await;
    let mut total = 1;
    for _ in 0..3 {
        let process = Process::start(&site).await;
        let before = count(&kept, SIZE).await;
        kept.record(RECORDS.into()).await;
        total += u64::from(RECORDS);
        within(PATIENCE, async || count(&kept, SIZE).await > before).await;
        process.kill();
    }
    let _process = Process::start(&site).await;
    assert_sealed_once(&kept, total).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_outlives_its_lock_signs_no_other_history() {
    let site = Site::new().await;
    let keys = site.run(&["audit", "init"]).success().stdout;
    let kept = Kept::of_site(&site, &keys);
    let anchor = kept.anchor().display().to_string();
    let variables = [("SEALWARD_AUDIT_SEAL_ANCHOR", anchor.as_str())];
    kept.record(1).await;
    let one = Process::start_with(&site, &variables).await;
    let key = api_key(&one).await;
    let mut seen = vec![kept.covered(1).await];
    let mut total = 1;
    for _ in 0..3 {
        let before = count(&kept, SIZE).await;
        kept.record(RECORDS.into()).await;
        total += u64::from(RECORDS);
        within(PATIENCE, async || count(&kept, SIZE).await > before).await;
        // The lock of a paused process ends with its connection.
        one.signal(Signal::STOP);
        end_sealers(&kept).await;
        let two = Process::start_with(&site, &variables).await;
        seen.push(kept.covered(total).await);
        one.signal(Signal::CONT);
        within(PATIENCE, async || sealers(&kept).await == 2).await;
        hash(&two, &key, 2).await;
        total += 2;
        seen.push(kept.covered(total).await);
        hash(&two, &key, 1).await;
        total += 1;
        two.kill();
        seen.push(kept.covered(total).await);
    }
    assert_eq!(count(&kept, STRAGGLERS).await, 1 + 3 * i64::from(RECORDS));
    let lines = kept.export().await;
    assert_eq!(indexes(&lines), (0..total).collect::<Vec<_>>());
    for checkpoint in &seen {
        let covered = &lines[..usize::try_from(checkpoint.size).unwrap()];
        assert_eq!(root_of(Log::Operations, covered), checkpoint.root);
    }
    let anchored: Value = serde_json::from_slice(&fs::read(kept.anchor()).unwrap()).unwrap();
    let note = anchored["operations"].as_str().unwrap();
    let anchored = Checkpoint::open(note, &kept.key().await).unwrap();
    assert_eq!(Some(&anchored), seen.last());
}

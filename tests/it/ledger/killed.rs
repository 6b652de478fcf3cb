//! Processes that are killed or paused while they seal.

use std::collections::HashSet;
use std::fs;

use engine::ledger::Log;
use formats::tlog::Checkpoint;
use rustix::process::Signal;
use serde_json::Value;

use super::fixture::{Kept, indexes, root_of};
use testkit::{PATIENCE, within};
use testkit::{Process, Site};

/// The number of records in a round. The sealer needs several transactions for them.
const RECORDS: usize = 3_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_while_it_seals_seals_each_record_once() {
    let site = Site::new().await;
    let keys = site.run(&["audit", "init"]).success().stdout;
    let kept = Kept::of_site(&site, &keys);
    let size = async || -> i64 {
        let size = "SELECT size FROM audit_log_heads WHERE log = 1";
        let size = sqlx::query_scalar(size).fetch_one(&kept.owner).await;
        size.unwrap()
    };
    // The day of the records exists before a process makes it.
    kept.record(1).await;
    let mut total = 1;
    for _ in 0..3 {
        let process = Process::start(&site).await;
        let before = size().await;
        kept.record(RECORDS).await;
        total += RECORDS;
        within(PATIENCE, async || size().await > before).await;
        process.kill();
    }
    let _process = Process::start(&site).await;
    let checkpoint = kept.covered(total as u64).await;
    let lines = kept.export().await;
    assert_eq!(indexes(&lines), (0..total as u64).collect::<Vec<_>>());
    assert_eq!(root_of(Log::Operations, &lines), checkpoint.root);
    let id = |line: &String| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(lines.iter().map(id).collect::<HashSet<_>>().len(), total);
}

/// The number of connections of sealers, of which one has the lock.
async fn sealers(kept: &Kept) -> i64 {
    let sealers = "SELECT count(*) FROM pg_stat_activity
                    WHERE application_name = 'sealward sealer' AND datname = current_database()";
    let sealers = sqlx::query_scalar(sealers).fetch_one(&kept.owner).await;
    sealers.unwrap()
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
    let mut seen = vec![kept.covered(1).await];
    let mut total = 1;
    for _ in 0..3 {
        kept.record(RECORDS).await;
        total += RECORDS as u64;
        within(PATIENCE, async || {
            let size = "SELECT size FROM audit_log_heads WHERE log = 1";
            let size = sqlx::query_scalar::<_, i64>(size).fetch_one(&kept.owner);
            size.await.unwrap() > 1
        })
        .await;
        // The lock of a paused process ends with its connection.
        one.signal(Signal::STOP);
        kept.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE application_name = 'sealward sealer' AND datname = current_database()",
        )
        .await;
        let two = Process::start_with(&site, &variables).await;
        seen.push(kept.covered(total).await);
        one.signal(Signal::CONT);
        within(PATIENCE, async || sealers(&kept).await == 2).await;
        kept.record(2).await;
        total += 2;
        seen.push(kept.covered(total).await);
        two.kill();
        kept.record(1).await;
        total += 1;
        seen.push(kept.covered(total).await);
    }
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

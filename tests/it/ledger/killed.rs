//! Processes that are killed while they seal.

use std::collections::HashSet;

use sealward::ledger::Log;
use serde_json::Value;

use super::fixture::{Kept, indexes, root_of};
use crate::process::{Process, Site};
use crate::support::{PATIENCE, within};

/// The number of records in a round. The sealer needs several transactions for them.
const RECORDS: usize = 3_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_while_it_seals_seals_each_record_once() {
    let site = Site::new().await;
    site.run(&["audit", "init"]).success();
    let kept = Kept::of_site(&site);
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

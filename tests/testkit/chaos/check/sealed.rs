//! Checks the tamper-evident logs against the records and against each checkpoint that a monitor saw.

use std::collections::{BTreeMap, BTreeSet};

use engine::ledger::{self, Log};
use formats::tlog::{Checkpoint, Hash, Tree};
use serde_json::Value;

use super::{Guarantee, Violation};
use crate::chaos::history::{History, SealedLog};

pub(super) fn check(history: &History) -> Vec<Violation> {
    let mut found = Vec::new();
    for log in &history.logs {
        found.extend(positions(log));
        found.extend(checkpoints(log));
        if log.log == Log::Operations {
            found.extend(requests(history, log));
        }
    }
    found
}

/// Each line has its position, and no record has two.
fn positions(log: &SealedLog) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut ids = BTreeSet::new();
    for (index, line) in log.lines.iter().enumerate() {
        let record: Value = serde_json::from_str(line).unwrap_or_default();
        let is_in_place = record["log_index"].as_u64() == u64::try_from(index).ok();
        if !is_in_place || !ids.insert(record["id"].to_string()) {
            let details = format!("{} {index}: {line}", log.log);
            found.push(Guarantee::Sealed.violated(details));
        }
    }
    found
}

/// The requests with a record are the requests in the log.
fn requests(history: &History, log: &SealedLog) -> Vec<Violation> {
    let mut counts = BTreeMap::<String, i64>::new();
    for row in &history.rows {
        *counts.entry(row.request_id.clone()).or_default() += 1;
    }
    for line in &log.lines {
        let record: Value = serde_json::from_str(line).unwrap_or_default();
        let id = record["request_id"].as_str().unwrap_or_default();
        if !id.is_empty() {
            *counts.entry(id.to_owned()).or_default() -= 1;
        }
    }
    let differences = counts.into_iter().filter(|(_, count)| *count != 0);
    let violated = differences.map(|(id, count)| {
        let details = format!("{id}: {count} more records than entries in the log");
        Guarantee::Sealed.violated(details)
    });
    violated.collect()
}

/// The log extends each checkpoint.
fn checkpoints(log: &SealedLog) -> Vec<Violation> {
    let mut roots = BTreeMap::from([(0, Hash::of_empty_tree())]);
    let mut tree = Tree::default();
    for line in &log.lines {
        if let Ok(leaf) = ledger::leaf(log.log, line) {
            tree.append(Hash::of_leaf(&leaf), |_| ());
            roots.insert(tree.size(), tree.root());
        }
    }
    let mut found = Vec::new();
    for note in &log.seen {
        let is_extended = Checkpoint::open(note, &log.key)
            .is_ok_and(|seen| roots.get(&seen.size) == Some(&seen.root));
        if !is_extended {
            let details = format!("{} does not extend {note:?}", log.log);
            found.push(Guarantee::Consistent.violated(details));
        }
    }
    found
}

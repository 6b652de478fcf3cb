//! Verification of the records in the database.

use std::time::Duration;

use uuid::Uuid;

use super::absence::Absence;
use super::checker::{Checker, INTERRUPTION, Progress, Step, Verified};
use super::finding::{Change, Failure};
use super::trust::Trust;
use crate::clock::Timestamp;
use crate::db::Pool;
use crate::ids::{EventId, RecordId};
use crate::ledger::leaf::{NotARecord, leaf};
use crate::ledger::retired::RetiredDays;
use crate::ledger::store::RecordKey;
use crate::ledger::{Log, read, store};
use crate::tlog::Hash;

/// The number of records in one query.
const CHUNK: u64 = 1_000;

/// The maximum delay of a commit. A working sealer has sealed older records.
const LATEST_COMMIT: Duration = Duration::from_secs(2 * 60 * 60);

/// Verifies the records of a log, the hashes that the database keeps, and that no old record is outside
/// of the log, except during interruptions of sealing.
///
/// # Errors
/// The records differ from the checkpoints, or cannot be read.
pub async fn database(
    trust: &Trust,
    pool: &Pool,
    progress: Progress<'_>,
) -> Result<Verified, Failure> {
    let log = trust.log();
    let mut checker = Checker::new(trust, progress)?;
    let mut connection = pool.acquire().await?;
    let retired = RetiredDays::load(&mut connection).await?;
    let mut absence = Absence::default();
    loop {
        let start = checker.size();
        let found = read::lines(&mut connection, log, start..start + CHUNK).await?;
        if found.is_empty() {
            break;
        }
        for (sealed, line) in &found {
            let ts = sealed.key.ts;
            let own = match line {
                // A row without a leaf was changed: no sealed record has the hash of its text.
                Some(line) => {
                    if let Some(missing) = absence.note_existing(ts) {
                        return Err(checker.tampered(Change::Missing(missing)));
                    }
                    let leaf = leaf(log, line).unwrap_or_else(|NotARecord| line.clone().into());
                    Some(Hash::of_leaf(&leaf))
                }
                None if retired.include(log, ts) => {
                    absence.note_missing(sealed.index, ts);
                    None
                }
                None => return Err(checker.tampered(Change::Missing(sealed.index))),
            };
            checker.push(Step {
                index: sealed.index,
                record: &name(log, sealed.key.id),
                own,
                kept: Some(sealed.leaf_hash),
            })?;
        }
    }
    if let Some(missing) = absence.at_end() {
        return Err(checker.tampered(Change::Missing(missing)));
    }
    if let Some(id) = store::beyond_head(&mut connection, log).await? {
        let record = name(log, id);
        return Err(checker.tampered(Change::Added { record }));
    }
    let old = store::now(&mut *connection).await?.minus(LATEST_COMMIT);
    let mut interruption = None;
    let mut place = RecordKey {
        ts: Timestamp::from_millis(0),
        id: Uuid::nil(),
    };
    loop {
        let slice = store::slice(&mut connection, log, place, 10_000).await?;
        for key in slice.unsealed.iter().filter(|key| key.ts < old) {
            if interruption.is_none_or(|end| key.ts >= end) {
                match store::sealed_around(&mut connection, log, key.ts).await? {
                    (_, None) => interruption = Some(old),
                    (Some(before), Some(after)) if after.since(before) > INTERRUPTION => {
                        interruption = Some(after);
                    }
                    (_, Some(_)) => {
                        let record = name(log, key.id);
                        return Err(checker.tampered(Change::Added { record }));
                    }
                }
            }
            checker.note_unsealed();
        }
        match slice.end {
            Some(end) => place = end,
            None => return checker.finish(),
        }
    }
}

fn name(log: Log, id: Uuid) -> String {
    match log {
        Log::Operations => RecordId::from_uuid(id).to_string(),
        Log::Management => EventId::from_uuid(id).to_string(),
    }
}

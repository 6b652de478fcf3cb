//! What a drill verifies in the restored database.

use std::path::Path;

use serde::Serialize;

use super::store;
use crate::db::Pool;
use crate::ids::{KeyId, time_of};
use crate::keys::Vault;
use crate::ledger::Log;
use crate::ledger::verify::{NotVerified, VerifiedLog, anchored};
use crate::rows::{compare, examine_all};
use crate::seals::{Deviation, Difference, Finding, Flaw};
use formats::clock::{Clock, Timestamp};

/// What was found, and when.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Examination {
    /// The tables and functions that are not as in the database of the service.
    pub other_objects: Vec<String>,
    /// The time of the newest sealed record; null without one. The dump is not older.
    pub newest_record_at: Option<Timestamp>,
    /// The sealed rows.
    pub rows: ExaminedRows,
    /// The audit logs.
    pub logs: Vec<ExaminedLog>,
    /// The keys.
    pub keys: ExaminedKeys,
}

/// The rows, compared with their seals and with their last events.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExaminedRows {
    /// Those that do not count.
    pub invalid: Vec<InvalidRow>,
    /// Those that are not as their last events say.
    pub deviating: Vec<DeviatingRow>,
    /// The end of the examination.
    pub examined_at: Timestamp,
}

/// A row that does not count.
#[derive(Clone, Debug, Serialize)]
pub struct InvalidRow {
    table: &'static str,
    id: String,
    flaw: Flaw,
}

/// A row that deviates.
#[derive(Clone, Debug, Serialize)]
pub struct DeviatingRow {
    table: &'static str,
    id: String,
    difference: Difference,
    members: Vec<String>,
}

/// An audit log, verified against the anchor.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExaminedLog {
    /// The log.
    pub log: Log,
    /// The number of records that checkpoints cover.
    pub records: u64,
    /// The number of these records of which only the hashes are known, because they are retired.
    pub retired: u64,
    /// The number of records after the last checkpoint.
    pub newer: u64,
    /// Why it is not verified; null if it is.
    pub problem: Option<String>,
    /// The end of the verification.
    pub examined_at: Timestamp,
}

/// The keys that are not destroyed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExaminedKeys {
    /// The number of keys that the token holds and whose canaries it opened.
    pub proven: usize,
    /// The others.
    pub not_proven: Vec<KeyNotProven>,
    /// The end of the examination.
    pub examined_at: Timestamp,
}

/// A key that is not proven.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyNotProven {
    key_id: KeyId,
    reason: String,
}

/// Examines the database that `vault` reads. `service` is that of the service, whose checkpoints are in the
/// file `anchor`.
///
/// # Errors
/// A database does not answer. What is wrong with the restored data is no error.
pub async fn examine(
    restored: &Pool,
    service: &Pool,
    anchor: &Path,
    (vault, clock): (&Vault, &Clock),
) -> sqlx::Result<Examination> {
    let other_objects = other_objects(restored, service).await?;
    let rows = rows(restored, clock).await?;
    let mut logs = Vec::new();
    for log in Log::ALL {
        let verified = anchored((restored, service), (log, anchor), &mut |_| {}).await;
        logs.push(examined_log(log, verified, clock.now())?);
    }
    let newest = store::last_sealed(restored).await?.into_iter().map(time_of).max();
    let keys = keys(restored, (vault, clock)).await?;
    Ok(Examination { other_objects, newest_record_at: newest, rows, logs, keys })
}

/// The objects that could show the drill other rows than those of the tables, such as a view.
async fn other_objects(restored: &Pool, service: &Pool) -> sqlx::Result<Vec<String>> {
    let schema = store::schema(service).await?;
    let expected = store::objects(service, &schema).await?;
    let found = store::objects(restored, &schema).await?;
    let differing = expected.iter().filter(|(name, kind)| found.get(*name) != Some(*kind));
    // An additional table hides nothing.
    let is_relation = |name: &str| name.starts_with("the relation ");
    let added = found.keys().filter(|it| !expected.contains_key(*it) && !is_relation(it));
    Ok(differing.map(|(name, _)| name).chain(added).cloned().collect())
}

async fn rows(restored: &Pool, clock: &Clock) -> sqlx::Result<ExaminedRows> {
    examine_all(restored).await?;
    let invalid = restored.seals().findings().into_iter();
    let deviating = compare(restored).await?.unwrap_or_default().into_iter();
    Ok(ExaminedRows {
        invalid: invalid.map(InvalidRow::from).collect(),
        deviating: deviating.map(DeviatingRow::from).collect(),
        examined_at: clock.now(),
    })
}

fn examined_log(
    log: Log,
    verified: Result<VerifiedLog, NotVerified>,
    examined_at: Timestamp,
) -> sqlx::Result<ExaminedLog> {
    let (verified, problem) = match verified {
        Ok(verified) => (verified, None),
        Err(NotVerified::Database(error)) => return Err(error),
        Err(
            reason @ (NotVerified::Tampered(_)
            | NotVerified::Rows(_)
            | NotVerified::NotChecked(_)
            | NotVerified::File { .. }),
        ) => (VerifiedLog::default(), Some(reason.to_string())),
    };
    let VerifiedLog { covered: records, retired, newer, .. } = verified;
    Ok(ExaminedLog { log, records, retired, newer, problem, examined_at })
}

async fn keys(restored: &Pool, (vault, clock): (&Vault, &Clock)) -> sqlx::Result<ExaminedKeys> {
    let (mut proven, mut not_proven) = (0, Vec::new());
    for key in store::kept_keys(restored.rows()).await? {
        match vault.prove(&key).await {
            Ok(()) if key.has_private() => proven += 1,
            // Others have the private key.
            Ok(()) => {}
            Err(reason) => {
                not_proven.push(KeyNotProven { key_id: key.id, reason: reason.to_string() });
            }
        }
    }
    Ok(ExaminedKeys { proven, not_proven, examined_at: clock.now() })
}

impl Examination {
    /// What is wrong, in one line each. Nothing is wrong after a successful drill.
    pub fn problems(&self) -> Vec<String> {
        let others = self.other_objects.iter();
        let others = others.map(|it| format!("{it} is not as in the database of the service"));
        let invalid = self.rows.invalid.iter();
        let invalid = invalid.map(|row| format!("{} {}: {}", row.table, row.id, row.flaw));
        let deviating = self.rows.deviating.iter();
        let deviating =
            deviating.map(|row| format!("{} {}: {}", row.table, row.id, row.difference));
        let logs = self.logs.iter().filter_map(|log| Some((log.log, log.problem.as_ref()?)));
        let logs = logs.map(|(log, problem)| format!("the {log} log: {problem}"));
        let keys = self.keys.not_proven.iter();
        let keys = keys.map(|key| format!("{}: {}", key.key_id, key.reason));
        others.chain(invalid).chain(deviating).chain(logs).chain(keys).collect()
    }
}

impl From<Finding> for InvalidRow {
    fn from(Finding { row, flaw }: Finding) -> Self {
        Self { table: row.table, id: row.id.to_string(), flaw }
    }
}

impl From<Deviation> for DeviatingRow {
    fn from(Deviation { row, difference, members }: Deviation) -> Self {
        Self { table: row.table, id: row.id.to_string(), difference, members }
    }
}

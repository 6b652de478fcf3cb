//! Verification of the records in the database.

use std::time::Duration;

use sqlx::PgConnection;
use uuid::Uuid;

use super::checker::{Checker, LoggedRecord, Progress, VerifiedLog};
use super::finding::{Change, NotVerified};
use super::span::Span;
use super::trust::Trust;
use crate::db::Pool;
use crate::ids::{EventId, RecordId};
use crate::ledger::leaf::{NotARecord, leaf};
use crate::ledger::retired::RetiredDays;
use crate::ledger::store::{RecordKey, Sealed};
use crate::ledger::{Log, read, store};
use formats::clock::Timestamp;
use formats::tlog::Hash;

/// The number of records in one query.
const CHUNK: u64 = 1_000;

/// The maximum delay of a commit. A working sealer has sealed older records.
const LATEST_COMMIT: Duration = Duration::from_secs(2 * 60 * 60);

/// The time in which a working sealer seals records. Longer gaps between sealed records can be
/// interruptions, whose records are sealed later.
const INTERRUPTION: Duration = Duration::from_secs(10 * 60);

/// Verifies the records of a log, the hashes that the database keeps, and that no old record is outside
/// of the log, except during interruptions of sealing.
pub async fn database(
    trust: &Trust,
    pool: &Pool,
    progress: Progress<'_>,
) -> Result<VerifiedLog, NotVerified> {
    let checker = Checker::new(trust, progress)?;
    let mut connection = pool.acquire().await?;
    let mut reader = Reader {
        log: trust.log(),
        covered: trust.size(),
        retired: RetiredDays::load(&mut connection).await?,
        span: Span::default(),
        connection: &mut connection,
        checker,
    };
    reader.read_sealed().await?;
    reader.find_added().await?;
    reader.checker.finish()
}

struct Reader<'r> {
    log: Log,
    /// The number of records that the checkpoints cover.
    covered: u64,
    retired: RetiredDays,
    span: Span,
    connection: &'r mut PgConnection,
    checker: Checker<'r>,
}

impl Reader<'_> {
    /// Verifies the records from the last verified one to the end of the log. The rows decide what the end
    /// is: no hash covers the size in the database.
    async fn read_sealed(&mut self) -> Result<(), NotVerified> {
        loop {
            let start = self.checker.size();
            let found = read::lines(self.connection, self.log, start..start + CHUNK).await?;
            for (sealed, line) in &found {
                self.verify(sealed, line.as_deref())?;
            }
            if !found.is_empty() {
                continue;
            }
            match store::first_sealed_from(self.connection, self.log, start).await? {
                // It was sealed in the meantime.
                Some(next) if next.index == start => {}
                Some(_) if start < self.covered => {
                    return Err(self.checker.tampered(Change::Missing(start)));
                }
                Some(next) => {
                    let record = name(self.log, next.key.id);
                    return Err(self.checker.tampered(Change::Added { record }));
                }
                None => return Ok(()),
            }
        }
    }

    fn verify(&mut self, sealed: &Sealed, line: Option<&str>) -> Result<(), NotVerified> {
        let (index, ts) = (sealed.index, sealed.key.ts);
        let own = match line {
            // A row without a leaf was changed: no sealed record has the hash of its text.
            Some(line) => {
                self.span.add(index, ts);
                let leaf = leaf(self.log, line).unwrap_or_else(|NotARecord| line.to_owned().into());
                Some(Hash::of_leaf(&leaf))
            }
            None if self.span.allows_retired_of(self.log, ts)
                && self.retired.include(self.log, ts) =>
            {
                None
            }
            None => return Err(self.checker.tampered(Change::Missing(index))),
        };
        self.checker.push(LoggedRecord {
            index,
            record: &name(self.log, sealed.key.id),
            own,
            kept: Some(sealed.leaf_hash),
        })
    }

    /// Finds old records outside of the log.
    async fn find_added(&mut self) -> Result<(), NotVerified> {
        let old = store::now(&mut *self.connection).await?.minus(LATEST_COMMIT);
        let mut interruption = None;
        let mut place = RecordKey { ts: Timestamp::from_millis(0), id: Uuid::nil() };
        'slices: loop {
            let size = self.checker.size();
            let slice = store::slice(self.connection, self.log, place, 10_000, size).await?;
            let unsealed: Vec<_> = slice.unsealed.iter().filter(|key| key.ts < old).collect();
            for key in &unsealed {
                if interruption.is_none_or(|end| key.ts >= end) {
                    match store::sealed_around(self.connection, self.log, key.ts).await? {
                        (_, None) => interruption = Some(old),
                        (Some(before), Some(after)) if after.since(before) > INTERRUPTION => {
                            interruption = Some(after);
                        }
                        (_, Some(_)) if self.is_sealed_now(key).await? => continue 'slices,
                        (_, Some(_)) => {
                            let record = name(self.log, key.id);
                            return Err(self.checker.tampered(Change::Added { record }));
                        }
                    }
                }
            }
            self.checker.note_unsealed(unsealed.len() as u64);
            match slice.end {
                Some(end) => place = end,
                None => return Ok(()),
            }
        }
    }

    /// Whether a record was sealed since the last verified one.
    async fn is_sealed_now(&mut self, key: &RecordKey) -> Result<bool, NotVerified> {
        let found = store::sealed_record(&mut *self.connection, self.log, key.id).await?;
        self.read_sealed().await?;
        Ok(found.is_some_and(|sealed| sealed.key == *key && sealed.index < self.checker.size()))
    }
}

fn name(log: Log, id: Uuid) -> String {
    match log {
        Log::Operations => RecordId::from_uuid(id).to_string(),
        Log::Management => EventId::from_uuid(id).to_string(),
    }
}

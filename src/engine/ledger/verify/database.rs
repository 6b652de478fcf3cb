//! Verification of the records in the database.

use std::collections::{HashMap, HashSet};
use std::slice;
use std::time::Duration;

use sqlx::PgConnection;
use uuid::Uuid;

use super::checker::{Checker, LoggedRecord, Progress, VerifiedLog};
use super::finding::{Change, NotVerified};
use super::span::Span;
use super::trust::Trust;
use crate::db::Pool;
use crate::ids::{EventId, RecordId};
use crate::ledger::foreign::accepted_forgeries;
use crate::ledger::retired::RetiredDays;
use crate::ledger::store::{RecordKey, Sealed};
use crate::ledger::{Log, read, store};
use crate::segments::{NotARecord, leaf};
use formats::clock::Timestamp;
use formats::tlog::Hash;

/// The number of records in one query.
const CHUNK: u64 = 1_000;

/// The number of records in one query of records that may have no position.
const STEP: i64 = 10_000;

/// The maximum delay of a commit. A working sealer has sealed older records.
const LATEST_COMMIT: Duration = Duration::from_secs(2 * 60 * 60);

/// The time in which a working sealer seals records. Longer gaps between sealed records can be
/// interruptions, whose records are sealed later.
const INTERRUPTION: Duration = Duration::from_secs(10 * 60);

/// Verifies the records of a log, the hashes that the database keeps, and that no old record is outside
/// of the log, except during interruptions of sealing. With the row key, it leaves out segments that no instance wrote and
/// `audit init` accepted.
pub async fn database(
    trust: &Trust,
    pool: &Pool,
    progress: Progress<'_>,
) -> Result<VerifiedLog, NotVerified> {
    let checker = Checker::new(trust, progress)?;
    let mut connection = pool.acquire().await?;
    let log = trust.log();
    let mut reader = Reader {
        log,
        covered: trust.size(),
        foreign: accepted_forgeries(pool.rows_on(&mut connection), (log, trust.origin())).await?,
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
    /// The segments that no instance wrote, and that do not count.
    foreign: HashSet<Uuid>,
    retired: RetiredDays,
    span: Span,
    connection: &'r mut PgConnection,
    checker: Checker<'r>,
}

impl Reader<'_> {
    /// Verifies the records from the last verified one to the end of the log. The rows decide what the end
    /// is: no hash covers the size in the database. It goes on after a gap.
    async fn read_sealed(&mut self) -> Result<(), NotVerified> {
        loop {
            let start = self.checker.size();
            let found = read::lines(self.connection, self.log, start..start + CHUNK).await?;
            for (sealed, line) in &found {
                self.verify(sealed, line.as_deref());
            }
            if !found.is_empty() {
                continue;
            }
            match store::first_sealed_from(self.connection, self.log, start).await? {
                // It was sealed in the meantime.
                Some(next) if next.index == start => {}
                Some(next) => {
                    let record = name(self.log, next.key.id);
                    let is_covered = start < self.covered;
                    self.checker.find(match is_covered {
                        true => Change::Missing(start),
                        false => Change::Added { record },
                    });
                    self.checker.skip_to(next.index);
                }
                None => return Ok(()),
            }
        }
    }

    fn verify(&mut self, sealed: &Sealed, line: Option<&str>) {
        let (index, ts, leaf_hash) = (sealed.index, sealed.key.ts, sealed.leaf_hash);
        let record = &name(self.log, sealed.key.id);
        if self.foreign.contains(&sealed.segment) {
            let own = Some(leaf_hash);
            self.checker.note_foreign();
            return self.checker.push(LoggedRecord { index, record, own, kept: own });
        }
        let is_retired =
            self.span.allows_retired_of(self.log, ts) && self.retired.include(self.log, ts);
        let own = line.map(|line| {
            self.span.add(index, ts);
            // A row without a leaf was changed: no sealed record has the hash of its text.
            let leaf = leaf(self.log, line).unwrap_or_else(|NotARecord| line.to_owned().into());
            Hash::of_leaf(&leaf)
        });
        if own.is_none() && !is_retired {
            self.checker.find(Change::Missing(index));
        }
        self.checker.push(LoggedRecord { index, record, own, kept: Some(leaf_hash) });
    }

    /// Finds old records outside of the log.
    async fn find_added(&mut self) -> Result<(), NotVerified> {
        let old = store::now(&mut *self.connection).await?.minus(LATEST_COMMIT);
        let mut interruption = None;
        let mut place = RecordKey { ts: Timestamp::from_millis(0), id: Uuid::nil() };
        'slices: loop {
            let size = self.checker.size();
            let found = store::records_after(self.connection, self.log, place, STEP).await?;
            let mut unsealed = self.unsealed(&found, size).await?;
            unsealed.retain(|key| key.ts < old);
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
                            self.checker.find(Change::Added { record });
                        }
                    }
                }
            }
            self.checker.note_unsealed(unsealed.len() as u64);
            match found.last() {
                Some(end) => place = *end,
                None => return Ok(()),
            }
        }
    }

    /// Those of these records that have no position in a log of this size. A record with the identifier of a sealed
    /// one and another time is not sealed. Names those with more than one position.
    async fn unsealed(
        &mut self,
        found: &[RecordKey],
        size: u64,
    ) -> Result<Vec<RecordKey>, NotVerified> {
        let ids = || found.iter().map(|record| record.id);
        let Some(range) = ids().min().zip(ids().max()) else {
            return Ok(Vec::new());
        };
        let around = store::around(self.connection, self.log, range, size).await?.into_iter();
        let sealed =
            around.filter(|(segment, is_sealed)| *is_sealed && !self.foreign.contains(&segment.id));
        let mut positions = HashMap::<Uuid, u32>::new();
        for (id, _) in sealed.flat_map(|(segment, _)| segment.leaves) {
            *positions.entry(id).or_default() += 1;
        }
        for key in found {
            if positions.get(&key.id).is_some_and(|count| *count > 1) {
                self.checker.find(Change::Repeated { record: name(self.log, key.id) });
            }
        }
        let has_time =
            |key: &RecordKey| self.log == Log::Management || key.ts == RecordKey::of(key.id).ts;
        let unsealed =
            found.iter().filter(|key| !positions.contains_key(&key.id) || !has_time(key));
        Ok(unsealed.copied().collect())
    }

    /// Whether a record was sealed since the last verified one.
    async fn is_sealed_now(&mut self, key: &RecordKey) -> Result<bool, NotVerified> {
        self.read_sealed().await?;
        let size = self.checker.size();
        Ok(self.unsealed(slice::from_ref(key), size).await?.is_empty())
    }
}

fn name(log: Log, id: Uuid) -> String {
    match log {
        Log::Operations => RecordId::from_uuid(id).to_string(),
        Log::Management => EventId::from_uuid(id).to_string(),
    }
}

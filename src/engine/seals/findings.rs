//! The invalid rows that were seen.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::RowName;
use formats::closed_set;

/// The number of rows of a table that are remembered. They are enough to notice an attack that makes more.
const REMEMBERED: usize = 1_000;

closed_set! {
    /// Why a row does not count.
    pub enum Flaw: "Flaw" {
        /// It has no seal.
        Unsealed = "unsealed",
        /// Its seal is that of another row or of other columns.
        Forged = "forged",
        /// A later version of Sealward wrote it.
        OtherVersion = "other_version",
        /// Its seal is of a generation of the row key that does not count.
        OtherGeneration = "other_generation",
        /// There is no entry of its revision.
        Unknown = "unknown",
        /// It was changed or deleted since: somebody put it back.
        Superseded = "superseded",
        /// Its revision is known, and the row is missing.
        Missing = "missing",
    }
}

/// An invalid row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The row.
    pub row: RowName,
    /// Why it does not count.
    pub flaw: Flaw,
}

/// The invalid rows, until they are read as valid ones.
#[derive(Debug, Default)]
pub(super) struct Findings(Mutex<BTreeMap<RowName, Flaw>>);

impl Findings {
    pub(super) fn note(&self, row: RowName, flaw: Flaw) {
        let mut known = self.lock();
        let of_table = known.keys().filter(|known| known.table == row.table);
        if known.contains_key(&row) || of_table.count() < REMEMBERED {
            known.insert(row, flaw);
        }
    }

    pub(super) fn clear(&self, row: RowName) {
        self.lock().remove(&row);
    }

    pub(super) fn retain(&self, table: &str, rows: &HashSet<Uuid>) {
        self.lock().retain(|row, _| row.table != table || rows.contains(&row.id));
    }

    pub(super) fn all(&self) -> Vec<Finding> {
        self.lock().iter().map(|(row, flaw)| Finding { row: *row, flaw: *flaw }).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RowName, Flaw>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

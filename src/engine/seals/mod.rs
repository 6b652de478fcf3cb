//! Seals: whoever writes to the database decides nothing.
//!
//! A row that decides something counts only with a MAC under the row key, which the token derives, and only
//! at its newest revision. The table `revisions` names every revision of every such row, and the login of the
//! service can only add to it. So a changed row, a row put back, and a row of another origin do not count.
//! An entry that takes away what the row can lose has its effect on the row as it is, so that it needs no
//! token. Any other later entry makes the row invalid. Other entries name the members of a [`Group`]: rows that
//! decide together, so that none of them is left out. A member counts only if its row has an entry of its own:
//! otherwise the row never existed. An operator can accept that a row is missing (`accept_absence`). Then no
//! decision depends on it.
//!
//! An entry of a row that was written keeps the digest of its columns and the seal, so that an operator who seals
//! a row again knows whether it is still as it was last sealed (`seal_histories`).
//!
//! The process keeps the row key ([`Seals`]) from the first answer of a token until it ends. The key has
//! generations. When a row has a seal of one that the process does not know, it asks the tokens.

mod deviation;
mod findings;
mod form;
mod group;
mod key;
mod opening;
mod seal;
mod standing;
mod store;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Instant;

use hsm::Token;
use sqlx::PgPool;
use tokio::sync::Mutex;
use uuid::Uuid;

use self::deviation::Deviations;
pub use self::deviation::{Deviation, Difference};
use self::findings::Findings;
pub use self::findings::{Finding, Flaw};
pub(crate) use self::form::{FIRST_FORM, newest_of_forms};
pub use self::form::{Forms, RowForm};
pub use self::group::{Group, GroupKind, GroupMember};
pub(crate) use self::key::generation_of;
pub use self::key::{Endorsement, RowKey};
pub use self::opening::{NotDerived, initialize};
pub use self::seal::{Seal, SealComparison};
pub use self::standing::{Entry, Standing, What};
pub(crate) use self::store::{
    ENTRIES, FURTHEST, accept_absence, add_entry, endorse, ever_made, join_at, lost_generations,
    members_of, newest_entry, renew_kept, seal_histories, was_made,
};
pub use self::store::{
    Entries, SealHistory, complete, entries_of, forget_superseded, join, members, next_generation,
};

/// The key of the seals, once a token has answered, and the invalid rows that were seen. Clones share both.
#[derive(Clone, Debug)]
pub struct Seals(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The connections to the primary, which its owner replaces.
    database: Arc<RwLock<PgPool>>,
    key: RwLock<Option<Arc<RowKey>>>,
    /// The tokens that derive it.
    token: OnceLock<Token>,
    /// The generations that no token had, and when they were asked.
    absent: Mutex<HashMap<u32, Instant>>,
    /// Whether the rows can be former ones.
    is_suspect: AtomicBool,
    findings: Findings,
    deviations: Deviations,
}

/// No token has answered yet, so that no row can be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no token has answered since the start, so that no row of the database can be verified")]
pub struct NoRowKey;

impl From<NoRowKey> for sqlx::Error {
    fn from(reason: NoRowKey) -> Self {
        Self::Configuration(reason.into())
    }
}

/// A checkpoint shows that the database was rolled back, or the logs were not compared with their checkpoints yet. Rows
/// with valid seals can be former ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the audit log does not extend its latest checkpoint, or was not compared with it yet")]
pub struct RolledBack;

impl From<RolledBack> for sqlx::Error {
    fn from(reason: RolledBack) -> Self {
        Self::Configuration(reason.into())
    }
}

/// Why a row was not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSealable {
    /// There is no row key.
    #[error(transparent)]
    NoRowKey(NoRowKey),
    /// A column that instances of the previous release do not read has a value.
    #[error("a column of the row can only have a value after the next release")]
    LaterForm,
}

impl From<NotSealable> for sqlx::Error {
    fn from(reason: NotSealable) -> Self {
        match reason {
            NotSealable::NoRowKey(reason) => reason.into(),
            NotSealable::LaterForm => Self::Encode(reason.into()),
        }
    }
}

/// Another generation of the row key seals since this process asked the tokens. It has asked them again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a newer generation of the row key seals: try again")]
pub struct OlderRowKey;

impl From<OlderRowKey> for sqlx::Error {
    fn from(reason: OlderRowKey) -> Self {
        Self::Configuration(reason.into())
    }
}

/// The name of a sealed row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowName {
    /// Its table.
    pub table: &'static str,
    /// Its identifier.
    pub id: Uuid,
}

impl Seals {
    /// The seals of the rows of this database.
    pub fn of(database: Arc<RwLock<PgPool>>) -> Self {
        Self(Arc::new(Shared {
            database,
            key: RwLock::default(),
            token: OnceLock::new(),
            absent: Mutex::default(),
            is_suspect: AtomicBool::new(false),
            findings: Findings::default(),
            deviations: Deviations::default(),
        }))
    }

    /// Keeps the key that the tokens have derived.
    pub fn unlock(&self, key: RowKey) {
        *self.0.key.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(key));
    }

    /// Whether rows can be verified and written.
    pub fn is_unlocked(&self) -> bool {
        self.current().is_some()
    }

    /// Whether the requests of applications can rely on the rows.
    pub fn are_reliable(&self) -> bool {
        self.is_unlocked() && self.check_not_rolled_back().is_ok()
    }

    /// Fails if the rows can be former ones, which let applications do what they may not do now.
    pub fn check_not_rolled_back(&self) -> Result<(), RolledBack> {
        match self.0.is_suspect.load(Ordering::Relaxed) {
            true => Err(RolledBack),
            false => Ok(()),
        }
    }

    /// Notes whether the rows can be former ones.
    pub(crate) fn suspect(&self, is_suspect: bool) {
        self.0.is_suspect.store(is_suspect, Ordering::Relaxed);
    }

    /// The row key as it is now.
    pub fn current(&self) -> Option<Arc<RowKey>> {
        self.0.key.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The newest generation of these seals that this process does not know.
    pub(crate) fn unknown<'s>(&self, seals: impl Iterator<Item = &'s [u8]>) -> Option<u32> {
        let generations = seals.filter_map(generation_of);
        generations.filter(|generation| self.lacks(*generation)).max()
    }

    /// Whether the row key lacks this generation.
    fn lacks(&self, generation: u32) -> bool {
        self.current().is_some_and(|key| !key.has(generation))
    }

    fn database(&self) -> PgPool {
        self.0.database.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The seal of a row at a revision.
    pub fn seal(
        &self,
        row: RowName,
        revision: i64,
        form: (&RowForm, Forms),
    ) -> Result<Seal, NotSealable> {
        let key = self.key().map_err(NotSealable::NoRowKey)?;
        key.seal(row, revision, form).ok_or(NotSealable::LaterForm)
    }

    /// Whether a record has this seal that is no sealed row: it has no entries.
    pub fn verify(
        &self,
        row: RowName,
        revision: i64,
        form: (&RowForm, Forms),
        seal: &[u8],
    ) -> Result<bool, NoRowKey> {
        Ok(self.key()?.verify(row, revision, form, seal).is_ok())
    }

    /// What counts of a row with this seal and the entries that decide ([`entries_of`]), the oldest first.
    /// `loses` is what an entry can take away. Notes what is wrong with the row.
    pub fn judge(
        &self,
        row: RowName,
        (revision, form): (i64, (&RowForm, Forms)),
        seal: Option<&[u8]>,
        (loses, entries): (Option<What>, Vec<Entry>),
    ) -> Result<Result<Standing, Flaw>, NoRowKey> {
        let key = self.key()?;
        let judged = match seal {
            None => Err(Flaw::Unsealed),
            Some(seal) => key.verify(row, revision, form, seal),
        };
        let judged = judged.and_then(|()| Standing::of(revision, loses, entries));
        match judged {
            Ok(_) => self.0.findings.clear(row),
            Err(flaw) => self.0.findings.note(row, flaw),
        }
        Ok(judged)
    }

    /// Notes that a row does not count.
    pub fn note(&self, row: RowName, flaw: Flaw) -> Result<(), NoRowKey> {
        self.key()?;
        self.0.findings.note(row, flaw);
        Ok(())
    }

    /// Forgets the findings of a table that are not among `rows`: somebody removed these rows.
    pub fn retain(&self, table: &str, rows: &HashSet<Uuid>) {
        self.0.findings.retain(table, rows);
    }

    /// The rows that are invalid, as far as they were read.
    pub fn findings(&self) -> Vec<Finding> {
        self.0.findings.all()
    }

    /// Keeps the deviations that a comparison with the events found.
    pub(crate) fn keep_deviations(&self, found: &[Deviation]) {
        self.0.deviations.replace(found);
    }

    /// Notes whether the public key in a row is another one than that of the token.
    pub(crate) fn note_public_key(&self, row: RowName, is_other: bool) {
        self.0.deviations.note_public_key(row, is_other);
    }

    /// The rows that deviate, as far as they were compared.
    pub fn deviations(&self) -> Vec<Deviation> {
        self.0.deviations.all()
    }

    /// Whether no row is known that does not count or deviates.
    pub fn is_clean(&self) -> bool {
        self.findings().is_empty() && self.deviations().is_empty()
    }

    fn key(&self) -> Result<Arc<RowKey>, NoRowKey> {
        self.current().ok_or(NoRowKey)
    }
}

//! The comparison of a sequence of records with checkpoints.

use super::finding::{Change, Finding, NotVerified};
use super::trust::Trust;
use formats::tlog::{Hash, Tree};

/// Called now and then with the number of records that were read.
pub type Progress<'a> = &'a mut dyn FnMut(u64);

/// The number of records between two calls of [`Progress`].
const PROGRESS: u64 = 50_000;

/// A verified log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifiedLog {
    /// The number of records that the checkpoints cover.
    pub covered: u64,
    /// The number of these records that were retired. The check knows only their hashes.
    pub retired: u64,
    /// The number of records after the last checkpoint, which nothing proves.
    pub newer: u64,
    /// The number of old records in the database that have no position yet, because sealing was
    /// interrupted.
    pub unsealed: u64,
    /// The number of these records whose states are known by their hashes only, as collectors receive
    /// long records.
    pub hashed: u64,
}

/// One record in the order of its log.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoggedRecord<'a> {
    pub(super) index: u64,
    /// The identifier of the record.
    pub(super) record: &'a str,
    /// The hash of the record; none if it is retired.
    pub(super) own: Option<Hash>,
    /// The hash that the log keeps, if it is known.
    pub(super) kept: Option<Hash>,
}

pub(super) struct Checker<'a> {
    trust: &'a Trust,
    progress: Progress<'a>,
    tree: Tree,
    verified: VerifiedLog,
    /// The first record that differs from the hash that the log keeps.
    changed: Option<Change>,
    /// The size of the largest verified tree.
    proven: u64,
}

impl<'a> Checker<'a> {
    pub(super) fn new(trust: &'a Trust, progress: Progress<'a>) -> Result<Self, NotVerified> {
        if trust.checkpoints().is_empty() {
            return Err(NotVerified::NotChecked("no checkpoint is given".to_owned()));
        }
        Ok(Self {
            trust,
            progress,
            tree: Tree::default(),
            verified: VerifiedLog::default(),
            changed: None,
            proven: 0,
        })
    }

    /// The number of records so far.
    pub(super) fn size(&self) -> u64 {
        self.tree.size()
    }

    pub(super) fn push(&mut self, step: LoggedRecord<'_>) -> Result<(), NotVerified> {
        let LoggedRecord { index, record, own, kept } = step;
        let expected = self.tree.size();
        if index > expected {
            return Err(self.tampered(Change::Missing(expected)));
        }
        if index < expected {
            let record = record.to_owned();
            return Err(self.tampered(Change::Added { record }));
        }
        let Some(hash) = kept.or(own) else {
            return Err(self.tampered(Change::Missing(index)));
        };
        if own.is_some_and(|own| own != hash) && self.changed.is_none() {
            let record = record.to_owned();
            self.changed = Some(Change::Changed { index, record });
        }
        self.tree.append(hash, |_| ());
        if own.is_none() {
            self.verified.retired += 1;
        }
        if self.tree.size().is_multiple_of(PROGRESS) {
            (self.progress)(self.tree.size());
        }
        self.compare()
    }

    /// Compares the tree with the checkpoint of its size.
    fn compare(&mut self) -> Result<(), NotVerified> {
        let size = self.tree.size();
        let checkpoints = self.trust.checkpoints();
        let Some(checkpoint) = checkpoints.iter().find(|it| it.size == size) else {
            return Ok(());
        };
        // The hashes that the log keeps are proven or not, whatever the records are.
        if checkpoint.root != self.tree.root() {
            let range = Change::Within(self.proven..size);
            let change = self.changed.take().unwrap_or(range);
            return Err(self.tampered(change));
        }
        self.proven = size;
        match self.changed.take() {
            Some(change) => Err(self.tampered(change)),
            None => Ok(()),
        }
    }

    pub(super) fn note_hashed(&mut self, is_hashed: bool) {
        self.verified.hashed += u64::from(is_hashed);
    }

    pub(super) fn note_unsealed(&mut self, count: u64) {
        self.verified.unsealed += count;
    }

    pub(super) fn finish(mut self) -> Result<VerifiedLog, NotVerified> {
        let (size, covered) = (self.tree.size(), self.trust.size());
        if size == 0 {
            self.compare()?;
        }
        if size < covered {
            return Err(self.tampered(Change::Missing(size)));
        }
        if let Some(change) = self.changed.take() {
            return Err(NotVerified::Tampered(Finding { change, checkpoint: None }));
        }
        Ok(VerifiedLog { covered, newer: size - covered, ..self.verified })
    }

    /// The finding, proven by the first checkpoint that covers it.
    pub(super) fn tampered(&self, change: Change) -> NotVerified {
        let size = self.tree.size();
        let mut checkpoints = self.trust.checkpoints().iter().map(|it| it.size);
        NotVerified::Tampered(Finding {
            change,
            checkpoint: checkpoints.find(|covered| *covered >= size),
        })
    }
}

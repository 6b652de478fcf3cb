//! The comparison of a sequence of records with checkpoints.

use std::mem;

use super::finding::{Change, Finding, Findings, NotVerified};
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
    /// The number of these records whose segments no instance wrote, and `audit init` accepted. They prove nothing.
    pub foreign: u64,
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
    /// The position of the next record.
    next: u64,
    /// Whether the tree does not have all hashes before it, so that no further root can be compared.
    is_broken: bool,
    verified: VerifiedLog,
    /// The records since the last verified checkpoint that differ from the hash that the log keeps.
    changed: Vec<Change>,
    /// The size of the largest verified tree.
    proven: u64,
    findings: Findings,
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
            next: 0,
            is_broken: false,
            verified: VerifiedLog::default(),
            changed: Vec::new(),
            proven: 0,
            findings: Findings::default(),
        })
    }

    /// The number of positions so far.
    pub(super) fn size(&self) -> u64 {
        self.next
    }

    /// Adds a record. Without a gap before it, it is the next one.
    pub(super) fn push(&mut self, step: LoggedRecord<'_>) {
        let LoggedRecord { index, record, own, kept } = step;
        if index < self.next {
            return self.find(Change::Added { record: record.to_owned() });
        }
        if index > self.next {
            self.find(Change::Missing(self.next));
            self.skip_to(index);
        }
        let Some(hash) = kept.or(own) else {
            self.find(Change::Missing(index));
            return self.skip_to(index + 1);
        };
        if own.is_some_and(|own| own != hash) {
            self.changed.push(Change::Changed { index, record: record.to_owned() });
        }
        self.tree.append(hash, |_| ());
        self.next += 1;
        self.verified.retired += u64::from(own.is_none());
        if self.next.is_multiple_of(PROGRESS) {
            (self.progress)(self.next);
        }
        self.compare();
    }

    /// Goes on with a later position.
    pub(super) fn skip_to(&mut self, index: u64) {
        self.is_broken = true;
        self.next = index;
    }

    /// Compares the tree with the checkpoint of its size.
    fn compare(&mut self) {
        let size = self.next;
        let checkpoints = self.trust.checkpoints();
        let Some(checkpoint) = checkpoints.iter().find(|it| it.size == size) else {
            return;
        };
        // The hashes that the log keeps are proven or not, whatever the records are. After a gap, they are not.
        let is_proven = !self.is_broken;
        if is_proven && checkpoint.root != self.tree.root() {
            if self.changed.is_empty() {
                self.changed.push(Change::Within(self.proven..size));
            }
            self.is_broken = true;
        }
        self.proven = size;
        for change in mem::take(&mut self.changed) {
            match is_proven {
                true => self.find(change),
                false => self.findings.add(Finding { change, checkpoint: None }),
            }
        }
    }

    pub(super) fn note_hashed(&mut self, is_hashed: bool) {
        self.verified.hashed += u64::from(is_hashed);
    }

    pub(super) fn note_foreign(&mut self) {
        self.verified.foreign += 1;
    }

    pub(super) fn note_unsealed(&mut self, count: u64) {
        self.verified.unsealed += count;
    }

    pub(super) fn finish(mut self) -> Result<VerifiedLog, NotVerified> {
        let (size, covered) = (self.next, self.trust.size());
        if size == 0 {
            self.compare();
        }
        if size < covered {
            self.find(Change::Missing(size));
        }
        for change in mem::take(&mut self.changed) {
            self.findings.add(Finding { change, checkpoint: None });
        }
        match self.findings.is_empty() {
            true => Ok(VerifiedLog { covered, newer: size - covered, ..self.verified }),
            false => Err(NotVerified::Tampered(self.findings)),
        }
    }

    /// Adds a finding, proven by the first checkpoint that covers it.
    pub(super) fn find(&mut self, change: Change) {
        let size = self.next;
        let mut checkpoints = self.trust.checkpoints().iter().map(|it| it.size);
        let checkpoint = checkpoints.find(|covered| *covered >= size);
        self.findings.add(Finding { change, checkpoint });
    }
}

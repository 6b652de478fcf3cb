//! The public keys and the checkpoints that a verification relies on.

use super::finding::{Change, Failure, Finding};
use crate::ledger::Log;
use crate::tlog::{Checkpoint, InvalidCheckpoint, VerifierKey};

/// The keys of a log and its verified checkpoints.
#[derive(Clone, Debug)]
pub struct Trust {
    log: Log,
    keys: Vec<VerifierKey>,
    /// The smallest first, one for each size.
    checkpoints: Vec<Checkpoint>,
}

impl Trust {
    /// Trusts the keys in a text, one on each line. They belong to one log.
    ///
    /// # Errors
    /// The text has other content.
    pub fn new(keys: &str) -> Result<Self, Failure> {
        let not_checked = |message: String| Failure::NotChecked(message);
        let keys: Vec<VerifierKey> = keys
            .lines()
            .filter(|line| !line.is_empty())
            .map(|line| {
                line.parse()
                    .map_err(|error| not_checked(format!("the public key {error}")))
            })
            .collect::<Result<_, _>>()?;
        let first = keys
            .first()
            .ok_or_else(|| not_checked("no public key is given".to_owned()))?;
        let name = first.name().rsplit('/').next().unwrap_or_default();
        let log = name.parse().map_err(|_| {
            not_checked(
                "the name of the public key must end in /operations or /management".to_owned(),
            )
        })?;
        if keys.iter().any(|key| key.name() != first.name()) {
            return Err(not_checked("the public keys must have one name".to_owned()));
        }
        Ok(Self {
            log,
            keys,
            checkpoints: Vec::new(),
        })
    }

    /// The log of the keys.
    #[must_use]
    pub fn log(&self) -> Log {
        self.log
    }

    /// The checkpoints, the smallest first.
    #[must_use]
    pub fn checkpoints(&self) -> &[Checkpoint] {
        &self.checkpoints
    }

    /// The number of records that the largest checkpoint covers.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.checkpoints
            .last()
            .map_or(0, |checkpoint| checkpoint.size)
    }

    /// Adds a checkpoint.
    ///
    /// # Errors
    /// It is not signed by a key, or contradicts another one.
    pub fn add(&mut self, note: &str) -> Result<(), Failure> {
        let checkpoint = self.open(note)?;
        for known in &self.checkpoints {
            if known.size == checkpoint.size && known.root != checkpoint.root {
                return Err(Failure::Tampered(Finding {
                    change: Change::Fork,
                    checkpoint: Some(known.size),
                }));
            }
        }
        if !self.checkpoints.contains(&checkpoint) {
            self.checkpoints.push(checkpoint);
            self.checkpoints.sort_by_key(|checkpoint| checkpoint.size);
        }
        Ok(())
    }

    /// The checkpoint of a note.
    pub(super) fn open(&self, note: &str) -> Result<Checkpoint, Failure> {
        let mut failure = InvalidCheckpoint::Note;
        for key in &self.keys {
            match Checkpoint::open(note, key) {
                Ok(checkpoint) => return Ok(checkpoint),
                Err(error) => failure = error,
            }
        }
        Err(match failure {
            InvalidCheckpoint::Signature => Failure::Tampered(Finding {
                change: Change::Signature,
                checkpoint: None,
            }),
            InvalidCheckpoint::Note | InvalidCheckpoint::Format | InvalidCheckpoint::Origin => {
                Failure::NotChecked(format!("the checkpoint {failure}"))
            }
        })
    }
}

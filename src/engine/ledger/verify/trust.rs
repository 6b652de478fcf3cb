//! The public keys and the checkpoints that a verification relies on.

use super::finding::{Change, Finding, NotVerified};
use crate::ledger::Log;
use formats::tlog::{Checkpoint, InvalidCheckpoint, Note, VerifierKey};

/// The keys of a log and its verified checkpoints.
#[derive(Clone, Debug)]
pub struct Trust {
    log: Log,
    keys: Vec<VerifierKey>,
    /// The witnesses that must have cosigned each checkpoint.
    witnesses: Vec<VerifierKey>,
    /// The smallest first, one for each size.
    checkpoints: Vec<Checkpoint>,
}

impl Trust {
    /// Trusts the keys in a text, one on each line. They belong to one log.
    pub fn new(keys: &str) -> Result<Self, NotVerified> {
        let not_checked = |message: String| NotVerified::NotChecked(message);
        let keys = parsed(keys)?;
        let first = keys.first().ok_or_else(|| not_checked("no public key is given".to_owned()))?;
        let name = first.name().rsplit('/').next().unwrap_or_default();
        let log = name.parse().map_err(|_| {
            not_checked(
                "the name of the public key must end in /operations or /management".to_owned(),
            )
        })?;
        if keys.iter().any(|key| key.name() != first.name()) {
            return Err(not_checked("the public keys must have one name".to_owned()));
        }
        Ok(Self { log, keys, witnesses: Vec::new(), checkpoints: Vec::new() })
    }

    /// Requires that the witnesses with the keys in a text, one on each line, have cosigned each
    /// checkpoint that is added later.
    pub fn require_witnesses(&mut self, keys: &str) -> Result<(), NotVerified> {
        let keys = parsed(keys)?;
        let is_other = |key: &VerifierKey| !key.kind().is_cosignature();
        if keys.is_empty() || keys.iter().any(is_other) {
            let message = "the key of a witness must be a cosignature key (type 4 or 6)";
            return Err(NotVerified::NotChecked(message.to_owned()));
        }
        self.witnesses.extend(keys);
        Ok(())
    }

    /// The log of the keys.
    pub fn log(&self) -> Log {
        self.log
    }

    /// The origin of the log, which is the name of the keys.
    pub(super) fn origin(&self) -> &str {
        self.keys.first().map_or("", VerifierKey::name)
    }

    /// The checkpoints, the smallest first.
    pub fn checkpoints(&self) -> &[Checkpoint] {
        &self.checkpoints
    }

    /// The number of records that the largest checkpoint covers.
    pub fn size(&self) -> u64 {
        self.checkpoints.last().map_or(0, |checkpoint| checkpoint.size)
    }

    /// Adds a checkpoint.
    pub fn add(&mut self, note: &str) -> Result<(), NotVerified> {
        let checkpoint = self.open(note)?;
        self.add_proven(checkpoint)
    }

    /// Adds a tree of which a signed one is an extension.
    pub(super) fn add_proven(&mut self, checkpoint: Checkpoint) -> Result<(), NotVerified> {
        for known in &self.checkpoints {
            if known.size == checkpoint.size && known.root != checkpoint.root {
                return Err(NotVerified::Tampered(
                    Finding { change: Change::Fork, checkpoint: Some(known.size) }.into(),
                ));
            }
        }
        if !self.checkpoints.contains(&checkpoint) {
            self.checkpoints.push(checkpoint);
            self.checkpoints.sort_by_key(|checkpoint| checkpoint.size);
        }
        Ok(())
    }

    pub(super) fn open(&self, note: &str) -> Result<Checkpoint, NotVerified> {
        let mut failure = InvalidCheckpoint::Note;
        for key in &self.keys {
            match Checkpoint::open(note, key) {
                Ok(checkpoint) => return self.check_cosignatures(note).map(|()| checkpoint),
                Err(error) => failure = error,
            }
        }
        Err(match failure {
            InvalidCheckpoint::Signature => NotVerified::Tampered(
                Finding { change: Change::Signature, checkpoint: None }.into(),
            ),
            InvalidCheckpoint::Note | InvalidCheckpoint::Format | InvalidCheckpoint::Origin => {
                NotVerified::NotChecked(format!("the checkpoint {failure}"))
            }
        })
    }

    /// Checks that all required witnesses have cosigned a note.
    fn check_cosignatures(&self, note: &str) -> Result<(), NotVerified> {
        let note: Note = note
            .parse()
            .map_err(|error| NotVerified::NotChecked(format!("the checkpoint {error}")))?;
        for witness in &self.witnesses {
            if note.is_signed_by(witness) {
                continue;
            }
            let name = witness.name();
            let mut lines = note.signatures().iter();
            if lines.any(|it| it.name == name && it.key_id == witness.id()) {
                return Err(NotVerified::Tampered(
                    Finding { change: Change::Cosignature(name.to_owned()), checkpoint: None }
                        .into(),
                ));
            }
            return Err(NotVerified::NotChecked(format!(
                "the checkpoint has no cosignature of the witness {name}"
            )));
        }
        Ok(())
    }
}

/// The keys in a text, one on each line.
fn parsed(keys: &str) -> Result<Vec<VerifierKey>, NotVerified> {
    let lines = keys.lines().filter(|line| !line.is_empty());
    let parse = |line: &str| {
        let key = line.parse();
        key.map_err(|error| NotVerified::NotChecked(format!("the public key {error}")))
    };
    lines.map(parse).collect()
}

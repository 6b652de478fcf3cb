//! Checkpoints of signed notes.

use super::checkpoint::{Checkpoint, InvalidCheckpoint};
use super::key::VerifierKey;
use super::note::Note;

impl Checkpoint {
    /// The checkpoint of a signed note.
    pub fn open(note: &str, key: &VerifierKey) -> Result<Self, InvalidCheckpoint> {
        let note: Note = note.parse().map_err(|_| InvalidCheckpoint::Note)?;
        let checkpoint: Self = note.text().parse()?;
        if checkpoint.origin != key.name() {
            return Err(InvalidCheckpoint::Origin);
        }
        if !note.is_signed_by(key) {
            return Err(InvalidCheckpoint::Signature);
        }
        Ok(checkpoint)
    }
}

//! Checkpoints: signed tree heads (C2SP `tlog-checkpoint`).

use std::fmt;
use std::str::FromStr;

use super::hash::Hash;

/// The head of a tree. Its text is the text of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The name of the log.
    pub origin: String,
    /// The number of leaves.
    pub size: u64,
    /// The root of the tree.
    pub root: Hash,
}

/// The text is not a checkpoint of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCheckpoint {
    #[error("must be a signed note")]
    Note,
    #[error("must have an origin, a tree size and a root hash, one on each line")]
    Format,
    #[error("must have the origin of the public key")]
    Origin,
    #[error("must have a valid signature of the public key")]
    Signature,
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}\n{}", self.origin, self.size, self.root)
    }
}

impl FromStr for Checkpoint {
    type Err = InvalidCheckpoint;

    fn from_str(text: &str) -> Result<Self, InvalidCheckpoint> {
        let text = text.strip_suffix('\n').ok_or(InvalidCheckpoint::Format)?;
        let mut lines = text.split('\n');
        let (Some(origin), Some(size), Some(root)) = (lines.next(), lines.next(), lines.next())
        else {
            return Err(InvalidCheckpoint::Format);
        };
        let has_empty_line = origin.is_empty() || lines.any(str::is_empty);
        let number: u64 = size.parse().map_err(|_| InvalidCheckpoint::Format)?;
        if has_empty_line || number.to_string() != size {
            return Err(InvalidCheckpoint::Format);
        }
        Ok(Self {
            origin: origin.to_owned(),
            size: number,
            root: root.parse().map_err(|_| InvalidCheckpoint::Format)?,
        })
    }
}

//! What verification finds.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use crate::seals::Deviation;

/// Why a log is not verified.
#[derive(Debug, thiserror::Error)]
pub enum NotVerified {
    /// The log was changed.
    #[error("TAMPERED: {0}")]
    Tampered(Findings),
    /// Rows are not as their last sealed events say.
    #[error("TAMPERED: {} rows are not as their last events say{}", .0.len(), lines(.0))]
    Rows(Vec<Deviation>),
    /// The check was not possible.
    #[error("not checked: {0}")]
    NotChecked(String),
    /// A file cannot be read.
    #[error("not checked: {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The database failed.
    #[error("not checked: {0}")]
    Database(#[from] sqlx::Error),
}

/// The most differences that are kept. The others are counted.
const MOST: usize = 100;

/// The differences between the records and the checkpoints, in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The first ones.
    pub first: Vec<Finding>,
    /// The number of the others.
    pub further: u64,
}

impl From<Finding> for Findings {
    fn from(finding: Finding) -> Self {
        Self { first: vec![finding], further: 0 }
    }
}

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        if self.first.iter().any(|known| known.change == finding.change) {
            return;
        }
        if self.first.len() < MOST {
            self.first.push(finding);
        } else {
            self.further += 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.first.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("\n  "))?;
        match self.further {
            0 => Ok(()),
            further => write!(f, "\n  and {further} more"),
        }
    }
}

/// A difference between the records and the checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was changed.
    pub change: Change,
    /// The size of the tree of the checkpoint that proves it. None if the records contradict
    /// themselves.
    pub checkpoint: Option<u64>,
}

/// A change of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// No record has this position.
    Missing(u64),
    /// The record at this position is not the one that was sealed.
    Changed {
        /// The position.
        index: u64,
        /// The identifier of the record.
        record: String,
    },
    /// The record was added: it has no position, or one that another record has.
    Added {
        /// The identifier of the record.
        record: String,
    },
    /// The record has more than one position.
    Repeated {
        /// The identifier of the record.
        record: String,
    },
    /// Some record at these positions was changed, added or removed, and its hash as well.
    Within(Range<u64>),
    /// Two checkpoints contradict each other.
    Fork,
    /// A checkpoint has no valid signature of the public key.
    Signature,
    /// The cosignature of this witness on a checkpoint is not valid.
    Cosignature(String),
    /// The proof does not lead from the record to the checkpoint.
    Proof {
        /// The identifier of the record.
        record: String,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.change {
            Change::Missing(index) => write!(f, "the record with log_index {index} is missing")?,
            Change::Changed { index, record } => {
                write!(f, "the record {record} with log_index {index} was changed")?;
            }
            Change::Added { record } => write!(f, "the record {record} was added")?,
            Change::Repeated { record } => {
                write!(f, "the record {record} has more than one position")?;
            }
            Change::Within(Range { start, end }) if end - start == 1 => {
                write!(f, "the record with log_index {start} was changed")?;
            }
            Change::Within(Range { start, end }) => write!(
                f,
                "a record with log_index {start} to {} was changed, added or removed",
                end.saturating_sub(1)
            )?,
            Change::Fork => f.write_str("two checkpoints of one log contradict each other")?,
            Change::Signature => {
                f.write_str("a checkpoint has no valid signature of the public key")?;
            }
            Change::Cosignature(witness) => {
                write!(f, "a checkpoint has an invalid cosignature of {witness}")?;
            }
            Change::Proof { record } => {
                write!(f, "the record {record} is not the one of its proof, or was changed")?;
            }
        }
        match self.checkpoint {
            Some(size) => write!(f, " (proven by the checkpoint of {size} records)"),
            None => Ok(()),
        }
    }
}

impl NotVerified {
    /// The exit code of `sealward audit verify`: 1 for a changed log, 2 if the check was not possible.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Tampered(_) | Self::Rows(_) => 1,
            Self::NotChecked(_) | Self::File { .. } | Self::Database(_) => 2,
        }
    }
}

/// One line for each row.
fn lines(deviations: &[Deviation]) -> String {
    let line = |Deviation { row, difference, members }: &Deviation| {
        format!("\n  {} {}: {difference} {}", row.table, row.id, members.join(", "))
    };
    deviations.iter().map(line).collect()
}

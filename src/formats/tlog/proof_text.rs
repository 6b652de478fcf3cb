//! Proofs of inclusion as text (C2SP `tlog-proof`).

use std::fmt;
use std::str::FromStr;

use super::hash::Hash;

const HEADER: &str = "c2sp.org/tlog-proof@v1";

/// The proof that an entry is in a log, with the checkpoint that it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofText {
    /// The position of the entry.
    pub index: u64,
    /// The hashes, from the sibling of the leaf to the child of the root.
    pub inclusion: Vec<Hash>,
    /// The checkpoint as a signed note.
    pub checkpoint: String,
}

/// The text is not a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a proof in the format {HEADER}")]
pub struct InvalidProofText;

impl fmt::Display for ProofText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}\nindex {}", self.index)?;
        for hash in &self.inclusion {
            writeln!(f, "{hash}")?;
        }
        write!(f, "\n{}", self.checkpoint)
    }
}

impl FromStr for ProofText {
    type Err = InvalidProofText;

    fn from_str(text: &str) -> Result<Self, InvalidProofText> {
        parse(text).ok_or(InvalidProofText)
    }
}

fn parse(text: &str) -> Option<ProofText> {
    let (head, checkpoint) = text.split_once("\n\n")?;
    let mut lines = head.split('\n');
    if lines.next()? != HEADER {
        return None;
    }
    let mut line = lines.next()?;
    // Opaque data, which nothing authenticates.
    if line.starts_with("extra ") {
        line = lines.next()?;
    }
    let digits = line.strip_prefix("index ")?;
    let index: u64 = digits.parse().ok()?;
    let inclusion = lines.map(str::parse).collect::<Result<_, _>>().ok()?;
    (index.to_string() == digits).then(|| ProofText {
        index,
        inclusion,
        checkpoint: checkpoint.to_owned(),
    })
}

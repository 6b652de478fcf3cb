//! Signed notes (C2SP `signed-note`).

use std::fmt;
use std::str::FromStr;

use super::key::{VerifierKey, is_key_name, timestamped};
use crate::binary::{from_base64, to_base64};

/// The most signatures that a note can have.
const MAX_SIGNATURES: usize = 64;

/// A text and its signatures. Parsing does not verify them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    text: String,
    signatures: Vec<Signature>,
}

/// A line with a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name of the key.
    pub name: String,
    pub key_id: u32,
    /// The signature.
    pub bytes: Vec<u8>,
}

/// The text is not a signed note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNote {
    #[error("must be text without control characters other than newlines")]
    Characters,
    #[error("must be a text, an empty line and signature lines")]
    Format,
    #[error("must have 1 to {MAX_SIGNATURES} signatures")]
    Signatures,
}

impl Note {
    /// A note of this text, which ends in a newline.
    pub fn new(text: String, signatures: Vec<Signature>) -> Result<Self, InvalidNote> {
        if text.contains(|it: char| it < ' ' && it != '\n') {
            return Err(InvalidNote::Characters);
        }
        if !text.ends_with('\n') || !signatures.iter().all(|it| is_key_name(&it.name)) {
            return Err(InvalidNote::Format);
        }
        if signatures.is_empty() || signatures.len() > MAX_SIGNATURES {
            return Err(InvalidNote::Signatures);
        }
        Ok(Self { text, signatures })
    }

    /// The signed text, with its last newline.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// Whether `key` signed the note. A note with an invalid signature by the key is not signed.
    pub fn is_signed_by(&self, key: &VerifierKey) -> bool {
        self.signature_by(key).is_some()
    }

    /// The signature by `key`. None if there is none, or an invalid one.
    pub fn signature_by(&self, key: &VerifierKey) -> Option<&Signature> {
        let id = key.id();
        let is_own = |it: &&Signature| it.name == key.name() && it.key_id == id;
        let mut own = self.signatures.iter().filter(is_own);
        let first = own.clone().next()?;
        own.all(|it| key.verifies(&self.text, &it.bytes)).then_some(first)
    }

    /// The note with another signature.
    pub fn with(mut self, signature: Signature) -> Result<Self, InvalidNote> {
        self.signatures.push(signature);
        Self::new(self.text, self.signatures)
    }
}

impl Signature {
    /// The time of a cosignature, in seconds since 1970.
    pub fn cosigned_at(&self) -> Option<u64> {
        timestamped(&self.bytes).map(|(time, _)| time)
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|signature| writeln!(f, "{signature}"))
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&self.key_id.to_be_bytes(), self.bytes.as_slice()].concat();
        write!(f, "— {} {}", self.name, to_base64(&bytes))
    }
}

impl FromStr for Note {
    type Err = InvalidNote;

    fn from_str(note: &str) -> Result<Self, InvalidNote> {
        let end = note.rfind("\n\n").ok_or(InvalidNote::Format)?;
        let (text, lines) = note.split_at(end + 1);
        let lines = lines.strip_prefix('\n').ok_or(InvalidNote::Format)?;
        let lines = lines.strip_suffix('\n').ok_or(InvalidNote::Format)?;
        let signatures = lines.split('\n').take(MAX_SIGNATURES + 1).map(str::parse);
        Self::new(text.to_owned(), signatures.collect::<Result<_, _>>()?)
    }
}

impl FromStr for Signature {
    type Err = InvalidNote;

    fn from_str(line: &str) -> Result<Self, InvalidNote> {
        let line = line.strip_prefix("— ").ok_or(InvalidNote::Format)?;
        let (name, bytes) = line.split_once(' ').ok_or(InvalidNote::Format)?;
        let bytes = from_base64(bytes).map_err(|_| InvalidNote::Format)?;
        let (key_id, bytes) = bytes.split_first_chunk().ok_or(InvalidNote::Format)?;
        Ok(Self {
            name: name.to_owned(),
            key_id: u32::from_be_bytes(*key_id),
            bytes: bytes.to_vec(),
        })
    }
}

//! The seal of a row.

/// A seal, and what it covers.
#[derive(Clone, Debug)]
pub struct Seal {
    /// The form, the generation and the MAC.
    pub bytes: Vec<u8>,
    /// The digest of the columns.
    pub content: Vec<u8>,
    /// The generation of the row key.
    pub generation: u32,
}

/// What a row is, compared with what it was when it was last sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SinceSealed {
    /// The same.
    Same,
    /// Another one.
    Changed,
    /// It was deleted, or an operator accepted its absence.
    Gone,
    /// Nobody can tell: no entry has a seal that counts.
    Unknown,
}

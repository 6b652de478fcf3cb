//! The seal of a row.

use formats::closed_set;

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

closed_set! {
    /// What a row is, compared with what it was when it was last sealed.
    pub enum SealComparison: "SealComparison" {
        /// The same.
        Same = "as last sealed",
        /// Another one.
        Changed = "not as last sealed",
        /// It was deleted, or an operator accepted its absence.
        Gone = "gone since last sealed",
        /// Nobody can tell: no entry has a seal that counts.
        Unknown = "no former seal counts",
    }
}

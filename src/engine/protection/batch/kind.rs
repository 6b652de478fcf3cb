//! The operation of a batch.

use std::time::Duration;

use formats::wiped::Wiped;

/// The operation of all items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// `/protect/batch`
    Protect,
    /// `/unprotect/batch`
    Unprotect,
    /// `/rewrap/batch`
    Rewrap,
}

/// The limits of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchLimits {
    /// The maximum size of an item, in bytes.
    pub item_bytes: usize,
    /// How many items are done at the same time.
    pub at_once: usize,
    /// How long after the arrival of the request items are begun.
    pub begin_within: Duration,
}

/// The content of an item.
pub(super) type Item = Wiped<Vec<u8>>;

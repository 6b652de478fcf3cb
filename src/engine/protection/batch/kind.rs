//! The operation of a batch and its items.

use std::num::NonZeroU32;
use std::time::Duration;

use super::body::{Items, ProtectBatch, RewrapBatch, UnprotectBatch};
use crate::auth::Application;
use crate::protection::{Call, Refusal};
use formats::json::Text;
use formats::problem::Problems;
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

impl Batch {
    /// The number of items in `body`, which is the number of tokens that it takes from the rate limit. A
    /// body that is refused as a whole takes one.
    pub(super) fn tokens(self, body: &[u8]) -> NonZeroU32 {
        let items = Text::parse(body).ok().and_then(|text| self.read(text).ok());
        let count = items.and_then(|items| u32::try_from(items.0.len()).ok());
        count.and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
    }

    fn read(self, text: Text<'_>) -> Result<Items<'_>, Problems> {
        match self {
            Self::Protect => ProtectBatch::items_of(text),
            Self::Unprotect => UnprotectBatch::items_of(text),
            Self::Rewrap => RewrapBatch::items_of(text),
        }
    }

    /// The items of `body`, each in its own buffer, so that the body can be dropped.
    pub(super) fn split(
        self,
        call: &Call,
        body: &[u8],
    ) -> Result<(Application, Vec<Item>), Refusal> {
        let (application, text) = call.admit(body)?;
        let items = self.read(text)?.0.into_iter();
        let items = items.map(|item| Wiped::new(item.as_str().as_bytes().to_vec()));
        Ok((application, items.collect()))
    }
}

//! The items of a batch.

use std::num::NonZeroU32;

use super::body::items_of;
use super::kind::{Batch, Item};
use crate::auth::Application;
use crate::protection::{Call, Refusal};
use formats::json::Text;
use formats::wiped::Wiped;

impl Batch {
    /// The number of items in `body`, which is the number of tokens that it takes from the rate limit. A
    /// body that is refused as a whole takes one.
    pub(super) fn tokens(self, body: &[u8]) -> NonZeroU32 {
        let items = Text::parse(body).ok().and_then(|text| items_of(self, text).ok());
        let count = items.and_then(|items| u32::try_from(items.len()).ok());
        count.and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
    }

    /// The items of `body`, each in its own buffer, so that the body can be dropped.
    pub(super) fn split(
        self,
        call: &Call,
        body: &[u8],
    ) -> Result<(Application, Vec<Item>), Refusal> {
        let (application, text) = call.admit(body)?;
        let items = items_of(self, text)?.into_iter();
        let items = items.map(|item| Wiped::new(item.as_str().as_bytes().to_vec()));
        Ok((application, items.collect()))
    }
}

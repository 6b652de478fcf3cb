//! The items of a batch.

use std::num::NonZeroU32;

use super::body::items_of;
use super::kind::{Batch, Item};
use super::work::ItemWork;
use crate::auth::Application;
use crate::protection::long_work::Cost;
use crate::protection::{Body, Call, Protection, Refusal, UnreadableBody};
use formats::json::Text;
use formats::wiped::Wiped;

impl Batch {
    /// The number of items in `body`, which is the number of tokens that it takes from the rate limit. A
    /// body that is refused as a whole takes one.
    pub fn tokens(self, body: &[u8]) -> NonZeroU32 {
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

/// The work on envelopes.
pub(super) struct EnvelopeWork {
    pub(super) batch: Batch,
    /// The maximum size of an item, in bytes.
    pub(super) item_bytes: usize,
}

impl ItemWork for EnvelopeWork {
    type Item = Item;
    type Outcome = Body;

    fn size(item: &Item) -> usize {
        item.len()
    }

    async fn one(
        &self,
        protection: &Protection,
        call: &mut Call,
        application: &Application,
        item: &Item,
    ) -> Result<Body, Refusal> {
        if item.len() > self.item_bytes {
            return Err(UnreadableBody::TooLarge.into());
        }
        let parsing = || Text::parse(item);
        let text = protection.long_work.run(call.lane(), Cost::Low, item.len(), parsing).await?;
        match self.batch {
            Batch::Protect => protection.protect_one(call, application, text).await,
            Batch::Unprotect => protection.unprotect_one(call, application, text).await,
            Batch::Rewrap => protection.rewrap_one(call, application, text).await,
        }
    }
}

//! Several operations of one request.

use std::sync::Arc;

use super::{NamedItem, NamedResult};
use crate::auth::Application;
use crate::protection::batch::ItemWork;
use crate::protection::{Call, Protection, Refusal};

/// The work of a request with several items.
pub(super) struct NamedWork {
    /// The name of the key.
    pub(super) key: Option<Arc<str>>,
}

impl ItemWork for NamedWork {
    type Item = Result<NamedItem, Refusal>;
    type Outcome = NamedResult;

    fn size(item: &Self::Item) -> usize {
        item.as_ref().map_or(0, NamedItem::size)
    }

    async fn one(
        &self,
        protection: &Protection,
        call: &mut Call,
        application: &Application,
        item: &Self::Item,
    ) -> Result<NamedResult, Refusal> {
        let item = item.as_ref().map_err(Clone::clone)?;
        call.note_size(item.sent);
        protection.one_by_name(call, application, self.key.as_deref(), item).await
    }
}

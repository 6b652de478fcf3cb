//! Reads changes that need approval.

use serde_json::Value;

use super::filter::ChangeFilter;
use super::proposal::{Proposal, Proposer};
use super::propose::without_name;
use super::store;
use crate::change_kind::ChangeKind;
use crate::ids::ChangeId;
use crate::management::{
    Authorized, Context, Error, ManageAdminKeys, ManageApiKeys, Page, PageRequest, ReadResources,
    ResourceType,
};
use crate::resource::Identified as _;

/// The changes that match `filter`, in the order in which they were proposed.
pub async fn list(
    context: &Authorized<ReadResources>,
    filter: &ChangeFilter,
    page: PageRequest,
) -> Result<Page<Proposal>, Error> {
    let mut connection = context.pool.acquire().await?;
    let rows = context.pool.rows_on(&mut connection);
    let rows = store::list(rows, context.clock.now(), filter, page).await?;
    let shown = rows.into_iter().map(|proposal| proposal.shown_to(context));
    Ok(Page::of(page, shown.collect(), Proposal::uuid))
}

pub async fn read(context: &Authorized<ReadResources>, id: ChangeId) -> Result<Proposal, Error> {
    let mut connection = context.pool.acquire().await?;
    let rows = context.pool.rows_on(&mut connection);
    let found = store::read(rows, context.clock.now(), id).await?;
    let proposal = found.ok_or(Error::Missing(ResourceType::Change))?;
    Ok(proposal.shown_to(context))
}

/// How many changes are pending.
pub async fn pending(context: &Authorized<ReadResources>) -> Result<i64, Error> {
    let (pending, _) = store::backlog(&context.pool, context.clock.now()).await?;
    Ok(pending)
}

impl Proposal {
    /// The change as the reader may see it: without the name and the states of a resource, and without an
    /// admin key, that the reader may not see.
    pub(super) fn shown_to(self, context: &Context) -> Self {
        let is_visible = self.action.iter().all(|kind| match kind {
            ChangeKind::ApiKeyAdmin => context.may::<ManageAdminKeys>(),
            ChangeKind::CredentialOpen => context.may::<ManageApiKeys>(),
            ChangeKind::KeyImport
            | ChangeKind::KeyAdopt
            | ChangeKind::KeyActivate
            | ChangeKind::KeyDestroy
            | ChangeKind::PolicyOpen => true,
        });
        let shown = match is_visible {
            true => self,
            false => Self {
                summary: without_name(&self.summary),
                resource_id: None,
                before: None,
                after: None,
                ..self
            },
        };
        Self { proposed_by: shown.proposed_by.shown_to(context), ..shown }
    }
}

impl Proposer {
    /// The author without an admin key that the reader may not see. Everybody sees their own.
    fn shown_to(self, context: &Context) -> Self {
        let is_own = self.api_key_id == context.actor.api_key_id;
        if self.api_key_id.is_none() || is_own || context.may::<ManageAdminKeys>() {
            return self;
        }
        Self { api_key_id: None, name: HIDDEN_KEY.to_owned(), ..self }
    }
}

/// The change in the JSON of an answer that is sent again, as the reader may see it.
pub fn shown_again(change: &str, context: &Context) -> Option<String> {
    let mut change: Value = serde_json::from_str(change).ok()?;
    let own = context.actor.api_key_id.map(|id| id.to_string());
    let proposer = change.get_mut("proposedBy")?.as_object_mut()?;
    let key = proposer.get("apiKeyId").and_then(Value::as_str);
    let is_visible = key.is_none() || key == own.as_deref() || context.may::<ManageAdminKeys>();
    if !is_visible {
        proposer.insert("apiKeyId".to_owned(), Value::Null);
        proposer.insert("name".to_owned(), HIDDEN_KEY.into());
    }
    Some(change.to_string())
}

/// The name of an admin key that the reader may not see.
pub(in crate::management) const HIDDEN_KEY: &str = "admin key";

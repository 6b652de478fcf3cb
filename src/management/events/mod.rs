//! The trail of what administrators did.

pub(super) mod store;

use std::net::IpAddr;
use std::str::FromStr;

use serde::Serialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{Context, Error, Page, PageRequest};
use crate::clock::Timestamp;
use crate::ids::{ApiKeyId, EventId, ImportKeyId, KeyId, NotAnId, PolicyId, ServiceId};

/// A change that was made, as the API shows it. Members are in snake case, as in the audit trail.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = ManagementEvent)]
pub struct Recorded {
    /// Its identifier.
    pub id: EventId,
    /// When.
    pub timestamp: Timestamp,
    /// Which admin key made it; null for the command line and for jobs.
    pub api_key_id: Option<ApiKeyId>,
    /// The name of that key at the time, or what else acted.
    pub actor: String,
    /// What was done.
    pub action: String,
    /// To what kind of thing.
    pub resource_type: String,
    /// To which.
    pub resource_id: String,
    /// How it was before; null when it was made.
    pub before: Option<Value>,
    /// How it was afterwards; null when it is gone.
    pub after: Option<Value>,
    /// Where the request came from.
    #[schema(value_type = Option<String>)]
    pub client_address: Option<IpAddr>,
    /// Which request it was.
    pub request_id: Option<String>,
}

/// Which resource an event is about, by an id of whatever kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceId(pub(super) Uuid);

impl FromStr for ResourceId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        text.parse()
            .map(ServiceId::uuid)
            .or_else(|_| text.parse().map(PolicyId::uuid))
            .or_else(|_| text.parse().map(KeyId::uuid))
            .or_else(|_| text.parse().map(ApiKeyId::uuid))
            .or_else(|_| text.parse().map(ImportKeyId::uuid))
            .map(Self)
    }
}

/// Which events a list shows.
#[derive(Clone, Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct Filter {
    /// Those of this request.
    pub request_id: Option<String>,
    /// Those of this admin key.
    pub api_key_id: Option<ApiKeyId>,
    /// Those of this action.
    pub action: Option<String>,
    /// Those of this kind of resource.
    pub resource_type: Option<String>,
    /// Those of this resource, by its id.
    #[param(value_type = Option<String>)]
    pub resource_id: Option<ResourceId>,
    /// Those from then on.
    pub from: Option<Timestamp>,
    /// Those before then.
    pub to: Option<Timestamp>,
}

/// One event, if there is such a one.
///
/// # Errors
/// When the database cannot be read.
pub async fn read(context: &Context, id: EventId) -> Result<Option<Recorded>, Error> {
    Ok(store::read(&context.pool, id).await?)
}

/// The events that `filter` lets through, the newest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn list(
    context: &Context,
    filter: &Filter,
    page: PageRequest,
) -> Result<Page<Recorded>, Error> {
    let rows = store::list(&context.pool, filter, page).await?;
    Ok(Page::of(page, rows, |event| event.id.uuid()))
}

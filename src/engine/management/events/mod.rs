//! Management events: the record of every change, and security events.

mod export;
pub(super) mod store;

use std::net::IpAddr;
use std::ops::Not;
use std::str::FromStr;

use serde::Serialize;
use serde_json::Value;
use sqlx::PgExecutor;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

pub use self::export::ManagementLog;
use super::{Action, Authorized, Error, Page, PageRequest, ReadAudit, ResourceType};
use crate::db::Pool;
use crate::ids::{ApiKeyId, ChangeId, EventId, NotAnId};
use crate::segments::{Log, Placed, Placement, hash_of};
use formats::clock::Timestamp;

/// A change or a security event, as the API shows it. Members are in snake case, as in audit records.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = ManagementEvent)]
pub struct Recorded {
    /// The identifier.
    pub id: EventId,
    /// The time of the record.
    pub timestamp: Timestamp,
    /// The API key of the caller; null for people who signed in, for the command line, for jobs and for
    /// unauthenticated requests.
    pub api_key_id: Option<ApiKeyId>,
    /// The person who signed in with OpenID Connect; null for other callers.
    pub person: Option<EventPerson>,
    /// The name of that key or person at the time, of the command or of the job.
    pub actor: String,
    /// The kind of change.
    #[schema(value_type = Action)]
    pub action: String,
    /// The type of the resource.
    #[schema(value_type = ResourceType)]
    pub resource_type: String,
    /// The identifier of the resource; null for security events without one.
    pub resource_id: Option<String>,
    /// The resource before the change; null for a new one.
    pub before: Option<Value>,
    /// The resource after the change; null for a deleted one. Of a security event: its details.
    pub after: Option<Value>,
    /// The address of the client.
    #[schema(value_type = Option<String>)]
    pub client_address: Option<IpAddr>,
    /// The request.
    pub request_id: Option<String>,
    /// The change whose approval made this change; null if it needed none.
    pub change_id: Option<ChangeId>,
    /// The people who approved it; null if it needed no approval.
    pub approved_by: Option<Vec<String>>,
    /// The position in the log of management events; null until the record is sealed.
    pub log_index: Option<i64>,
    /// Whether the event is not the one that was sealed. Left out if it is, or is not sealed yet.
    #[serde(skip_serializing_if = "Not::not")]
    pub changed: bool,
}

impl Recorded {
    /// The kind of change; none if a later release adds it.
    pub fn action(&self) -> Option<Action> {
        self.action.parse().ok()
    }

    /// The type of the resource; none if a later release adds it. This release makes another leaf than the later one.
    pub fn resource_type(&self) -> Option<ResourceType> {
        self.resource_type.parse().ok()
    }
}

/// The person who made a change, as their ID token names them.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct EventPerson {
    /// The issuer.
    pub iss: String,
    /// The subject.
    pub sub: String,
}

/// The identifier of a resource of any type.
#[derive(Clone, Debug, Serialize)]
#[serde(into = "String")]
pub struct ResourceId {
    uuid: Uuid,
    text: String,
}

impl FromStr for ResourceId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let uuid = ResourceType::ALL.into_iter().find_map(|of| of.uuid(text));
        uuid.map(|uuid| Self { uuid, text: text.to_owned() }).ok_or(NotAnId)
    }
}

impl From<ResourceId> for String {
    fn from(id: ResourceId) -> Self {
        id.text
    }
}

/// The filter of a list of events.
#[derive(Clone, Debug, Default, IntoParams, Serialize)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
pub struct EventFilter {
    /// Events of this request.
    pub request_id: Option<String>,
    /// Events of this admin key.
    pub api_key_id: Option<ApiKeyId>,
    /// Events of this kind.
    pub action: Option<Action>,
    /// Events of this type of resource.
    pub resource_type: Option<ResourceType>,
    /// Events of this resource.
    #[param(value_type = Option<String>)]
    pub resource_id: Option<ResourceId>,
    /// Events at or after this time.
    pub from: Option<Timestamp>,
    /// Events before this time.
    pub to: Option<Timestamp>,
}

/// One event, if it exists.
pub async fn read(context: &Authorized<ReadAudit>, id: EventId) -> Result<Option<Recorded>, Error> {
    let found = store::read(&context.pool, id).await?;
    Ok(placed(&context.pool, found).await?.pop())
}

/// An event that the transaction of `database` has written.
pub(crate) async fn written(database: impl PgExecutor<'_>, id: EventId) -> sqlx::Result<Recorded> {
    store::written(database, id).await
}

/// The events with these ids, in any order. Those that do not exist are left out.
pub(crate) async fn named(
    database: impl PgExecutor<'_>,
    ids: &[Uuid],
) -> sqlx::Result<Vec<Placed<Recorded>>> {
    store::named(database, ids).await
}

/// Events with their positions, compared with the hashes there.
async fn placed(
    pool: &Pool,
    found: impl IntoIterator<Item = Placed<Recorded>>,
) -> sqlx::Result<Vec<Recorded>> {
    let mut connection = pool.acquire().await?;
    let mut events = Vec::new();
    for found in found {
        let own = hash_of(Log::Management, &found.row);
        let event = (Log::Management, found.row.id.uuid());
        let placement = found.placement(&mut connection, pool.seals(), event, own).await?;
        events.push(match placement {
            Placement::Waiting => found.row,
            Placement::Sealed(index) => Recorded { log_index: Some(index), ..found.row },
            Placement::Changed(index) => {
                Recorded { log_index: Some(index), changed: true, ..found.row }
            }
        });
    }
    Ok(events)
}

/// The events that match `filter`, newest first.
pub async fn list(
    context: &Authorized<ReadAudit>,
    filter: &EventFilter,
    page: PageRequest,
) -> Result<Page<Recorded>, Error> {
    let rows = store::list(&context.pool, filter, page.after(), page.rows()).await?;
    let rows = placed(&context.pool, rows).await?;
    Ok(Page::of(page, rows, |event| event.id.uuid()))
}

//! API keys: made, shown once, bound, limited, revoked. A revoked one stays on record.

mod api_key;
mod store;
mod terms;

use std::borrow::Cow;

use secrecy::ExposeSecret;
use serde::{Serialize, Serializer};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use super::{
    Action, Change, Context, Error, Event, Expected, Missing, Page, PageRequest, Proposal,
};
use crate::auth::{Kind, LiveKey};
use crate::ids::{ApiKeyId, ServiceId};

pub use self::api_key::{ApiKey, Status};
pub use self::terms::ApiKeyDraft;

/// Which API keys a list shows.
#[derive(Clone, Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct Filter {
    /// Those whose name contains this, in whatever case.
    #[param(ignore)]
    pub name: Option<String>,
    /// Those of this service.
    pub service_id: Option<ServiceId>,
    /// Those of this type.
    #[param(rename = "type")]
    pub kind: Option<Kind>,
    /// Those of this status.
    pub status: Option<Status>,
}

/// An API key just made, and the one chance to see it whole.
#[derive(Debug)]
pub struct Created {
    /// What is kept of it.
    pub api_key: ApiKey,
    /// The key itself.
    pub secret: LiveKey,
}

/// As the API shows it.
#[derive(Serialize, ToSchema)]
struct Shown<'a> {
    #[serde(flatten)]
    api_key: &'a ApiKey,
    /// The key itself. It is shown this once.
    secret: &'a str,
}

impl PartialSchema for Created {
    fn schema() -> RefOr<Schema> {
        Shown::schema()
    }
}

impl ToSchema for Created {
    fn name() -> Cow<'static, str> {
        "CreatedApiKey".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Shown::schemas(schemas);
    }
}

impl Serialize for Created {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shown {
            api_key: &self.api_key,
            secret: self.secret.expose_secret(),
        }
        .serialize(serializer)
    }
}

/// The API keys that `filter` lets through, in the order in which they were made.
///
/// # Errors
/// When the database cannot be read.
pub async fn list(
    context: &Context,
    filter: &Filter,
    page: PageRequest,
) -> Result<Page<ApiKey>, Error> {
    let now = context.clock.now();
    let rows = store::list(&context.pool, now, filter, page).await?;
    Ok(Page::of(page, rows, |api_key| api_key.id.uuid()))
}

/// One API key.
///
/// # Errors
/// When there is none, or the database cannot be read.
pub async fn read(context: &Context, id: ApiKeyId) -> Result<ApiKey, Error> {
    store::read(&context.pool, context.clock.now(), id)
        .await?
        .ok_or(Error::Missing(Missing::ApiKey))
}

/// Makes an API key.
///
/// # Errors
/// When the proposal is wrong, or the database does not take it.
pub async fn create(context: &Context, proposal: Proposal<ApiKeyDraft>) -> Result<Created, Error> {
    let mut change = context.begin().await?;
    let now = change.now();
    let (owner, terms) = terms::of_new(change.connection(), now, proposal).await?;
    let secret = LiveKey::generate(&context.entropy, owner.kind());
    let id = ApiKeyId::new(&context.clock, &context.entropy);
    let api_key = ApiKey::new(id, now, owner, secret.last_four(), terms);
    store::insert(change.connection(), &api_key, secret.at_rest()).await?;
    change.commit(Event::created(&api_key)).await?;
    Ok(Created { api_key, secret })
}

/// Changes what an API key may do.
///
/// # Errors
/// When there is none, it is revoked or not as expected, when the proposal is wrong, or when the
/// database does not take it.
pub async fn update(
    context: &Context,
    id: ApiKeyId,
    expected: &Expected,
    proposal: Proposal<ApiKeyDraft>,
) -> Result<ApiKey, Error> {
    let mut change = context.begin().await?;
    let before = lock(&mut change, id, expected).await?;
    if before.status == Status::Revoked {
        return Err(Error::Conflict("the API key is revoked".to_owned()));
    }
    let now = change.now();
    let terms = terms::of_changed(change.connection(), now, &before, proposal).await?;
    if terms == before.terms() {
        return Ok(before);
    }
    let after = before.with(now, terms);
    store::update(change.connection(), &after).await?;
    change
        .commit(Event::changed(Action::Update, &before, &after))
        .await?;
    Ok(after)
}

/// Revokes an API key, for good. Revoking it again changes nothing.
///
/// # Errors
/// When there is none or it is not as expected, or when the database does not take it.
pub async fn revoke(context: &Context, id: ApiKeyId, expected: &Expected) -> Result<(), Error> {
    let mut change = context.begin().await?;
    let before = lock(&mut change, id, expected).await?;
    if before.status == Status::Revoked {
        return Ok(());
    }
    let after = before.revoked(change.now());
    store::update(change.connection(), &after).await?;
    change
        .commit(Event::changed(Action::Revoke, &before, &after))
        .await
}

async fn lock(change: &mut Change<'_>, id: ApiKeyId, expected: &Expected) -> Result<ApiKey, Error> {
    let now = change.now();
    let api_key = store::lock(change.connection(), now, id)
        .await?
        .ok_or(Error::Missing(Missing::ApiKey))?;
    expected.check(api_key.revision)?;
    Ok(api_key)
}

//! API keys. The record of a revoked key stays.

mod check;
mod judge;
pub mod operator;
mod store;

use std::borrow::Cow;

use secrecy::ExposeSecret;
use serde::{Serialize, Serializer};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use super::changes::{NewCredential, StoredRequest};
use super::check::checked;
use super::store::{lock_owners, usable_owner_keys};
use super::{
    Action, Authorized, Change, Error, Event, Expected, ManageAdminKeys, ManageApiKeys, Page,
    PageRequest, ResourceType, ResourceView, people,
};
use crate::auth::{ApiKeySecret, ApiKeyType};
use crate::change_kind::ChangeKind;
use crate::ids::{ApiKeyId, PersonId, ServiceId};
use crate::resource::ResourceRequest;
use formats::clock::Timestamp;

pub(super) use self::judge::adds_operations;
pub use crate::auth::{ApiKey, ApiKeyRequest, ApiKeyStatus, BoundPolicy, Hint, Networks};

/// The filter of a list of API keys.
#[derive(Clone, Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct ApiKeyFilter {
    /// API keys with this name.
    pub name: Option<String>,
    /// API keys whose name contains this text, ignoring case.
    pub name_contains: Option<String>,
    /// API keys of this service.
    pub service_id: Option<ServiceId>,
    /// API keys of this type.
    #[param(rename = "type")]
    pub kind: Option<ApiKeyType>,
    /// API keys with this status.
    pub status: Option<ApiKeyStatus>,
}

/// A new API key with its secret.
#[derive(Debug)]
pub struct Created {
    /// The record.
    pub api_key: ApiKey,
    /// The key itself, which is not kept.
    pub secret: ApiKeySecret,
}

/// A new API key, with the key itself.
#[derive(Serialize, ToSchema)]
struct CreatedApiKey<'a> {
    #[serde(flatten)]
    api_key: &'a ApiKey,
    /// The key itself. Only this response contains it; null if the request was sent again.
    #[schema(required = true)]
    secret: Option<&'a str>,
}

impl ResourceView for Created {
    type Resource = ApiKey;

    fn resource(&self) -> &ApiKey {
        &self.api_key
    }
}

impl PartialSchema for Created {
    fn schema() -> RefOr<Schema> {
        CreatedApiKey::schema()
    }
}

impl ToSchema for Created {
    fn name() -> Cow<'static, str> {
        "CreatedApiKey".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        CreatedApiKey::schemas(schemas);
    }
}

impl Serialize for Created {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        CreatedApiKey { api_key: &self.api_key, secret: Some(self.secret.expose_secret()) }
            .serialize(serializer)
    }
}

/// The API keys that match `filter`, in the order in which they were created. Only owners see admin keys.
pub async fn list(
    context: &Authorized<ManageApiKeys>,
    filter: &ApiKeyFilter,
    page: PageRequest,
) -> Result<Page<ApiKey>, Error> {
    let now = context.clock.now();
    let with_admin_keys = context.may::<ManageAdminKeys>();
    let rows = store::list(context.pool.rows(), now, filter, with_admin_keys, page).await?;
    Ok(Page::of(page, rows, |api_key| api_key.id.uuid()))
}

pub async fn read(context: &Authorized<ManageApiKeys>, id: ApiKeyId) -> Result<ApiKey, Error> {
    let api_key = store::read(context.pool.rows(), context.clock.now(), id)
        .await?
        .ok_or(Error::Missing(ResourceType::ApiKey))?;
    if api_key.r#type == ApiKeyType::Admin {
        context.authorize::<ManageAdminKeys>()?;
    }
    Ok(api_key)
}

/// Creates an API key.
///
/// # Errors
/// The request is wrong, the key is an admin key and the author no owner, the change needs approval, or the
/// database refuses it.
pub async fn create(
    context: &Authorized<ManageApiKeys>,
    request: ResourceRequest<ApiKeyRequest>,
) -> Result<Created, Error> {
    let kind = request.body.r#type.given().copied();
    // Without a type, the request is refused.
    let secret = ApiKeySecret::generate(&context.entropy, kind.unwrap_or(ApiKeyType::Test));
    match record(context, request, NewCredential::of(&secret)).await {
        Ok(api_key) => Ok(Created { api_key, secret }),
        Err(Error::Proposed(mut proposed)) => {
            proposed.secret = Some(secret);
            Err(Error::Proposed(proposed))
        }
        Err(error) => Err(error),
    }
}

/// Creates the record of an API key with this digest.
pub(super) async fn record(
    context: &Authorized<ManageApiKeys>,
    request: ResourceRequest<ApiKeyRequest>,
    credential: NewCredential,
) -> Result<ApiKey, Error> {
    let mut change = context.begin().await?;
    let now = change.now();
    if request.body.r#type.given() == Some(&ApiKeyType::Admin) {
        change.require::<ManageAdminKeys>()?;
    }
    let id = ApiKeyId::new(&context.clock, &context.entropy);
    let call = StoredRequest::create(ResourceType::ApiKey, &request);
    let (mut problems, mut body) = (request.problems, request.body);
    check::check(change.rows(), &mut problems, now, None, &mut body).await?;
    // An operator on the machine can prepare the key of a person who has not signed in yet.
    if let Some(issuer) = &context.people_issuer
        && !change.is_by_system()
    {
        check::refuse_unknown_person(change.rows(), &mut problems, issuer, &body).await?;
    }
    // Before approvals are required, one person often creates the keys of all.
    let known_to = if context.approvals.require(ChangeKind::ApiKeyAdmin) {
        if change.is_by_unknown_person() {
            check::refuse_person(&mut problems, &body);
        }
        change.people()
    } else {
        Vec::new()
    };
    let api_key = body.create(id, now, &mut problems);
    let mut api_key = checked(problems, api_key)?;
    api_key.hint = Hint::of(api_key.r#type, &credential.last_four);
    api_key.digest = credential.at_rest();
    api_key.known_to = known_to;
    api_key.made_by = change.makers();
    change.propose_as(call.with_credential(credential.clone()));
    change.insert(&api_key).await?;
    let mut events = Vec::new();
    if let Some(person) = &api_key.person {
        let id = PersonId::new(&context.clock, &context.entropy);
        let new = people::record_named(&mut change, id, person).await?;
        events.extend(new.iter().map(Event::created));
    }
    events.push(Event::created(&api_key));
    change.commit_all(events).await?;
    Ok(api_key)
}

/// Changes an API key.
///
/// # Errors
/// There is none, it is revoked or not in the expected state, the request is wrong, or the database
/// refuses it.
pub async fn update(
    context: &Authorized<ManageApiKeys>,
    id: ApiKeyId,
    expected: &Expected,
    mut request: ResourceRequest<ApiKeyRequest>,
) -> Result<ApiKey, Error> {
    let mut change = context.begin().await?;
    let before = lock(&mut change, id, expected).await?;
    if before.status == ApiKeyStatus::Revoked {
        return Err(Error::Conflict("the API key is revoked".to_owned()));
    }
    change.propose_as(StoredRequest::update(ResourceType::ApiKey, &request));
    request.check_read_only(&before);
    let (mut problems, mut body) = (request.problems, request.body);
    let now = change.now();
    check::check(change.rows(), &mut problems, now, Some(&before), &mut body).await?;
    let after = body.update(&before, &mut problems).with_status_at(now);
    let after = checked(problems, Some(after))?;
    keep_an_owner(&mut change, &before, &after).await?;
    change.save(Action::Update, before, after).await
}

/// Revokes an API key permanently. Revoking it again has no effect.
pub async fn revoke(
    context: &Authorized<ManageApiKeys>,
    id: ApiKeyId,
    expected: &Expected,
) -> Result<(), Error> {
    let mut change = context.begin().await?;
    let before = lock(&mut change, id, expected).await?;
    if before.status == ApiKeyStatus::Revoked {
        return Ok(());
    }
    let mut after = before.clone();
    after.status = ApiKeyStatus::Revoked;
    after.revoked_at = Some(change.now());
    keep_an_owner(&mut change, &before, &after).await?;
    change.save(Action::Revoke, before, after).await?;
    Ok(())
}

async fn lock(change: &mut Change<'_>, id: ApiKeyId, expected: &Expected) -> Result<ApiKey, Error> {
    let now = change.now();
    if store::kind(change.connection(), id).await? == Some(ApiKeyType::Admin) {
        change.require::<ManageAdminKeys>()?;
        lock_owners(change.connection()).await?;
    }
    let api_key =
        store::lock(change.rows(), now, id).await?.ok_or(Error::Missing(ResourceType::ApiKey))?;
    // Whoever writes to the database can show another type before the row is judged.
    if api_key.r#type == ApiKeyType::Admin {
        change.require::<ManageAdminKeys>()?;
    }
    if change.is_by(id) {
        change.lock_author().await?;
    }
    expected.check(api_key.revision)?;
    Ok(api_key)
}

/// Refuses to remove the last owner key, now or by an earlier expiry, unless owners can sign in without
/// one.
async fn keep_an_owner(
    change: &mut Change<'_>,
    before: &ApiKey,
    after: &ApiKey,
) -> Result<(), Error> {
    let ends_earlier = |end: Timestamp| before.expires_at.is_none_or(|former| end < former);
    let end = match after.expires_at {
        _ if !before.is_owner() => return Ok(()),
        _ if !after.is_owner() => change.now(),
        Some(end) if ends_earlier(end) => end,
        Some(_) | None => return Ok(()),
    };
    if change.owners_sign_in() {
        return Ok(());
    }
    let others = usable_owner_keys(change.rows(), end).await?;
    if others.iter().any(|other| other.id != before.id) {
        return Ok(());
    }
    let message =
        "the API key is the last active one with the role owner: give another key the role first";
    Err(Error::Conflict(message.to_owned()))
}

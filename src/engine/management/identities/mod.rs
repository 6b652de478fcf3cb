//! Workload identities: which tokens and certificates authenticate as which service.

mod judge;
mod store;

use sqlx::PgConnection;
use utoipa::IntoParams;

use super::changes::StoredRequest;
use super::check::checked;
use super::{
    Action, Authorized, Change, Error, Event, Expected, ManageIdentities, Page, PageRequest,
    Referrers, ResourceType, policies, services,
};
use crate::ids::{IdentityId, ServiceId};
use crate::resource::{ResourceRequest, Rows};
use formats::problem::Problems;

pub use crate::auth::{IdentityRequest, IdentityStatus, WorkloadIdentity};

/// The filter of a list of identities.
#[derive(Clone, Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct IdentityFilter {
    /// Identities with this name.
    pub name: Option<String>,
    /// Identities whose name contains this text, ignoring case.
    pub name_contains: Option<String>,
    /// Identities of this service.
    pub service_id: Option<ServiceId>,
    /// Identities with this status.
    pub status: Option<IdentityStatus>,
}

/// The identities that match `filter`, in the order in which they were created.
pub async fn list(
    context: &Authorized<ManageIdentities>,
    filter: &IdentityFilter,
    page: PageRequest,
) -> Result<Page<WorkloadIdentity>, Error> {
    let rows = store::list(context.pool.rows(), filter, page).await?;
    Ok(Page::of(page, rows, |identity| identity.id.uuid()))
}

/// One identity.
pub async fn read(
    context: &Authorized<ManageIdentities>,
    id: IdentityId,
) -> Result<WorkloadIdentity, Error> {
    store::read(context.pool.rows(), id).await?.ok_or(Error::Missing(ResourceType::Identity))
}

/// Creates an identity.
pub async fn create(
    context: &Authorized<ManageIdentities>,
    request: ResourceRequest<IdentityRequest>,
) -> Result<WorkloadIdentity, Error> {
    let mut change = context.begin().await?;
    change.propose_as(StoredRequest::create(ResourceType::Identity, &request));
    let id = IdentityId::new(&context.clock, &context.entropy);
    let (mut problems, mut body) = (request.problems, request.body);
    check(change.rows(), &mut problems, &mut body).await?;
    let identity = body.create(id, change.now(), &mut problems);
    let identity = checked(problems, identity)?;
    change.insert(&identity).await?;
    change.commit(Event::created(&identity)).await?;
    Ok(identity)
}

/// Changes an identity.
pub async fn update(
    context: &Authorized<ManageIdentities>,
    id: IdentityId,
    expected: &Expected,
    mut request: ResourceRequest<IdentityRequest>,
) -> Result<WorkloadIdentity, Error> {
    let mut change = context.begin().await?;
    change.propose_as(StoredRequest::update(ResourceType::Identity, &request));
    let before = lock(&mut change, id, expected).await?;
    request.check_read_only(&before);
    let (mut problems, mut body) = (request.problems, request.body);
    check(change.rows(), &mut problems, &mut body).await?;
    let after = body.update(&before, &mut problems);
    let after = checked(problems, Some(after))?;
    change.save(Action::Update, before, after).await
}

/// Deletes an identity. A tombstone stays.
pub async fn delete(
    context: &Authorized<ManageIdentities>,
    id: IdentityId,
    expected: &Expected,
) -> Result<(), Error> {
    let mut change = context.begin().await?;
    change.propose_as(StoredRequest::delete(ResourceType::Identity));
    let identity = lock(&mut change, id, expected).await?;
    change.delete(&identity, Referrers::default()).await
}

/// Checks that the service and the policy exist. They cannot be deleted until the transaction ends.
async fn check(
    mut rows: Rows<&mut PgConnection>,
    problems: &mut Problems,
    body: &mut IdentityRequest,
) -> sqlx::Result<()> {
    if let Some(id) = body.service_id.given() {
        let named = [("serviceId".to_owned(), *id)];
        services::check_living(rows.again().executor, problems, &named).await?;
    }
    policies::find_bound(rows, problems, &mut body.policy_number).await
}

async fn lock(
    change: &mut Change<'_>,
    id: IdentityId,
    expected: &Expected,
) -> Result<WorkloadIdentity, Error> {
    let identity =
        store::lock(change.rows(), id).await?.ok_or(Error::Missing(ResourceType::Identity))?;
    expected.check(identity.revision)?;
    Ok(identity)
}

//! Services: applications that call the API, or for which payloads are protected.

mod judge;
mod store;

use std::collections::HashMap;

use sqlx::PgConnection;
use utoipa::IntoParams;

use super::changes::StoredRequest;
use super::check::checked;
use super::{
    Action, Authorized, Change, Error, Event, Expected, ManagePolicies, Page, PageRequest,
    ReadResources, ResourceType,
};
use crate::ids::ServiceId;
use crate::resource::ResourceRequest;
use formats::problem::{Code, Problem, Problems};

pub use crate::auth::{Limit, RateLimitRequest, Service, ServiceRequest, ServiceStatus};

/// The filter of a list of services.
#[derive(Clone, Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct ServiceFilter {
    /// Services with this name.
    pub name: Option<String>,
    /// Services whose name contains this text, ignoring case.
    pub name_contains: Option<String>,
    /// Services with this status.
    pub status: Option<ServiceStatus>,
}

/// The services that match `filter`, in the order in which they were created.
pub async fn list(
    context: &Authorized<ReadResources>,
    filter: &ServiceFilter,
    page: PageRequest,
) -> Result<Page<Service>, Error> {
    let rows = store::list(context.pool.rows(), filter, page).await?;
    Ok(Page::of(page, rows, |service| service.id.uuid()))
}

pub async fn read(context: &Authorized<ReadResources>, id: ServiceId) -> Result<Service, Error> {
    store::read(context.pool.rows(), id).await?.ok_or(Error::Missing(ResourceType::Service))
}

/// The names of these services, deleted ones included, for resources that refer to them.
pub async fn names(
    context: &Authorized<ReadResources>,
    ids: &[ServiceId],
) -> Result<HashMap<ServiceId, String>, Error> {
    let named = store::names(&context.pool, ids).await?;
    Ok(named.into_iter().collect())
}

/// All services with their names, sorted, for a choice.
pub async fn choices(
    context: &Authorized<ReadResources>,
) -> Result<Vec<(ServiceId, String)>, Error> {
    Ok(store::choices(&context.pool).await?)
}

/// Notes each member that names a service that does not exist. The others cannot be deleted until the
/// transaction on `connection` ends.
pub(super) async fn check_living(
    connection: &mut PgConnection,
    problems: &mut Problems,
    named: &[(String, ServiceId)],
) -> sqlx::Result<()> {
    let ids: Vec<ServiceId> = named.iter().map(|(_, id)| *id).collect();
    let living = store::lock_living(connection, &ids).await?;
    for (field, _) in named.iter().filter(|(_, id)| !living.contains(id)) {
        let message = "must be the id of an existing service";
        problems.note(Problem::new(field.as_str(), Code::Unknown, message));
    }
    Ok(())
}

/// Whether a service is not deleted. It then cannot be deleted until the transaction on `connection` ends.
pub(super) async fn is_living(connection: &mut PgConnection, id: ServiceId) -> sqlx::Result<bool> {
    Ok(!store::lock_living(connection, &[id]).await?.is_empty())
}

/// Creates a service.
pub async fn create(
    context: &Authorized<ManagePolicies>,
    request: ResourceRequest<ServiceRequest>,
) -> Result<Service, Error> {
    let mut change = context.begin().await?;
    let id = ServiceId::new(&context.clock, &context.entropy);
    let mut problems = request.problems;
    let service = request.body.new_service(id, change.now(), &mut problems);
    let service = checked(problems, service)?;
    if !change.insert(&service).await? {
        return Err(name_taken(&service.name));
    }
    change.commit(Event::created(&service)).await?;
    Ok(service)
}

/// Changes a service.
///
/// # Errors
/// There is none or it is not in the expected state, the request is wrong or the name is taken, or
/// the database refuses it.
pub async fn update(
    context: &Authorized<ManagePolicies>,
    id: ServiceId,
    expected: &Expected,
    mut request: ResourceRequest<ServiceRequest>,
) -> Result<Service, Error> {
    let mut change = context.begin().await?;
    let before = lock(&mut change, id, expected).await?;
    change.propose_as(StoredRequest::update(ResourceType::Service, &request));
    request.check_read_only(&before);
    let mut problems = request.problems;
    let freezes = request.body.status.given() == Some(&ServiceStatus::Frozen);
    let after = request.body.changed_service(&before, &mut problems);
    let after = checked(problems, Some(after))?;
    if freezes && after == before {
        return change.change_nothing(before).await;
    }
    let name = after.name.clone();
    let saved = change.save(Action::Update, before, after).await;
    saved.map_err(|error| {
        if error.is_duplicate_of("services_name_is_unique") { name_taken(&name) } else { error }
    })
}

/// Deletes a service that nothing refers to. A tombstone stays.
///
/// # Errors
/// There is none or it is not in the expected state, another resource refers to it, or the database
/// refuses it.
pub async fn delete(
    context: &Authorized<ManagePolicies>,
    id: ServiceId,
    expected: &Expected,
) -> Result<(), Error> {
    let mut change = context.begin().await?;
    let service = lock(&mut change, id, expected).await?;
    let referrers = store::referrers(change.connection(), id).await?;
    change.delete(&service, referrers).await
}

async fn lock(
    change: &mut Change<'_>,
    id: ServiceId,
    expected: &Expected,
) -> Result<Service, Error> {
    let service =
        store::lock(change.rows(), id).await?.ok_or(Error::Missing(ResourceType::Service))?;
    expected.check(service.revision)?;
    Ok(service)
}

fn name_taken(name: &str) -> Error {
    Error::Conflict(format!("another service has the name {name:?}"))
}

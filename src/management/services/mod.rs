//! Services: the applications that call, and those that data is protected for.

mod service;
mod store;
mod terms;

use std::collections::HashMap;

use utoipa::IntoParams;

use super::{
    Action, Change, Context, Error, Event, Expected, Missing, Page, PageRequest, Proposal,
};
use crate::ids::ServiceId;

pub use self::service::Service;
pub(super) use self::store::lock_living;
pub use self::terms::{RateLimitDraft, ServiceDraft};

/// Which services a list shows.
#[derive(Clone, Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct Filter {
    /// Those whose name contains this, in whatever case.
    pub name: Option<String>,
}

/// The services that `filter` lets through, in the order in which they were made.
///
/// # Errors
/// When the database cannot be read.
pub async fn list(
    context: &Context,
    filter: &Filter,
    page: PageRequest,
) -> Result<Page<Service>, Error> {
    let rows = store::list(&context.pool, filter, page).await?;
    Ok(Page::of(page, rows, |service| service.id.uuid()))
}

/// One service.
///
/// # Errors
/// When there is none, or the database cannot be read.
pub async fn read(context: &Context, id: ServiceId) -> Result<Service, Error> {
    store::read(&context.pool, id)
        .await?
        .ok_or(Error::Missing(Missing::Service))
}

/// The names of these services, deleted ones included: for what refers to them.
///
/// # Errors
/// When the database cannot be read.
pub async fn names(
    context: &Context,
    ids: &[ServiceId],
) -> Result<HashMap<ServiceId, String>, Error> {
    let named = store::names(&context.pool, ids).await?;
    Ok(named.into_iter().collect())
}

/// Every living service by its name, for choosing among them.
///
/// # Errors
/// When the database cannot be read.
pub async fn choices(context: &Context) -> Result<Vec<(ServiceId, String)>, Error> {
    Ok(store::choices(&context.pool).await?)
}

/// Makes a service.
///
/// # Errors
/// When the proposal is wrong, the name is taken, or the database does not take it.
pub async fn create(context: &Context, proposal: Proposal<ServiceDraft>) -> Result<Service, Error> {
    let terms = terms::of_new(proposal)?;
    let mut change = context.begin().await?;
    let id = ServiceId::new(&context.clock, &context.entropy);
    let service = Service::new(id, change.now(), terms);
    store::insert(change.connection(), &service)
        .await
        .map_err(|error| or_name_taken(error, &service))?;
    change.commit(Event::created(&service)).await?;
    Ok(service)
}

/// Changes a service.
///
/// # Errors
/// When there is none or it is not as expected, when the proposal is wrong or the name is taken, or
/// when the database does not take it.
pub async fn update(
    context: &Context,
    id: ServiceId,
    expected: &Expected,
    proposal: Proposal<ServiceDraft>,
) -> Result<Service, Error> {
    let mut change = context.begin().await?;
    let before = lock(&mut change, id, expected).await?;
    let terms = terms::of_changed(&before, proposal)?;
    if terms == before.terms() {
        return Ok(before);
    }
    let after = before.with(change.now(), terms);
    store::update(change.connection(), &after)
        .await
        .map_err(|error| or_name_taken(error, &after))?;
    change
        .commit(Event::changed(Action::Update, &before, &after))
        .await?;
    Ok(after)
}

/// Deletes a service that nothing refers to. A tombstone stays.
///
/// # Errors
/// When there is none or it is not as expected, when something living refers to it, or when the
/// database does not take it.
pub async fn delete(context: &Context, id: ServiceId, expected: &Expected) -> Result<(), Error> {
    let mut change = context.begin().await?;
    let service = lock(&mut change, id, expected).await?;
    let referrers = store::referrers(change.connection(), id).await?;
    if !referrers.is_empty() {
        return Err(Error::referred_to("service", &referrers));
    }
    let now = change.now();
    store::bury(change.connection(), id, now).await?;
    change.commit(Event::deleted(&service)).await
}

async fn lock(
    change: &mut Change<'_>,
    id: ServiceId,
    expected: &Expected,
) -> Result<Service, Error> {
    let service = store::lock(change.connection(), id)
        .await?
        .ok_or(Error::Missing(Missing::Service))?;
    expected.check(service.revision)?;
    Ok(service)
}

fn or_name_taken(error: sqlx::Error, service: &Service) -> Error {
    if Error::is_duplicate_of(&error, "services_name_is_unique") {
        Error::Conflict(format!("there is another service named {:?}", service.name))
    } else {
        error.into()
    }
}

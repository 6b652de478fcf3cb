//! Policies: how payloads are protected for a destination service, and for which callers.

mod bound;
mod judge;
mod restore;
mod store;

use sqlx::PgConnection;
use utoipa::IntoParams;

use super::changes::StoredRequest;
use super::check::checked;
use super::{
    Action, Authorized, Change, Error, Event, Expected, ManagePolicies, Page, PageRequest,
    ReadResources, ResourceType, services,
};
use crate::ids::{PolicyId, ServiceId};
use crate::policy::{AllowedServices, PolicyNumber, PolicyRequest, PolicyStatus};
use crate::resource::{Member, ResourceRequest};
use formats::envelope::Alg;
use formats::problem::{Code, Problem, Problems};

pub(super) use self::bound::find_bound;
pub use self::restore::{read_deleted, restore};
pub(super) use self::store::opened_with;
pub use crate::policy::{Policy, PolicyName};

/// The filter of a list of policies.
#[derive(Clone, Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct PolicyFilter {
    /// Policies with this name.
    pub name: Option<String>,
    /// Policies whose name contains this text, ignoring case.
    pub name_contains: Option<String>,
    /// Policies whose number or name contains this text, ignoring case.
    #[param(ignore)]
    pub text: Option<String>,
    /// Policies with this status.
    pub status: Option<PolicyStatus>,
    /// Policies that protect payloads for this service.
    pub destination_service_id: Option<ServiceId>,
    /// `true` for deleted policies, which go on deciding about their envelopes and can be restored. By
    /// default, policies that are not deleted.
    #[param(required = false)]
    pub deleted: bool,
}

/// The policies that match `filter`, in the order in which they were created.
pub async fn list(
    context: &Authorized<ReadResources>,
    filter: &PolicyFilter,
    page: PageRequest,
) -> Result<Page<Policy>, Error> {
    let rows = store::list(context.pool.rows(), filter, page).await?;
    Ok(Page::of(page, rows, |policy| policy.id.uuid()))
}

pub async fn read(context: &Authorized<ReadResources>, name: &PolicyName) -> Result<Policy, Error> {
    store::read(context.pool.rows(), name).await?.ok_or(Error::Missing(ResourceType::Policy))
}

/// The numbers and names of all policies, sorted, for a choice.
pub async fn choices(context: &Authorized<ReadResources>) -> Result<Vec<(String, String)>, Error> {
    Ok(store::choices(&context.pool).await?)
}

/// Creates a policy.
pub async fn create(
    context: &Authorized<ManagePolicies>,
    request: ResourceRequest<PolicyRequest>,
) -> Result<Policy, Error> {
    let mut change = context.begin().await?;
    change.propose_as(StoredRequest::create(ResourceType::Policy, &request));
    let id = PolicyId::new(&context.clock, &context.entropy);
    let (mut problems, mut body) = (request.problems, request.body);
    check_number(&mut problems, None, &body);
    check_alg(context.post_quantum, &mut problems, None, &body);
    check_services(change.connection(), &mut problems, None, &mut body).await?;
    infer_alg(change.connection(), context.post_quantum, &mut body).await?;
    let is_numbered = !body.policy_number.is_absent();
    loop {
        if !is_numbered {
            let number = store::next_number(change.connection()).await?;
            body.policy_number = Member::Given(number);
        }
        let mut found = problems.clone();
        let policy = body.clone().create(id, change.now(), &mut found);
        if let Some(policy) = &policy {
            policy.check_binding(&mut found);
        }
        let policy = checked(found, policy)?;
        if change.insert(&policy).await? {
            change.commit(Event::created(&policy)).await?;
            return Ok(policy);
        }
        // Another policy may have been given the next number.
        if is_numbered {
            return Err(number_taken(&policy.policy_number));
        }
    }
}

/// Changes a policy.
pub async fn update(
    context: &Authorized<ManagePolicies>,
    name: &PolicyName,
    expected: &Expected,
    mut request: ResourceRequest<PolicyRequest>,
) -> Result<Policy, Error> {
    let mut change = context.begin().await?;
    let before = lock(&mut change, name, expected).await?;
    change.propose_as(StoredRequest::update(ResourceType::Policy, &request));
    request.check_read_only(&before);
    let (mut problems, mut body) = (request.problems, request.body);
    check_number(&mut problems, Some(&before), &body);
    check_alg(context.post_quantum, &mut problems, Some(&before), &body);
    check_services(change.connection(), &mut problems, Some(&before), &mut body).await?;
    let after = body.update(&before, &mut problems);
    after.check_binding(&mut problems);
    let after = checked(problems, Some(after))?;
    let number = after.policy_number.clone();
    let saved = change.save(Action::Update, before, after).await;
    saved.map_err(|error| if is_taken(&error) { number_taken(&number) } else { error })
}

/// Deletes a policy that nothing refers to. A tombstone stays, which goes on deciding about its envelopes.
pub async fn delete(
    context: &Authorized<ManagePolicies>,
    name: &PolicyName,
    expected: &Expected,
) -> Result<(), Error> {
    let mut change = context.begin().await?;
    let policy = lock(&mut change, name, expected).await?;
    let referrers = store::referrers(change.connection(), policy.id).await?;
    change.delete(&policy, referrers).await
}

async fn lock(
    change: &mut Change<'_>,
    name: &PolicyName,
    expected: &Expected,
) -> Result<Policy, Error> {
    let policy =
        store::lock(change.rows(), name).await?.ok_or(Error::Missing(ResourceType::Policy))?;
    expected.check(policy.revision)?;
    Ok(policy)
}

/// Checks that a policy does not newly get a number that paths and requests can take for something else.
fn check_number(problems: &mut Problems, before: Option<&Policy>, body: &PolicyRequest) {
    let Some(number) = body.policy_number.given() else {
        return;
    };
    let is_new = before.is_none_or(|before| before.policy_number != *number);
    if is_new && !number.is_distinct() {
        let message =
            "must not begin with pol_, as the IDs of policies do, or consist of dots only";
        problems.note(Problem::new("policyNumber", Code::Format, message));
    }
}

/// Checks that a policy newly gets an algorithm of HPKE only if the settings allow it.
fn check_alg(
    post_quantum: bool,
    problems: &mut Problems,
    before: Option<&Policy>,
    body: &PolicyRequest,
) {
    let Some(alg) = body.alg.given().copied() else {
        return;
    };
    let is_new = before.is_none_or(|before| before.alg != alg);
    if is_new && !post_quantum && alg.encapsulation().is_some() {
        let message = "must be RSA-OAEP or ECDH-ES: the setting envelopes.post_quantum is off";
        problems.note(Problem::new("alg", Code::Unsupported, message));
    }
}

/// Gives a new policy without an algorithm the one of hybrid keys, if its destination has no other active
/// envelope keys.
async fn infer_alg(
    connection: &mut PgConnection,
    post_quantum: bool,
    body: &mut PolicyRequest,
) -> sqlx::Result<()> {
    let (true, true, Some(destination)) =
        (post_quantum, body.alg.is_absent(), body.destination_service_id.given())
    else {
        return Ok(());
    };
    let families = store::families_of(connection, *destination).await?;
    if families == [Alg::Hpke8Ke.family()] {
        body.alg = Member::Given(Alg::Hpke8Ke);
    }
    Ok(())
}

/// Checks that the services exist to which a policy newly refers. They cannot be deleted until the
/// transaction ends.
async fn check_services(
    connection: &mut PgConnection,
    problems: &mut Problems,
    before: Option<&Policy>,
    body: &mut PolicyRequest,
) -> sqlx::Result<()> {
    let mut named = Vec::new();
    if let Member::Given(id) = body.destination_service_id
        && before.is_none_or(|before| before.destination_service_id != id)
    {
        named.push(("destinationServiceId".to_owned(), id));
    }
    if let Member::Given(AllowedServices::Only(allowed)) = &mut body.allowed_service_ids {
        let before = before.map(|before| before.allowed_service_ids.listed());
        let allowed_before = before.unwrap_or_default();
        let added = allowed.iter().enumerate();
        let added = added.filter(|(_, id)| !allowed_before.contains(id));
        named.extend(added.map(|(place, id)| (format!("allowedServiceIds[{place}]"), *id)));
        allowed.sort_unstable();
        allowed.dedup();
    }
    services::check_living(connection, problems, &named).await
}

/// Whether another policy has the number.
fn is_taken(error: &Error) -> bool {
    error.is_duplicate_of("policies_number_is_unique")
}

fn number_taken(number: &PolicyNumber) -> Error {
    Error::Conflict(format!("another policy has the number {number}"))
}

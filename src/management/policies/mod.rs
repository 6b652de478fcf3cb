//! Policies: how payloads are protected for a destination, and for whom.

mod policy;
mod store;
mod terms;

use std::str::FromStr;

use utoipa::IntoParams;

use super::{
    Action, Change, Context, Error, Event, Expected, Missing, Page, PageRequest, Proposal,
};
use crate::ids::{PolicyId, ServiceId};
use crate::policy::{NotANumber, PolicyNumber, Status};

pub(super) use self::store::lock_living;
pub use self::terms::PolicyDraft;
pub use crate::policy::Policy;

/// Which policies a list shows.
#[derive(Clone, Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct Filter {
    /// Those whose number or name contains this, in whatever case.
    #[param(ignore)]
    pub text: Option<String>,
    /// Those of this status.
    pub status: Option<Status>,
    /// Those that protect for this service.
    pub destination_service_id: Option<ServiceId>,
}

/// The two ways of naming a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// By its identifier.
    Id(PolicyId),
    /// By its number.
    Number(PolicyNumber),
}

impl FromStr for Name {
    type Err = NotANumber;

    fn from_str(text: &str) -> Result<Self, NotANumber> {
        text.parse()
            .map(Self::Id)
            .or_else(|_| text.parse().map(Self::Number))
    }
}

/// The policies that `filter` lets through, in the order in which they were made.
///
/// # Errors
/// When the database cannot be read.
pub async fn list(
    context: &Context,
    filter: &Filter,
    page: PageRequest,
) -> Result<Page<Policy>, Error> {
    let rows = store::list(&context.pool, filter, page).await?;
    Ok(Page::of(page, rows, |policy| policy.id.uuid()))
}

/// One policy.
///
/// # Errors
/// When there is none, or the database cannot be read.
pub async fn read(context: &Context, name: &Name) -> Result<Policy, Error> {
    store::read(&context.pool, name)
        .await?
        .ok_or(Error::Missing(Missing::Policy))
}

/// Every living policy by its number, with its name, for choosing among them.
///
/// # Errors
/// When the database cannot be read.
pub async fn choices(context: &Context) -> Result<Vec<(String, String)>, Error> {
    Ok(store::choices(&context.pool).await?)
}

/// Makes a policy.
///
/// # Errors
/// When the proposal is wrong, the number is taken, or the database does not take it.
pub async fn create(context: &Context, proposal: Proposal<PolicyDraft>) -> Result<Policy, Error> {
    let mut change = context.begin().await?;
    let terms = terms::decide(change.connection(), None, proposal).await?;
    let id = PolicyId::new(&context.clock, &context.entropy);
    let now = change.now();
    let policy = match terms.number.clone() {
        None => insert_with_next_number(&mut change, id, terms).await?,
        Some(number) => {
            let policy = Policy::new(id, number, now, terms);
            if !store::insert(change.connection(), &policy).await? {
                return Err(number_taken(&policy));
            }
            policy
        }
    };
    change.commit(Event::created(&policy)).await?;
    Ok(policy)
}

/// Changes a policy.
///
/// # Errors
/// When there is none or it is not as expected, when the proposal is wrong or the number is taken,
/// or when the database does not take it.
pub async fn update(
    context: &Context,
    name: &Name,
    expected: &Expected,
    proposal: Proposal<PolicyDraft>,
) -> Result<Policy, Error> {
    let mut change = context.begin().await?;
    let before = lock(&mut change, name, expected).await?;
    let terms = terms::decide(change.connection(), Some(&before), proposal).await?;
    if terms == before.terms() {
        return Ok(before);
    }
    let after = before.with(change.now(), terms);
    store::update(change.connection(), &after)
        .await
        .map_err(|error| {
            if Error::is_duplicate_of(&error, "policies_number_is_unique") {
                number_taken(&after)
            } else {
                error.into()
            }
        })?;
    change
        .commit(Event::changed(Action::Update, &before, &after))
        .await?;
    Ok(after)
}

/// Deletes a policy that nothing refers to. A tombstone stays.
///
/// # Errors
/// When there is none or it is not as expected, when an API key is bound to it, or when the database
/// does not take it.
pub async fn delete(context: &Context, name: &Name, expected: &Expected) -> Result<(), Error> {
    let mut change = context.begin().await?;
    let policy = lock(&mut change, name, expected).await?;
    let referrers = store::referrers(change.connection(), policy.id).await?;
    if !referrers.is_empty() {
        return Err(Error::referred_to("policy", &referrers));
    }
    let now = change.now();
    store::bury(change.connection(), policy.id, now).await?;
    change.commit(Event::deleted(&policy)).await
}

async fn lock(change: &mut Change<'_>, name: &Name, expected: &Expected) -> Result<Policy, Error> {
    let policy = store::lock(change.connection(), name)
        .await?
        .ok_or(Error::Missing(Missing::Policy))?;
    expected.check(policy.revision)?;
    Ok(policy)
}

/// Numbers given by hand may lie ahead of the sequence: those are passed over.
async fn insert_with_next_number(
    change: &mut Change<'_>,
    id: PolicyId,
    terms: terms::Terms,
) -> Result<Policy, Error> {
    let now = change.now();
    loop {
        let number = store::next_number(change.connection()).await?;
        let policy = Policy::new(id, number, now, terms.clone());
        if store::insert(change.connection(), &policy).await? {
            return Ok(policy);
        }
    }
}

fn number_taken(policy: &Policy) -> Error {
    Error::Conflict(format!(
        "there is another policy numbered {}",
        policy.policy_number
    ))
}

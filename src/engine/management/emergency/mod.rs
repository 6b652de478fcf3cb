//! The switch that freezes everything.

mod judge;
mod store;

use super::changes::{HIDDEN_KEY, StoredRequest};
use super::check::checked;
use super::taking_away::TakingAway;
use super::{
    Action, Authorized, Change, Error, Event, Expected, FreezeEverything, ReadResources,
    ResourceType,
};
use crate::auth::ServiceStatus;
use crate::catalog::Topic;
use crate::request;
use crate::resource::{self, Reason, ResourceRequest};
use crate::revision::Revision;
use crate::seals::What;

pub use crate::auth::Emergency;

request! {
    /// A request that freezes everything.
    pub struct FreezeRequest: Freeze {
        /// Why.
        "Reason" reason: Reason;
    }
}

request! {
    /// A request that ends the freeze of everything.
    pub struct UnfreezeRequest: Unfreeze {
        /// Why.
        "Reason" reason: Option<Reason> = None;
    }
}

/// The switch.
pub async fn read(context: &Authorized<ReadResources>) -> Result<Emergency, Error> {
    let mut connection = context.pool.acquire().await?;
    Ok(Emergency::current(context.pool.rows_on(&mut connection)).await?)
}

/// Freezes everything: all operations of all services are refused. Changes nothing while it is frozen. If another
/// session of the database holds a lock that this needs, or ends this session, an entry of `revisions` freezes
/// everything, without the reason.
///
/// # Errors
/// The request is wrong, or the database refuses it.
pub async fn freeze(
    context: &Authorized<FreezeEverything>,
    request: ResourceRequest<FreezeRequest>,
) -> Result<Emergency, Error> {
    let mut problems = request.problems;
    let reason = request.body.reason.or_default("reason", None, &mut problems);
    let reason = checked(problems, reason)?;
    match set(context, reason).await {
        Err(Error::Database(error)) => {
            tracing::warn!(%error, "the switch cannot be written: an entry freezes everything");
            let everything = TakingAway::Everything;
            let taken = everything.carry_out(context, &context.actor).await?;
            context.catalog.changed(Topic::Emergency);
            Ok(Emergency::by_entry(taken.entry()))
        }
        set => set,
    }
}

async fn set(context: &Authorized<FreezeEverything>, reason: Reason) -> Result<Emergency, Error> {
    let mut change = context.begin_impatiently().await?;
    let (before, is_lasting) = lock(&mut change).await?;
    if before.is_frozen() && is_lasting {
        return change.change_nothing(before).await;
    }
    let after = Emergency {
        status: ServiceStatus::Frozen,
        reason: Some(reason),
        frozen_at: Some(change.now()),
        // Not every reader may see the name of an admin key.
        frozen_by: Some(change.person().unwrap_or(HIDDEN_KEY).to_owned()),
        revision: before.revision.next(),
        ..before.clone()
    };
    save(change, Action::Freeze, &before, after).await
}

/// Ends the freeze of everything. Services that are frozen by themselves stay it. Changes nothing while nothing
/// is frozen.
///
/// # Errors
/// The switch is not in the expected state, the request is wrong, or the database refuses it.
pub async fn unfreeze(
    context: &Authorized<FreezeEverything>,
    expected: &Expected,
    request: ResourceRequest<UnfreezeRequest>,
) -> Result<Emergency, Error> {
    let mut change = context.begin().await?;
    change.propose_as(StoredRequest::update(ResourceType::Emergency, &request));
    let mut problems = request.problems;
    let reason = request.body.reason.or_default("reason", Some(None), &mut problems);
    let reason = checked(problems, reason)?;
    let (before, _) = lock(&mut change).await?;
    expected.check(before.revision)?;
    if !before.is_frozen() {
        return change.change_nothing(before).await;
    }
    let after = Emergency {
        status: ServiceStatus::Active,
        reason,
        frozen_at: None,
        frozen_by: None,
        revision: before.revision.next(),
        ..before.clone()
    };
    save(change, Action::Unfreeze, &before, after).await
}

/// The switch, and whether its state lasts.
async fn lock(change: &mut Change<'_>) -> Result<(Emergency, bool), Error> {
    store::lock(change.connection()).await?;
    Ok(Emergency::current_and_lasting(change.rows()).await?)
}

async fn save(
    mut change: Change<'_>,
    action: Action,
    before: &Emergency,
    after: Emergency,
) -> Result<Emergency, Error> {
    let what = if after.revision == Revision::FIRST { What::Made } else { What::Changed };
    resource::put(change.rows(), &after, what).await?;
    change.commit(Event::changed(action, before, &after)).await?;
    Ok(after)
}

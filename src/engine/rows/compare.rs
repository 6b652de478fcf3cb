//! The comparison of the living rows with the last sealed events of their resources.

use std::collections::HashMap;

use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::kinds::each_attested;
use super::store::living_after;
use crate::db::Pool;
use crate::ledger::{self, EventProof};
use crate::management::events::Recorded;
use crate::management::{Action, Attested};
use crate::resource::Rows;
use crate::seals::{Deviation, Difference, RowName};

/// The number of rows in one query.
const PAGE: i64 = 1_000;

/// The rows that are not as their last sealed events say. None before `sealward audit init`. A row with a
/// later event, which the log does not have yet, is left out.
///
/// It needs no row key: a row with a valid seal can deviate, and a row without one need not.
pub async fn compare(pool: &Pool) -> sqlx::Result<Option<Vec<Deviation>>> {
    if !ledger::is_initialized(pool).await? {
        return Ok(None);
    }
    let mut found = Vec::new();
    each_attested!(R => compare_all::<R>(pool, &mut found).await?);
    Ok(Some(found))
}

/// The rows of one kind that are not as their last sealed events say, in a snapshot.
pub(crate) async fn compare_in<R: Attested>(
    mut snapshot: Rows<&mut PgConnection>,
) -> sqlx::Result<Vec<Deviation>> {
    let mut found = Vec::new();
    let mut after = Some(Uuid::nil());
    while let Some(from) = after {
        after = compare_next::<R>(snapshot.again(), from, &mut found).await?;
    }
    Ok(found)
}

async fn compare_all<R: Attested>(pool: &Pool, found: &mut Vec<Deviation>) -> sqlx::Result<()> {
    let mut after = Some(Uuid::nil());
    while let Some(from) = after {
        // A change and its event are one transaction, so a snapshot has both or none.
        let mut snapshot = pool.snapshot().await?;
        after = compare_next::<R>(pool.rows_on(&mut snapshot), from, found).await?;
        snapshot.rollback().await?;
    }
    Ok(())
}

/// Compares the rows after an identifier. Returns the last one; none at the end.
async fn compare_next<R: Attested>(
    mut snapshot: Rows<&mut PgConnection>,
    after: Uuid,
    found: &mut Vec<Deviation>,
) -> sqlx::Result<Option<Uuid>> {
    let rows = living_after::<R>(after, PAGE).fetch_unverified(&mut *snapshot.executor).await?;
    let is_last = i64::try_from(rows.len()).is_ok_and(|count| count < PAGE);
    let end = rows.last().map(|(id, _)| *id).filter(|_| !is_last);
    let attestations = attestations::<R>(snapshot.again(), (after, end)).await?;
    compare_page(snapshot, rows, attestations, found).await?;
    Ok(end)
}

/// What sealed events say about one resource.
#[derive(Default)]
struct Attestation {
    /// The last event with the whole state.
    state: Option<(Recorded, EventProof)>,
    /// The events after it that say what the resource lost.
    losses: Vec<Recorded>,
    /// Whether a later event with the whole state has no position in the log yet.
    is_waiting: bool,
    /// Whether a later event that says what the resource lost has none.
    is_losing: bool,
}

/// What events say about the resources in a range of identifiers.
async fn attestations<R: Attested>(
    mut rows: Rows<&mut PgConnection>,
    range: (Uuid, Option<Uuid>),
) -> sqlx::Result<HashMap<Uuid, Attestation>> {
    let last = ledger::last_attesting(rows.again(), R::TYPE, range).await?;
    let ids: Vec<Uuid> = last.iter().filter(|it| it.is_sealed).map(|it| it.id).collect();
    let proven = ledger::proven_events(rows, &ids).await?.into_iter();
    let mut proven: HashMap<Uuid, _> = proven.map(|proven| (proven.0.id.uuid(), proven)).collect();
    let mut found = HashMap::<Uuid, Attestation>::new();
    for known in last {
        let attestation = found.entry(known.resource_id).or_default();
        match proven.remove(&known.id) {
            None if known.is_partial => attestation.is_losing = true,
            None => attestation.is_waiting = true,
            Some((event, EventProof::Sealed)) if known.is_partial => attestation.losses.push(event),
            Some(_) if known.is_partial => {}
            proven => attestation.state = proven,
        }
    }
    Ok(found)
}

impl Attestation {
    /// The state of the resource; none of one that is gone.
    fn state<R: Attested>(&self) -> Option<Value> {
        let mut state = match &self.state {
            Some((event, _)) => attested(event).cloned(),
            None => R::unrecorded(),
        };
        for loss in &self.losses {
            if let (Some(state), Some(lost)) = (state.as_mut(), attested(loss))
                && !R::has_lost(state)
                && let Some(members) = state.as_object_mut()
            {
                members.extend(R::lost(lost));
            }
        }
        state
    }

    /// Whether the event with the state is not the one that was sealed.
    fn is_changed(&self) -> bool {
        self.state.as_ref().is_some_and(|(_, proof)| *proof == EventProof::Changed)
    }
}

async fn compare_page<R: Attested>(
    mut database: Rows<&mut PgConnection>,
    rows: Vec<(Uuid, Option<R>)>,
    mut attestations: HashMap<Uuid, Attestation>,
    found: &mut Vec<Deviation>,
) -> sqlx::Result<()> {
    let named = |id| RowName { table: R::TABLE, id };
    for (id, resource) in rows {
        let attestation = attestations.remove(&id).unwrap_or_default();
        if attestation.is_waiting {
            continue;
        }
        let state = resource.as_ref().and_then(Attested::state);
        let attested = attestation.state::<R>();
        if attestation.state.is_none() && attested.is_none() {
            found.push(deviation(named(id), Difference::Added));
            continue;
        }
        let members = differing::<R>(state.as_ref(), attested.as_ref());
        let is_same = state.is_some() && attested.is_some() && members.is_empty();
        if attestation.is_losing && state.as_ref().is_some_and(R::has_lost) && R::can_lose(&members)
        {
            continue;
        }
        let difference = if attestation.is_changed() {
            Difference::EventChanged
        } else if is_same {
            continue;
        } else if was::<R>(database.again(), id, state.as_ref()).await? {
            Difference::RolledBack
        } else {
            Difference::Changed
        };
        found.push(Deviation { members, ..deviation(named(id), difference) });
    }
    for (id, attestation) in attestations {
        let lives = attestation.state.as_ref().is_some_and(|(event, _)| attested(event).is_some());
        let difference = match (attestation.is_changed(), lives && !attestation.is_waiting) {
            (true, _) => Difference::EventChanged,
            (false, true) => Difference::Removed,
            (false, false) => continue,
        };
        found.push(deviation(named(id), difference));
    }
    Ok(())
}

fn deviation(row: RowName, difference: Difference) -> Deviation {
    Deviation { row, difference, members: Vec::new() }
}

/// The state of the resource after an event; none of a resource that is gone.
fn attested(event: &Recorded) -> Option<&Value> {
    let after = event.after.as_ref().filter(|after| !after.is_null());
    match event.action() {
        Some(Action::RowSealed) => after?.get("state").filter(|state| !state.is_null()),
        _ => after,
    }
}

/// The members that both states have and that differ. A later release adds members.
fn differing<R: Attested>(state: Option<&Value>, attested: Option<&Value>) -> Vec<String> {
    let members = attested.and_then(Value::as_object).into_iter().flatten();
    let differing = members.filter(|(name, value)| {
        let own = state.and_then(|state| state.get(name));
        !R::UNATTESTED.contains(&name.as_str()) && own.is_some_and(|own| own != *value)
    });
    differing.map(|(name, _)| name.clone()).collect()
}

/// Whether an earlier sealed event of the resource has this state.
async fn was<R: Attested>(
    rows: Rows<&mut PgConnection>,
    id: Uuid,
    state: Option<&Value>,
) -> sqlx::Result<bool> {
    let events = ledger::sealed_states(rows, R::TYPE, id).await?;
    let mut states = events.iter().filter_map(attested);
    Ok(state.is_some() && states.any(|former| differing::<R>(state, Some(former)).is_empty()))
}

//! The comparison of the living rows with the last sealed events of their resources.

use std::collections::HashMap;

use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::attested::{Attested, each_attested};
use super::store;
use crate::db::Pool;
use crate::ledger::{self, EventProof};
use crate::management::Action;
use crate::management::events::Recorded;
use crate::resource::select;
use crate::seals::{Deviation, Difference, RowName};

/// The number of rows in one query.
const PAGE: i64 = 1_000;

/// The rows that are not as their last sealed events say. None before `sealward audit init`. A row with a
/// later event, which is not sealed yet, is left out.
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

async fn compare_all<R: Attested>(pool: &Pool, found: &mut Vec<Deviation>) -> sqlx::Result<()> {
    let mut after = Uuid::nil();
    loop {
        // A change and its event are one transaction, so a snapshot has both or none.
        let mut snapshot = pool.begin().await?;
        store::take_snapshot(&mut snapshot).await?;
        let rows = select::<R>(R::LIVING).bind(after).bind(PAGE);
        let rows = rows.fetch_unverified(&mut *snapshot).await?;
        let is_last = i64::try_from(rows.len()).is_ok_and(|count| count < PAGE);
        let end = rows.last().map(|(id, _)| *id).filter(|_| !is_last);
        let events = last_events::<R>(&mut snapshot, (after, end)).await?;
        compare_page(&mut snapshot, rows, events, found).await?;
        snapshot.rollback().await?;
        match end {
            Some(end) => after = end,
            None => return Ok(()),
        }
    }
}

/// The last events of the resources in a range of identifiers.
async fn last_events<R: Attested>(
    connection: &mut PgConnection,
    (after, end): (Uuid, Option<Uuid>),
) -> sqlx::Result<HashMap<Uuid, (Recorded, EventProof)>> {
    let last = store::last_events(connection, R::TYPE, after, end).await?;
    let ids: Vec<Uuid> = last.iter().map(|(_, event)| *event).collect();
    let mut events = HashMap::new();
    for (event, proof) in ledger::proven_events(connection, &ids).await? {
        events.insert(event.id.uuid(), (event, proof));
    }
    let named = last.into_iter().filter_map(|(id, event)| Some((id, events.remove(&event)?)));
    Ok(named.collect())
}

async fn compare_page<R: Attested>(
    connection: &mut PgConnection,
    rows: Vec<(Uuid, Option<R>)>,
    mut events: HashMap<Uuid, (Recorded, EventProof)>,
    found: &mut Vec<Deviation>,
) -> sqlx::Result<()> {
    let named = |id| RowName { table: R::TABLE, id };
    for (id, resource) in rows {
        let state = resource.as_ref().and_then(Attested::state);
        let Some((event, proof)) = events.remove(&id) else {
            found.push(deviation(named(id), Difference::Added));
            continue;
        };
        let attested = attested(&event);
        let members = differing::<R>(state.as_ref(), attested);
        let is_same = state.is_some() && attested.is_some() && members.is_empty();
        let difference = match proof {
            EventProof::Waiting => continue,
            EventProof::Changed => Difference::EventChanged,
            EventProof::Sealed if is_same => continue,
            EventProof::Sealed if was::<R>(connection, id, state.as_ref()).await? => {
                Difference::RolledBack
            }
            EventProof::Sealed => Difference::Changed,
        };
        found.push(Deviation { members, ..deviation(named(id), difference) });
    }
    for (id, (event, proof)) in events {
        let difference = match proof {
            EventProof::Changed => Difference::EventChanged,
            EventProof::Sealed if attested(&event).is_some() => Difference::Removed,
            EventProof::Sealed | EventProof::Waiting => continue,
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
    match event.action {
        Action::RowSealed => after?.get("state").filter(|state| !state.is_null()),
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

/// Whether a sealed event of the resource, but for the last one, has this state.
async fn was<R: Attested>(
    connection: &mut PgConnection,
    id: Uuid,
    state: Option<&Value>,
) -> sqlx::Result<bool> {
    let events = store::events_of(connection, R::TYPE, id).await?;
    let events = ledger::proven_events(connection, &events).await?;
    let sealed = events.iter().filter(|(_, proof)| *proof == EventProof::Sealed);
    let mut states = sealed.filter_map(|(event, _)| attested(event));
    Ok(state.is_some() && states.any(|former| differing::<R>(state, Some(former)).is_empty()))
}

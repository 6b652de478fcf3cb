//! Management events, and whether they are the ones that were sealed.

use sqlx::PgConnection;
use uuid::Uuid;

use super::foreign::foreign_segments;
pub(crate) use super::store::AttestingEvent;
use super::{Log, store};
use crate::db::Pool;
use crate::management::ResourceType;
use crate::management::events::{self, Recorded};
use crate::resource::Rows;
use crate::segments::{Placement, hash_of};

/// Whether an event is the one that was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventProof {
    /// It has no position in the log yet.
    Waiting,
    /// It has the hash of its position. `sealward audit verify` compares the hashes with checkpoints.
    Sealed,
    /// It has another hash.
    Changed,
}

/// Whether `sealward audit init` has begun the log of management events.
pub(crate) async fn is_initialized(pool: &Pool) -> sqlx::Result<bool> {
    Ok(store::head(pool, Log::Management).await?.is_some())
}

/// Those of these events that exist.
pub(crate) async fn proven_events(
    rows: Rows<&mut PgConnection>,
    ids: &[Uuid],
) -> sqlx::Result<Vec<(Recorded, EventProof)>> {
    let mut proven = Vec::new();
    for event in events::named(&mut *rows.executor, ids).await? {
        let own = hash_of(Log::Management, &event.row);
        let name = (Log::Management, event.row.id.uuid());
        let proof = match event.placement(&mut *rows.executor, &rows.seals, name, own).await? {
            Placement::Waiting => EventProof::Waiting,
            Placement::Sealed(_) => EventProof::Sealed,
            Placement::Changed(_) => EventProof::Changed,
        };
        proven.push((event.row, proof));
    }
    Ok(proven)
}

/// The events about the resources of a type in a range of identifiers: of each the last sealed one with its whole
/// state, and what follows it.
pub(crate) async fn last_attesting(
    mut rows: Rows<&mut PgConnection>,
    of: ResourceType,
    range: (Uuid, Option<Uuid>),
) -> sqlx::Result<Vec<AttestingEvent>> {
    let foreign = foreign_segments(rows.again(), Log::Management).await?;
    store::last_attesting(rows.executor, of, range, &foreign).await
}

/// The events with the whole state of a resource that are the ones that were sealed.
pub(crate) async fn sealed_states(
    mut rows: Rows<&mut PgConnection>,
    of: ResourceType,
    id: Uuid,
) -> sqlx::Result<Vec<Recorded>> {
    let foreign = foreign_segments(rows.again(), Log::Management).await?;
    let events = store::attesting_of(&mut *rows.executor, of, id, &foreign).await?;
    let proven = proven_events(rows, &events).await?.into_iter();
    let sealed = proven.filter(|(_, proof)| *proof == EventProof::Sealed);
    Ok(sealed.map(|(event, _)| event).collect())
}

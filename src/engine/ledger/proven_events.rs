//! Management events, and whether they are the ones that were sealed.

use sqlx::PgConnection;
use uuid::Uuid;

use super::leaf::leaf;
pub(crate) use super::store::AttestingEvent;
use super::{Log, store};
use crate::db::Pool;
use crate::management::ResourceType;
use crate::management::events::{self, Recorded};
use formats::tlog::Hash;

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
    connection: &mut PgConnection,
    ids: &[Uuid],
) -> sqlx::Result<Vec<(Recorded, EventProof)>> {
    let found = events::named(&mut *connection, ids).await?;
    let hashes = store::leaf_hashes(connection, Log::Management, ids).await?;
    let proven = found.into_iter().map(|event| {
        let proof = match hashes.get(&event.id.uuid()) {
            None => EventProof::Waiting,
            Some(hash) if hash_of(&event) == Some(*hash) => EventProof::Sealed,
            Some(_) => EventProof::Changed,
        };
        (event, proof)
    });
    Ok(proven.collect())
}

/// The events about the resources of a type in a range of identifiers: of each the last sealed one with its whole
/// state, and what follows it.
pub(crate) async fn last_attesting(
    connection: &mut PgConnection,
    of: ResourceType,
    (after, end): (Uuid, Option<Uuid>),
) -> sqlx::Result<Vec<AttestingEvent>> {
    store::last_attesting(connection, of, after, end).await
}

/// The events with the whole state of a resource that are the ones that were sealed.
pub(crate) async fn sealed_states(
    connection: &mut PgConnection,
    of: ResourceType,
    id: Uuid,
) -> sqlx::Result<Vec<Recorded>> {
    let events = store::attesting_of(connection, of, id).await?;
    let proven = proven_events(connection, &events).await?.into_iter();
    let sealed = proven.filter(|(_, proof)| *proof == EventProof::Sealed);
    Ok(sealed.map(|(event, _)| event).collect())
}

fn hash_of(event: &Recorded) -> Option<Hash> {
    let line = serde_json::to_string(event).ok()?;
    let leaf = leaf(Log::Management, &line).ok()?;
    Some(Hash::of_leaf(&leaf))
}

//! The people of keys, as the audit log names them.

use std::collections::{BTreeSet, HashMap};

use sqlx::PgConnection;

use super::{Maker, store};
use crate::ids::KeyId;
use crate::ledger::{EventProof, Log, foreign_segments, proven_events};
use crate::management::Action;
use crate::management::events::Recorded;
use crate::resource::Rows;

/// Who created a key, and who approved its creation or a later change.
#[derive(Clone, Debug, Default)]
pub(super) struct People {
    pub(super) created_by: Option<Maker>,
    pub(super) approved_by: BTreeSet<String>,
}

/// The people of all keys. An event that is not the one that was sealed says nothing.
pub(super) async fn of_keys(
    mut rows: Rows<&mut PgConnection>,
) -> sqlx::Result<HashMap<KeyId, People>> {
    let foreign = foreign_segments(rows.again(), Log::Management).await?;
    let ids = store::events_of_keys(&mut *rows.executor, &foreign).await?;
    let proven = proven_events(rows.again(), &ids).await?.into_iter();
    let sealed = proven.filter(|(_, proof)| *proof == EventProof::Sealed);
    let mut events: Vec<Recorded> = sealed.map(|(event, _)| event).collect();
    events.sort_by_key(|event| event.id);
    let credentials = events.iter().filter_map(|event| event.api_key_id).collect();
    let persons = store::people(rows, credentials).await?;

    let mut people: HashMap<KeyId, People> = HashMap::new();
    for event in events {
        let Some(key) = event.resource_id.as_deref().and_then(|id| id.parse().ok()) else {
            continue;
        };
        let known = people.entry(key).or_default();
        if event.action() == Some(Action::Create) && known.created_by.is_none() {
            let of_key = event.api_key_id.and_then(|key| persons.get(&key).cloned());
            let person = event.person.map(|person| person.sub).or(of_key);
            known.created_by = Some(Maker { actor: event.actor, person });
        }
        known.approved_by.extend(event.approved_by.into_iter().flatten());
    }
    Ok(people)
}

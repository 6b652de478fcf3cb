//! What the events of a resource say of its row.

use serde_json::Value;

use super::Resource;
use crate::resource::Stored;

/// A resource each of whose changes is an event with its state.
pub(crate) trait Attested: Resource + Stored + Send + Unpin {
    /// The members that change without an event of the resource.
    const UNATTESTED: &'static [&'static str] = &[];

    /// Its state before the first event, for resources that can begin without one.
    fn unrecorded() -> Option<Value> {
        None
    }

    /// The members that an entry of `revisions` changes, each with its value; none for a time.
    const LOSSES: &'static [(&'static str, Option<&'static str>)] = &[];

    /// Whether a resource in this state has lost what an entry of `revisions` can take away.
    fn has_lost(state: &Value) -> bool;

    /// What an event says that the resource lost. The login of the service can add an event with other members.
    fn lost(event: &Value) -> impl Iterator<Item = (String, Value)> {
        Self::LOSSES.iter().filter_map(|(name, value)| {
            let said = event.get(name).filter(|said| match value {
                Some(value) => *said == value,
                None => said.is_string(),
            });
            Some(((*name).to_owned(), said?.clone()))
        })
    }

    /// Whether a difference of these members can be a loss.
    fn can_lose(members: &[String]) -> bool {
        members.iter().all(|member| Self::LOSSES.iter().any(|(name, _)| name == member))
    }

    /// Its members, as events have them.
    fn state(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }
}

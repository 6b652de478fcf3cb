//! Which changes of people need approval, and what events say of their rows.

use serde_json::{Value, json};

use crate::auth::{Person, PersonStatus};
use crate::change_kind::ChangeKind;
use crate::management::changes::Judgement;
use crate::management::{Attested, Resource, ResourceType};

impl Resource for Person {
    const TYPE: ResourceType = ResourceType::Person;

    /// Whoever unlocks a person gives admin keys and roles back.
    fn judge(before: Option<&Self>, after: Option<&Self>) -> Judgement {
        let was_locked = before.is_some_and(Self::is_locked);
        let is_locked = after.is_some_and(Self::is_locked);
        Judgement::of((was_locked && !is_locked).then_some(ChangeKind::ApiKeyAdmin))
    }
}

/// Sign-ins change people without an event.
impl Attested for Person {
    const LOSSES: &'static [(&'static str, Option<&'static str>)] =
        &[("status", Some(PersonStatus::Locked.name())), ("lockedAt", None)];
    const UNATTESTED: &'static [&'static str] =
        &["name", "roles", "lastSeenAt", "apiKeyIds", "updatedAt"];

    fn unrecorded() -> Option<Value> {
        Some(json!({ "status": PersonStatus::Active.name(), "lockedAt": null }))
    }

    fn has_lost(state: &Value) -> bool {
        state["status"] == PersonStatus::Locked.name()
    }
}

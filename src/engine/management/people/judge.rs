//! Which changes of people need approval.

use crate::auth::Person;
use crate::change_kind::ChangeKind;
use crate::management::changes::Judgement;
use crate::management::{Resource, ResourceType};

impl Resource for Person {
    const TYPE: ResourceType = ResourceType::Person;

    /// Whoever unlocks a person gives admin keys and roles back.
    fn judge(before: Option<&Self>, after: Option<&Self>) -> Judgement {
        let was_locked = before.is_some_and(Self::is_locked);
        let is_locked = after.is_some_and(Self::is_locked);
        Judgement::of((was_locked && !is_locked).then_some(ChangeKind::ApiKeyAdmin))
    }
}

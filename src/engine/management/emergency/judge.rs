//! Whether a change of the switch needs approval.

use super::Emergency;
use crate::change_kind::ChangeKind;
use crate::management::changes::Judgement;
use crate::management::{Resource, ResourceType};

impl Resource for Emergency {
    const TYPE: ResourceType = ResourceType::Emergency;

    fn judge(before: Option<&Self>, after: Option<&Self>) -> Judgement {
        let thaws = before.is_some_and(Self::is_frozen) && !after.is_none_or(Self::is_frozen);
        Judgement::of(thaws.then_some(ChangeKind::CredentialOpen))
    }
}

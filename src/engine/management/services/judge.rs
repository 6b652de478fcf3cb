//! Which changes of services need approval, and what events say of their rows.

use serde_json::Value;

use crate::auth::{Service, ServiceStatus};
use crate::change_kind::ChangeKind;
use crate::management::changes::Judgement;
use crate::management::{Attested, Resource, ResourceType};

impl Resource for Service {
    const TYPE: ResourceType = ResourceType::Service;

    /// A service opens nothing by itself: policies and API keys do. One that is no longer frozen gives all of them
    /// their effect back.
    fn judge(before: Option<&Self>, after: Option<&Self>) -> Judgement {
        let is_frozen = |it: &Self| it.status == ServiceStatus::Frozen;
        let thaws = before.is_some_and(is_frozen) && !after.is_none_or(is_frozen);
        Judgement::of(thaws.then_some(ChangeKind::CredentialOpen))
    }
}

impl Attested for Service {
    const LOSSES: &'static [(&'static str, Option<&'static str>)] =
        &[("status", Some(ServiceStatus::Frozen.name()))];

    fn has_lost(state: &Value) -> bool {
        state["status"] == ServiceStatus::Frozen.name()
    }
}

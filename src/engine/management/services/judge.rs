//! Which changes of services need approval.

use crate::auth::Service;
use crate::management::changes::Judgement;
use crate::management::{Resource, ResourceType};

impl Resource for Service {
    const TYPE: ResourceType = ResourceType::Service;

    /// A service opens nothing by itself: policies and API keys do.
    fn judge(_: Option<&Self>, _: Option<&Self>) -> Judgement {
        Judgement::default()
    }
}

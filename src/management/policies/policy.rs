//! What management does with the resource.

use uuid::Uuid;

use super::terms::Terms;
use crate::catalog::Topic;
use crate::clock::Timestamp;
use crate::ids::PolicyId;
use crate::management::Resource;
use crate::policy::{Policy, PolicyNumber};
use crate::revision::Revision;

impl Policy {
    pub(super) fn new(id: PolicyId, number: PolicyNumber, now: Timestamp, terms: Terms) -> Self {
        Self {
            id,
            policy_number: number,
            name: terms.name,
            description: terms.description,
            destination_service_id: terms.destination_service_id,
            key_ownership: terms.key_ownership,
            alg: terms.alg,
            enc: terms.enc,
            status: terms.status,
            failure_mode: terms.failure_mode,
            allowed_service_ids: terms.allowed_service_ids,
            allowed_operations: terms.allowed_operations,
            created_at: now,
            updated_at: now,
            revision: Revision::FIRST,
        }
    }

    pub(super) fn with(&self, now: Timestamp, terms: Terms) -> Self {
        let number = terms
            .number
            .clone()
            .unwrap_or_else(|| self.policy_number.clone());
        Self {
            created_at: self.created_at,
            revision: self.revision.next(),
            ..Self::new(self.id, number, now, terms)
        }
    }

    pub(super) fn terms(&self) -> Terms {
        Terms {
            number: Some(self.policy_number.clone()),
            name: self.name.clone(),
            description: self.description.clone(),
            destination_service_id: self.destination_service_id,
            key_ownership: self.key_ownership,
            alg: self.alg,
            enc: self.enc,
            status: self.status,
            failure_mode: self.failure_mode,
            allowed_service_ids: self.allowed_service_ids.clone(),
            allowed_operations: self.allowed_operations,
        }
    }
}

impl Resource for Policy {
    const TYPE: &'static str = "policy";
    const TOPIC: Topic = Topic::Policies;

    fn uuid(&self) -> Uuid {
        self.id.uuid()
    }

    fn revision(&self) -> Revision {
        self.revision
    }
}

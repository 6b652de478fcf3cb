//! The changes of a policy that can need approval, and what events say of its row.

use serde_json::Value;

use super::Policy;
use crate::change_kind::ChangeKind;
use crate::management::changes::Judgement;
use crate::management::{Attested, Resource, ResourceType};
use crate::policy::{AllowedServices, Verdict};

impl Resource for Policy {
    const TYPE: ResourceType = ResourceType::Policy;

    fn judge(before: Option<&Self>, after: Option<&Self>) -> Judgement {
        let opens = match (before, after) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(before), Some(after)) => allows_more(before, after),
        };
        Judgement::of(opens.then_some(ChangeKind::PolicyOpen))
    }
}

impl Attested for Policy {
    fn has_lost(_: &Value) -> bool {
        false
    }
}

fn allows_more(before: &Policy, after: &Policy) -> bool {
    let adds_service = match (&before.allowed_service_ids, &after.allowed_service_ids) {
        (AllowedServices::Any, _) => false,
        (AllowedServices::Only(_), AllowedServices::Any) => true,
        (AllowedServices::Only(before), AllowedServices::Only(after)) => {
            after.iter().any(|id| !before.contains(id))
        }
    };
    let mut operations = after.allowed_operations.iter();
    let before_passes = before.verdict() == Verdict::PassThrough;
    let is_restored = before.deleted_at.is_some() && after.deleted_at.is_none();
    is_restored
        || adds_service
        || operations.any(|operation| !before.allowed_operations.contain(operation))
        || after.destination_service_id != before.destination_service_id
        || after.key_ownership != before.key_ownership
        // Another key of the destination protects.
        || after.alg.family() != before.alg.family()
        // Callers who name the number get another policy.
        || after.policy_number != before.policy_number
        || (before.context_required && !after.context_required)
        || (before.require_binding && !after.require_binding)
        || (after.verdict() == Verdict::PassThrough && !before_passes)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::*;
    use crate::ids::{PolicyId, ServiceId};
    use crate::policy::PolicyRequest;
    use crate::resource::{Deletable as _, RequestBody, ResourceRequest};
    use formats::clock::Timestamp;
    use formats::problem::Problems;

    fn now() -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000)
    }

    fn service(number: u128) -> ServiceId {
        ServiceId::from_uuid(Uuid::from_u128(number))
    }

    /// Fails unless the table has every member that requests can set.
    fn check_members<B: RequestBody>(table: &[(Value, Value, bool)], fixed: &[&str]) {
        for field in B::FIELDS {
            let is_listed = table.iter().any(|(_, change, _)| change.get(field.name).is_some());
            assert!(is_listed || fixed.contains(&field.name), "{}", field.name);
        }
    }

    fn policy(members: &Value) -> Policy {
        let mut body = json!({ "name": "n", "policyNumber": "P", "allowedServiceIds": [service(1)],
            "destinationServiceId": service(2), "allowedOperations": ["protect", "unprotect"] });
        merge(&mut body, members);
        let request = ResourceRequest::<PolicyRequest>::of_json(&body, ResourceRequest::to_create);
        let id = PolicyId::from_uuid(Uuid::from_u128(3));
        let created = request.unwrap().body.create(id, now(), &mut Problems::default());
        created.unwrap()
    }

    fn merge(body: &mut Value, members: &Value) {
        let members = members.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(members);
    }

    #[test]
    fn a_policy_opens_when_it_allows_more() {
        let (one, two) = (service(1), service(2));
        let destination = json!({ "keyOwnership": "destination_managed" });
        let mode = |mode| json!({ "failureMode": mode });
        let table = [
            (json!({}), json!({ "name": "other" }), false),
            (json!({}), json!({ "description": "text" }), false),
            (json!({}), json!({ "policyNumber": "Q" }), true),
            (json!({}), json!({ "destinationServiceId": service(5) }), true),
            (json!({}), destination.clone(), true),
            (destination.clone(), json!({ "keyOwnership": "service_managed" }), true),
            (json!({}), json!({ "alg": "RSA-OAEP" }), false),
            (json!({}), json!({ "alg": "ECDH-ES+A256KW" }), true),
            (json!({ "alg": "ECDH-ES+A256KW" }), json!({ "alg": "ECDH-ES+A128KW" }), false),
            (json!({}), json!({ "enc": "A128GCM" }), false),
            (destination, json!({ "headers": { "iat": true } }), false),
            (json!({}), json!({ "status": "inactive" }), false),
            (json!({ "status": "inactive" }), json!({ "status": "active" }), false),
            (mode("passthrough"), json!({ "status": "inactive" }), true),
            (json!({}), mode("passthrough"), false),
            (json!({ "status": "inactive" }), mode("passthrough"), true),
            (json!({ "status": "inactive" }), mode("drop"), false),
            (json!({}), json!({ "allowedServiceIds": [one, two] }), true),
            (json!({}), json!({ "allowedServiceIds": [two] }), true),
            (json!({}), json!({ "allowedServiceIds": ["*"] }), true),
            (json!({ "allowedServiceIds": ["*"] }), json!({ "allowedServiceIds": [one] }), false),
            (json!({}), json!({ "allowedOperations": ["protect"] }), false),
            (json!({}), json!({ "allowedOperations": ["rewrap"] }), true),
            (json!({}), json!({ "contextRequired": true }), false),
            (json!({ "contextRequired": true }), json!({ "contextRequired": false }), true),
            (json!({}), json!({ "requireBinding": true }), false),
            (json!({ "requireBinding": true }), json!({ "requireBinding": false }), true),
        ];
        check_members::<PolicyRequest>(&table, &[]);
        for (before, change, opens) in table {
            let (first, mut members) = (policy(&before), before.clone());
            merge(&mut members, &change);
            let kinds = Policy::judge(Some(&first), Some(&policy(&members))).kinds;
            let expected: &[ChangeKind] = if opens { &[ChangeKind::PolicyOpen] } else { &[] };
            assert_eq!(kinds, expected, "{before} {change}");
        }
        let policy = policy(&json!({}));
        assert_eq!(Policy::judge(None, Some(&policy)).kinds, [ChangeKind::PolicyOpen]);
        assert_eq!(Policy::judge(Some(&policy), None).kinds, []);
        let deleted = policy.clone().deleted(now());
        let restored = deleted.clone().restored();
        assert_eq!(Policy::judge(Some(&deleted), Some(&restored)).kinds, [ChangeKind::PolicyOpen]);
    }
}

//! The changes of an identity that can need approval, and what events say of its row.

use serde_json::Value;

use super::{IdentityStatus, WorkloadIdentity};
use crate::auth::GivenUpMatch;
use crate::change_kind::ChangeKind;
use crate::management::api_keys::adds_operations;
use crate::management::changes::Judgement;
use crate::management::{Attested, Resource, ResourceType};

impl Resource for WorkloadIdentity {
    const TYPE: ResourceType = ResourceType::Identity;

    fn judge(before: Option<&Self>, after: Option<&Self>) -> Judgement {
        let opens = after.is_some_and(|after| before.is_none_or(|it| allows_more(it, after)));
        let given_up = before.and_then(|before| GivenUpMatch::of(before, after));
        Judgement::of(opens.then_some(ChangeKind::CredentialOpen)).giving_up_match(given_up)
    }
}

impl Attested for WorkloadIdentity {
    const UNATTESTED: &'static [&'static str] = &["policyNumber", "lastUsedAt"];

    fn has_lost(state: &Value) -> bool {
        state["status"] == IdentityStatus::Disabled.name()
    }
}

fn allows_more(before: &WorkloadIdentity, after: &WorkloadIdentity) -> bool {
    adds_operations(before.allowed_operations, after.allowed_operations)
        || after.policy_number != before.policy_number
        || !after.r#match.is_within(&before.r#match)
        || (before.status == IdentityStatus::Disabled && after.status == IdentityStatus::Active)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::*;
    use crate::ids::IdentityId;
    use crate::management::identities::IdentityRequest;
    use crate::resource::{RequestBody as _, ResourceRequest};
    use formats::clock::Timestamp;
    use formats::problem::Problems;

    fn identity(members: &Value) -> WorkloadIdentity {
        let mut body = json!({
            "name": "n",
            "serviceId": "svc_01h455vb4pex5vsknk084sn02q",
            "match": { "issuer": "a", "claims": { "b": "c" } },
        });
        for (name, value) in members.as_object().unwrap() {
            body[name] = value.clone();
        }
        let to_create = ResourceRequest::to_create;
        let request = ResourceRequest::<IdentityRequest>::of_json(&body, to_create).unwrap();
        let (id, now) = (IdentityId::from_uuid(Uuid::nil()), Timestamp::from_millis(0));
        let created = request.body.create(id, now, &mut Problems::default());
        created.unwrap()
    }

    #[test]
    fn an_identity_opens_when_it_allows_more() {
        let matching = |rule: Value| json!({ "match": rule });
        let table = [
            (json!({}), json!({ "name": "other" }), false),
            (json!({}), json!({ "policyNumber": "P" }), true),
            (json!({ "policyNumber": "P" }), json!({ "policyNumber": null }), true),
            (json!({}), json!({ "allowedOperations": ["sign"] }), false),
            (json!({ "allowedOperations": ["sign"] }), json!({ "allowedOperations": null }), true),
            (json!({}), json!({ "status": "disabled" }), false),
            (json!({ "status": "disabled" }), json!({ "status": "active" }), true),
            (
                json!({}),
                matching(json!({ "issuer": "a", "subject": "s", "claims": { "b": "c", "d": 1 } })),
                false,
            ),
            (json!({}), matching(json!({ "issuer": "b", "claims": { "b": "c" } })), true),
            (json!({}), matching(json!({ "issuer": "a", "claims": { "b": "d" } })), true),
            (json!({}), matching(json!({ "issuer": "a", "subject": "s" })), true),
            (
                matching(json!({ "issuer": "a", "subject": "s", "claims": { "b": "c" } })),
                json!({}),
                true,
            ),
            (
                matching(json!({ "issuer": "a", "subject": "s" })),
                matching(json!({ "issuer": "a", "subject": "t" })),
                true,
            ),
            (
                matching(json!({ "spiffeId": "spiffe://a/b" })),
                matching(json!({ "spiffeId": "spiffe://a/b" })),
                false,
            ),
            (
                matching(json!({ "spiffeId": "spiffe://a/b" })),
                matching(json!({ "spiffeId": "spiffe://a/c" })),
                true,
            ),
            (
                matching(json!({ "issuer": "a", "subject": "s" })),
                matching(json!({ "spiffeId": "spiffe://a/b" })),
                true,
            ),
        ];
        for field in IdentityRequest::FIELDS {
            let mut changes = table.iter().map(|(_, change, _)| change);
            let is_listed = changes.any(|change| change.get(field.name).is_some());
            assert!(is_listed || field.name == "serviceId", "{}", field.name);
        }
        for (before, after, opens) in table {
            let judged = Judgement::of(opens.then_some(ChangeKind::CredentialOpen));
            let (first, second) = (identity(&before), identity(&after));
            let found = WorkloadIdentity::judge(Some(&first), Some(&second));
            assert_eq!(found.kinds, judged.kinds, "{before} to {after}");
        }
        let new = identity(&json!({}));
        let created = WorkloadIdentity::judge(None, Some(&new)).kinds;
        assert_eq!(created, [ChangeKind::CredentialOpen]);
        assert_eq!(WorkloadIdentity::judge(Some(&new), None).kinds, []);
    }
}

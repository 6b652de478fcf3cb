//! The changes of an API key that can need approval, and what events say of its row.

use ipnet::IpNet;
use serde_json::Value;

use super::{ApiKey, Networks};
use crate::auth::ApiKeyType;
use crate::change_kind::ChangeKind;
use crate::management::changes::Judgement;
use crate::management::{Attested, Resource, ResourceType};
use crate::operation::Operations;
use formats::clock::Timestamp;

impl Resource for ApiKey {
    const TYPE: ResourceType = ResourceType::ApiKey;

    fn judge(before: Option<&Self>, after: Option<&Self>) -> Judgement {
        let Some(after) = after else {
            return Judgement::default();
        };
        let kind = match after.r#type {
            ApiKeyType::Admin => ChangeKind::ApiKeyAdmin,
            ApiKeyType::Live | ApiKeyType::Test => ChangeKind::CredentialOpen,
        };
        let opens = before.is_none_or(|before| allows_more(before, after));
        Judgement::of(opens.then_some(kind))
    }
}

impl Attested for ApiKey {
    const LOSSES: &'static [(&'static str, Option<&'static str>)] = &[("revokedAt", None)];
    // The status follows the time, and the number is that of another resource.
    const UNATTESTED: &'static [&'static str] = &["status", "policyNumber", "lastUsedAt"];

    fn has_lost(state: &Value) -> bool {
        !state["revokedAt"].is_null()
    }
}

fn allows_more(before: &ApiKey, after: &ApiKey) -> bool {
    let mut roles = after.roles.iter();
    roles.any(|role| !before.roles.meet(&[role]))
        || adds_operations(before.allowed_operations, after.allowed_operations)
        || adds_networks(before.allowed_cidrs.as_ref(), after.allowed_cidrs.as_ref())
        || expires_later(before.expires_at, after.expires_at)
        || after.policy_number != before.policy_number
        || (before.certificate_sha256.is_some()
            && after.certificate_sha256 != before.certificate_sha256)
}

/// Whether a credential allows an operation that it did not allow before.
pub(in crate::management) fn adds_operations(
    before: Option<Operations>,
    after: Option<Operations>,
) -> bool {
    match (before, after) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(before), Some(after)) => after.iter().any(|operation| !before.contain(operation)),
    }
}

/// Whether a network is not inside one of the networks before.
fn adds_networks(before: Option<&Networks>, after: Option<&Networks>) -> bool {
    match (before, after) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(before), Some(after)) => after.iter().any(|network| {
            let is_inside = |known: IpNet| known.contains(&network);
            !before.iter().any(is_inside)
        }),
    }
}

fn expires_later(before: Option<Timestamp>, after: Option<Timestamp>) -> bool {
    match (before, after) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(before), Some(after)) => after > before,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::*;
    use crate::ids::ApiKeyId;
    use crate::management::api_keys::ApiKeyRequest;
    use crate::resource::{RequestBody, ResourceRequest};
    use formats::problem::Problems;

    const SOON: &str = "2030-01-01T00:00:00Z";
    const ONE: &str = "0000000000000000000000000000000000000000000000000000000000000001";
    const OTHER: &str = "0000000000000000000000000000000000000000000000000000000000000002";
    const LATE: &str = "2031-01-01T00:00:00Z";

    fn now() -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000)
    }

    /// Fails unless the table has every member that requests can set.
    fn check_members<B: RequestBody>(table: &[(Value, Value, bool)], fixed: &[&str]) {
        for field in B::FIELDS {
            let is_listed = table.iter().any(|(_, change, _)| change.get(field.name).is_some());
            assert!(is_listed || fixed.contains(&field.name), "{}", field.name);
        }
    }

    fn api_key(kind: &str, members: &Value) -> ApiKey {
        let mut body = json!({ "name": "n", "type": kind });
        merge(&mut body, members);
        let request = ResourceRequest::<ApiKeyRequest>::of_json(&body, ResourceRequest::to_create);
        let id = ApiKeyId::from_uuid(Uuid::from_u128(4));
        let created = request.unwrap().body.create(id, now(), &mut Problems::default());
        created.unwrap()
    }

    fn merge(body: &mut Value, members: &Value) {
        let members = members.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(members);
    }

    #[test]
    fn an_api_key_opens_when_it_allows_more() {
        let networks = |networks: &[&str]| json!({ "allowedCidrs": networks });
        let one = || networks(&["192.0.2.0/24"]);
        let anywhere = json!({ "allowedCidrs": null });
        let table = [
            (json!({}), json!({ "name": "other" }), false),
            (json!({ "roles": ["auditor"] }), json!({ "roles": ["auditor", "owner"] }), true),
            (json!({ "roles": ["auditor", "owner"] }), json!({ "roles": ["auditor"] }), false),
            (json!({}), json!({ "policyNumber": "P" }), true),
            (json!({ "policyNumber": "P" }), json!({ "policyNumber": "Q" }), true),
            (json!({ "policyNumber": "P" }), json!({ "policyNumber": null }), true),
            (json!({}), json!({ "allowedOperations": ["sign"] }), false),
            (json!({ "allowedOperations": ["sign"] }), json!({ "allowedOperations": null }), true),
            (
                json!({ "allowedOperations": ["sign"] }),
                json!({ "allowedOperations": ["hash"] }),
                true,
            ),
            (json!({}), one(), false),
            (one(), anywhere, true),
            (one(), networks(&["192.0.2.128/25", "192.0.2.1/32"]), false),
            (one(), networks(&["192.0.2.0/23"]), true),
            (one(), networks(&["192.0.2.0/24", "::1/128"]), true),
            (json!({}), json!({ "certificateSha256": ONE }), false),
            (json!({ "certificateSha256": ONE }), json!({ "certificateSha256": null }), true),
            (json!({ "certificateSha256": ONE }), json!({ "certificateSha256": OTHER }), true),
            (json!({}), json!({ "expiresAt": SOON }), false),
            (json!({ "expiresAt": LATE }), json!({ "expiresAt": SOON }), false),
            (json!({ "expiresAt": SOON }), json!({ "expiresAt": LATE }), true),
            (json!({ "expiresAt": SOON }), json!({ "expiresAt": null }), true),
        ];
        check_members::<ApiKeyRequest>(&table, &["type", "serviceId", "person"]);
        for (kind, expected) in [
            ("live", ChangeKind::CredentialOpen),
            ("test", ChangeKind::CredentialOpen),
            ("admin", ChangeKind::ApiKeyAdmin),
        ] {
            for (before, change, opens) in &table {
                let mut members = before.clone();
                merge(&mut members, change);
                let (first, second) = (api_key(kind, before), api_key(kind, &members));
                let kinds = ApiKey::judge(Some(&first), Some(&second)).kinds;
                let expected = opens.then_some(expected);
                assert_eq!(kinds, Vec::from_iter(expected), "{kind} {before} {change}");
            }
            let created = ApiKey::judge(None, Some(&api_key(kind, &json!({})))).kinds;
            assert_eq!(created, [expected]);
        }
    }
}

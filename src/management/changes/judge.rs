//! The resources that events name, and the changes of them that can need approval. The states before and
//! after a change decide, not the route.

use ipnet::IpNet;

use super::ChangeKind;
use crate::auth;
use crate::clock::Timestamp;
use crate::keys::{Key, Origin, Status};
use crate::management::api_keys::{ApiKey, Networks};
use crate::management::keys::ImportParameters;
use crate::management::services::Service;
use crate::management::{Resource, ResourceType};
use crate::policy::{AllowedServices, Policy, Verdict};

impl Resource for Service {
    const TYPE: ResourceType = ResourceType::Service;

    /// A service opens nothing by itself: policies and API keys do.
    fn kinds(_: Option<&Self>, _: Option<&Self>) -> Vec<ChangeKind> {
        Vec::new()
    }
}

impl Resource for Policy {
    const TYPE: ResourceType = ResourceType::Policy;

    fn kinds(before: Option<&Self>, after: Option<&Self>) -> Vec<ChangeKind> {
        of_policy(before, after)
    }
}

impl Resource for Key {
    const TYPE: ResourceType = ResourceType::Key;

    fn kinds(before: Option<&Self>, after: Option<&Self>) -> Vec<ChangeKind> {
        of_key(before, after)
    }
}

impl Resource for ApiKey {
    const TYPE: ResourceType = ResourceType::ApiKey;

    fn kinds(before: Option<&Self>, after: Option<&Self>) -> Vec<ChangeKind> {
        of_api_key(before, after)
    }
}

impl Resource for ImportParameters {
    const TYPE: ResourceType = ResourceType::ImportKey;

    /// An import key wraps a key, whose import can need approval.
    fn kinds(_: Option<&Self>, _: Option<&Self>) -> Vec<ChangeKind> {
        Vec::new()
    }
}

/// The kinds of a change of a policy.
fn of_policy(before: Option<&Policy>, after: Option<&Policy>) -> Vec<ChangeKind> {
    let opens = match (before, after) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(before), Some(after)) => {
            let adds_service = match (&before.allowed_service_ids, &after.allowed_service_ids) {
                (AllowedServices::Any, _) => false,
                (AllowedServices::Only(_), AllowedServices::Any) => true,
                (AllowedServices::Only(before), AllowedServices::Only(after)) => {
                    after.iter().any(|id| !before.contains(id))
                }
            };
            let mut operations = after.allowed_operations.iter();
            let before_passes = before.verdict() == Verdict::PassThrough;
            adds_service
                || operations.any(|operation| !before.allowed_operations.contain(operation))
                || after.destination_service_id != before.destination_service_id
                || after.key_ownership != before.key_ownership
                // Callers who name the number get another policy.
                || after.policy_number != before.policy_number
                || (before.context_required && !after.context_required)
                || (before.require_binding && !after.require_binding)
                || (after.verdict() == Verdict::PassThrough && !before_passes)
        }
    };
    opens
        .then_some(ChangeKind::PolicyOpen)
        .into_iter()
        .collect()
}

/// The kinds of a change of a key.
fn of_key(before: Option<&Key>, after: Option<&Key>) -> Vec<ChangeKind> {
    let Some(after) = after else {
        return Vec::new();
    };
    let works = |key: &Key| {
        let is_valid = key
            .expires_at
            .is_none_or(|expiry| expiry > after.updated_at);
        key.status == Status::Active && is_valid
    };
    let mut kinds = Vec::new();
    if before.is_none() {
        match after.origin {
            Origin::Imported => kinds.push(ChangeKind::KeyImport),
            Origin::Adopted => kinds.push(ChangeKind::KeyAdopt),
            Origin::Generated => {}
        }
    }
    if works(after) && !before.is_some_and(works) {
        kinds.push(ChangeKind::KeyActivate);
    }
    if is_deleted(after) && !before.is_some_and(is_deleted) {
        kinds.push(ChangeKind::KeyDestroy);
    }
    kinds
}

fn is_deleted(key: &Key) -> bool {
    match key.status {
        Status::PendingDestruction | Status::Destroyed => true,
        Status::Active | Status::Retired | Status::Disabled => false,
    }
}

/// The kinds of a change of an API key.
fn of_api_key(before: Option<&ApiKey>, after: Option<&ApiKey>) -> Vec<ChangeKind> {
    let Some(after) = after else {
        return Vec::new();
    };
    let widens = match before {
        None => true,
        Some(before) => {
            let mut roles = after.roles.iter();
            roles.any(|role| !before.roles.meet(&[role]))
                || adds_operations(before, after)
                || adds_networks(before.allowed_cidrs.as_ref(), after.allowed_cidrs.as_ref())
                || expires_later(before.expires_at, after.expires_at)
                || after.policy_number != before.policy_number
        }
    };
    let kind = match after.r#type {
        auth::Kind::Admin => ChangeKind::ApiKeyAdmin,
        auth::Kind::Live | auth::Kind::Test => ChangeKind::CredentialOpen,
    };
    widens.then_some(kind).into_iter().collect()
}

fn adds_operations(before: &ApiKey, after: &ApiKey) -> bool {
    match (before.allowed_operations, after.allowed_operations) {
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
    use crate::ids::{ApiKeyId, KeyId, PolicyId, ServiceId};
    use crate::keys::Usage;
    use crate::management::api_keys::ApiKeyRequest;
    use crate::material::Algorithm;
    use crate::policy::PolicyRequest;
    use crate::problem::Problems;
    use crate::resource::{RequestBody, ResourceRequest};
    use crate::revision::Revision;

    const NOW: i64 = 1_800_000_000_000;
    const SOON: &str = "2030-01-01T00:00:00Z";
    const LATE: &str = "2031-01-01T00:00:00Z";

    fn now() -> Timestamp {
        Timestamp::from_millis(NOW)
    }

    fn service(number: u128) -> ServiceId {
        ServiceId::from_uuid(Uuid::from_u128(number))
    }

    /// Fails unless the table has every member that requests can set.
    fn check_members<B: RequestBody>(table: &[(Value, Value, bool)], fixed: &[&str]) {
        for field in B::FIELDS {
            let is_listed = table
                .iter()
                .any(|(_, change, _)| change.get(field.name).is_some());
            assert!(is_listed || fixed.contains(&field.name), "{}", field.name);
        }
    }

    fn policy(members: &Value) -> Policy {
        let mut body = json!({ "name": "n", "policyNumber": "P", "allowedServiceIds": [service(1)],
            "destinationServiceId": service(2), "allowedOperations": ["protect", "unprotect"] });
        merge(&mut body, members);
        let request = ResourceRequest::<PolicyRequest>::of_json(&body, ResourceRequest::to_create);
        let id = PolicyId::from_uuid(Uuid::from_u128(3));
        let created = request
            .unwrap()
            .body
            .create(id, now(), &mut Problems::default());
        created.unwrap()
    }

    fn api_key(kind: &str, members: &Value) -> ApiKey {
        let mut body = json!({ "name": "n", "type": kind });
        merge(&mut body, members);
        let request = ResourceRequest::<ApiKeyRequest>::of_json(&body, ResourceRequest::to_create);
        let id = ApiKeyId::from_uuid(Uuid::from_u128(4));
        let created = request
            .unwrap()
            .body
            .create(id, now(), &mut Problems::default());
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
        let passes = json!({ "failureMode": "passthrough" });
        let table = [
            (json!({}), json!({ "name": "other" }), false),
            (json!({}), json!({ "description": "text" }), false),
            (json!({}), json!({ "policyNumber": "Q" }), true),
            (
                json!({}),
                json!({ "destinationServiceId": service(5) }),
                true,
            ),
            (json!({}), destination.clone(), true),
            (
                destination.clone(),
                json!({ "keyOwnership": "service_managed" }),
                true,
            ),
            (json!({}), json!({ "alg": "RSA-OAEP" }), false),
            (json!({}), json!({ "enc": "A128GCM" }), false),
            (destination, json!({ "headers": { "iat": true } }), false),
            (json!({}), json!({ "status": "inactive" }), false),
            (
                json!({ "status": "inactive" }),
                json!({ "status": "active" }),
                false,
            ),
            (passes.clone(), json!({ "status": "inactive" }), true),
            (json!({}), passes, false),
            (
                json!({ "status": "inactive" }),
                json!({ "failureMode": "passthrough" }),
                true,
            ),
            (
                json!({ "status": "inactive" }),
                json!({ "failureMode": "drop" }),
                false,
            ),
            (json!({}), json!({ "allowedServiceIds": [one, two] }), true),
            (json!({}), json!({ "allowedServiceIds": [two] }), true),
            (json!({}), json!({ "allowedServiceIds": ["*"] }), true),
            (
                json!({ "allowedServiceIds": ["*"] }),
                json!({ "allowedServiceIds": [one] }),
                false,
            ),
            (
                json!({}),
                json!({ "allowedOperations": ["protect"] }),
                false,
            ),
            (json!({}), json!({ "allowedOperations": ["rewrap"] }), true),
            (json!({}), json!({ "contextRequired": true }), false),
            (
                json!({ "contextRequired": true }),
                json!({ "contextRequired": false }),
                true,
            ),
            (json!({}), json!({ "requireBinding": true }), false),
            (
                json!({ "requireBinding": true }),
                json!({ "requireBinding": false }),
                true,
            ),
        ];
        check_members::<PolicyRequest>(&table, &[]);
        for (before, change, opens) in table {
            let (first, mut members) = (policy(&before), before.clone());
            merge(&mut members, &change);
            let kinds = Policy::kinds(Some(&first), Some(&policy(&members)));
            let expected: &[ChangeKind] = if opens {
                &[ChangeKind::PolicyOpen]
            } else {
                &[]
            };
            assert_eq!(kinds, expected, "{before} {change}");
        }
        let policy = policy(&json!({}));
        assert_eq!(Policy::kinds(None, Some(&policy)), [ChangeKind::PolicyOpen]);
        assert_eq!(Policy::kinds(Some(&policy), None), []);
    }

    #[test]
    fn an_api_key_opens_when_it_allows_more() {
        let networks = json!({ "allowedCidrs": ["192.0.2.0/24"] });
        let table = [
            (json!({}), json!({ "name": "other" }), false),
            (
                json!({ "roles": ["auditor"] }),
                json!({ "roles": ["auditor", "owner"] }),
                true,
            ),
            (
                json!({ "roles": ["auditor", "owner"] }),
                json!({ "roles": ["auditor"] }),
                false,
            ),
            (json!({}), json!({ "policyNumber": "P" }), true),
            (
                json!({ "policyNumber": "P" }),
                json!({ "policyNumber": "Q" }),
                true,
            ),
            (
                json!({ "policyNumber": "P" }),
                json!({ "policyNumber": null }),
                true,
            ),
            (json!({}), json!({ "allowedOperations": ["sign"] }), false),
            (
                json!({ "allowedOperations": ["sign"] }),
                json!({ "allowedOperations": null }),
                true,
            ),
            (
                json!({ "allowedOperations": ["sign"] }),
                json!({ "allowedOperations": ["hash"] }),
                true,
            ),
            (json!({}), networks.clone(), false),
            (networks.clone(), json!({ "allowedCidrs": null }), true),
            (
                networks.clone(),
                json!({ "allowedCidrs": ["192.0.2.128/25", "192.0.2.1/32"] }),
                false,
            ),
            (
                networks.clone(),
                json!({ "allowedCidrs": ["192.0.2.0/23"] }),
                true,
            ),
            (
                networks,
                json!({ "allowedCidrs": ["192.0.2.0/24", "::1/128"] }),
                true,
            ),
            (json!({}), json!({ "expiresAt": SOON }), false),
            (
                json!({ "expiresAt": LATE }),
                json!({ "expiresAt": SOON }),
                false,
            ),
            (
                json!({ "expiresAt": SOON }),
                json!({ "expiresAt": LATE }),
                true,
            ),
            (
                json!({ "expiresAt": SOON }),
                json!({ "expiresAt": null }),
                true,
            ),
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
                let kinds = ApiKey::kinds(Some(&first), Some(&second));
                let expected = opens.then_some(expected);
                assert_eq!(kinds, Vec::from_iter(expected), "{kind} {before} {change}");
            }
            let created = ApiKey::kinds(None, Some(&api_key(kind, &json!({}))));
            assert_eq!(created, [expected]);
        }
    }

    fn key(origin: Origin, status: Status) -> Key {
        Key {
            id: KeyId::from_uuid(Uuid::from_u128(6)),
            partner_kid: None,
            service_id: service(1),
            name: "n".to_owned(),
            usage: Usage::Enc,
            algorithm: Algorithm::Rsa3072,
            origin,
            status,
            token_name: None,
            extractable: None,
            public: None,
            expires_at: None,
            rotation_days: None,
            succeeds: None,
            retire_at: None,
            activated_at: None,
            destroy_at: None,
            revision: Revision::FIRST,
            created_at: now(),
            updated_at: now(),
        }
    }

    #[test]
    fn a_new_key_is_judged_by_its_origin_and_status() {
        for (origin, status, expected) in [
            (Origin::Generated, Status::Retired, &[][..]),
            (
                Origin::Generated,
                Status::Active,
                &[ChangeKind::KeyActivate],
            ),
            (Origin::Imported, Status::Retired, &[ChangeKind::KeyImport]),
            (
                Origin::Imported,
                Status::Active,
                &[ChangeKind::KeyImport, ChangeKind::KeyActivate],
            ),
            (Origin::Adopted, Status::Retired, &[ChangeKind::KeyAdopt]),
            (
                Origin::Adopted,
                Status::Active,
                &[ChangeKind::KeyAdopt, ChangeKind::KeyActivate],
            ),
        ] {
            let kinds = Key::kinds(None, Some(&key(origin, status)));
            assert_eq!(kinds, expected, "{origin} {status}");
        }
    }

    #[test]
    fn a_key_is_judged_by_the_status_that_it_reaches() {
        for from in Status::ALL {
            for to in Status::ALL {
                let of = |status| key(Origin::Imported, status);
                let kinds = Key::kinds(Some(&of(from)), Some(&of(to)));
                let expected = match (from, to) {
                    (Status::Active, Status::Active) => None,
                    (_, Status::Active) => Some(ChangeKind::KeyActivate),
                    (
                        Status::Active | Status::Retired | Status::Disabled,
                        Status::PendingDestruction | Status::Destroyed,
                    ) => Some(ChangeKind::KeyDestroy),
                    _ => None,
                };
                assert_eq!(kinds, Vec::from_iter(expected), "{from} {to}");
            }
        }
    }

    #[test]
    fn a_later_expiry_activates_only_an_expired_key() {
        let expiring = |at: Option<i64>| Key {
            expires_at: at.map(Timestamp::from_millis),
            ..key(Origin::Generated, Status::Active)
        };
        for (before, after, activates) in [
            (Some(NOW), Some(NOW + 1), true),
            (Some(NOW), None, true),
            (Some(NOW + 1), None, false),
            (None, Some(NOW + 1), false),
        ] {
            let kinds = Key::kinds(Some(&expiring(before)), Some(&expiring(after)));
            let expected = activates.then_some(ChangeKind::KeyActivate);
            assert_eq!(kinds, Vec::from_iter(expected), "{before:?} {after:?}");
        }
    }
}

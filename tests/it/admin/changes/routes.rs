//! Every management route with every member: what allows more is proposed, and all else is done.

use std::collections::BTreeSet;

use axum::http::Method;
use serde_json::{Value, json};

use super::{API_KEYS, Office, POLICIES, proposed};
use crate::support::conformance::document;
use crate::support::openssl::{private, public};
use crate::support::{Answer, Client};

/// A request that changes a resource: the members before, the change, and whether it allows more.
type Row = (Value, Value, bool);

/// The writing routes that the tests of this file cover.
const COVERED: [&str; 17] = [
    "POST /admin/policies",
    "PUT /admin/policies/{id}",
    "PATCH /admin/policies/{id}",
    "DELETE /admin/policies/{id}",
    "POST /admin/keys",
    "PUT /admin/keys/{id}",
    "PATCH /admin/keys/{id}",
    "DELETE /admin/keys/{id}",
    "POST /admin/api-keys",
    "PUT /admin/api-keys/{id}",
    "PATCH /admin/api-keys/{id}",
    "DELETE /admin/api-keys/{id}",
    "POST /admin/keys/import-parameters",
    "POST /admin/identities",
    "PUT /admin/identities/{id}",
    "PATCH /admin/identities/{id}",
    "DELETE /admin/identities/{id}",
];

/// The writing routes that never need approval: they open nothing, or are the approval itself.
const EXEMPT: [&str; 7] = [
    "POST /admin/services",
    "PUT /admin/services/{id}",
    "PATCH /admin/services/{id}",
    "DELETE /admin/services/{id}",
    "POST /admin/changes/{id}/approve",
    "POST /admin/changes/{id}/reject",
    "DELETE /admin/changes/{id}",
];

#[test]
fn every_writing_route_is_covered_or_exempt() {
    let paths = document()["paths"].as_object().expect("paths");
    let admin = paths.iter().filter(|(path, _)| path.starts_with("/admin/"));
    let found: BTreeSet<String> = admin
        .flat_map(|(path, item)| {
            let methods = item.as_object().expect("operations").keys();
            methods.map(move |method| format!("{} {path}", method.to_uppercase()))
        })
        .filter(|route| !route.starts_with("GET "))
        .collect();
    let known = COVERED
        .iter()
        .chain(&EXEMPT)
        .map(|route| (*route).to_owned());
    assert_eq!(found, known.collect());
}

fn merged(body: &Value, members: &Value) -> Value {
    let mut merged = body.clone();
    let members = members.as_object().expect("an object").clone();
    merged.as_object_mut().expect("an object").extend(members);
    merged
}

/// Makes each change with PUT and PATCH of a new resource.
async fn check_changes(
    office: &Office,
    client: &Client<'_>,
    place: &str,
    body: Value,
    rows: &[Row],
) {
    for (before, change, opens) in rows {
        for method in [Method::PUT, Method::PATCH] {
            let request = merged(&body, before);
            let created = office.open.admin().post(place, request).await.created();
            let path = created.header("location");
            let answer = if method == Method::PUT {
                client.put(path, change.clone()).await
            } else {
                client.patch(path, change.clone()).await
            };
            let note = format!("{method} {place} {before} {change}: {}", answer.body);
            check(&answer, *opens, &note);
            if *opens {
                let read = client.get(path).await.ok().json();
                let mut shown = created.json();
                shown.as_object_mut().expect("an object").remove("secret");
                assert_eq!(read, shown, "{note}");
            }
        }
    }
}

#[track_caller]
fn check(answer: &Answer, opens: bool, note: &str) {
    let expected = if opens { 202 } else { 200 };
    assert_eq!(answer.status, expected, "{note}");
}

#[tokio::test]
async fn policies() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let one = office.open.service("one").await;
    let two = office.open.service("two").await;
    let destination = json!({ "keyOwnership": "destination_managed" });
    let passes = json!({ "failureMode": "passthrough" });
    let rows = [
        (json!({}), json!({ "name": "other" }), false),
        (json!({}), json!({ "description": "text" }), false),
        (json!({}), json!({ "destinationServiceId": two }), true),
        (json!({}), destination.clone(), true),
        (
            destination.clone(),
            json!({ "keyOwnership": "service_managed" }),
            true,
        ),
        (destination, json!({ "headers": { "iat": true } }), false),
        (json!({}), json!({ "alg": "RSA-OAEP" }), false),
        (json!({}), json!({ "enc": "A128GCM" }), false),
        (json!({}), json!({ "status": "inactive" }), false),
        (passes.clone(), json!({ "status": "inactive" }), true),
        (json!({}), passes.clone(), false),
        (json!({ "status": "inactive" }), passes, true),
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
        (
            json!({}),
            json!({ "allowedOperations": ["protect", "rewrap"] }),
            true,
        ),
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
    let body = json!({ "name": "n", "destinationServiceId": one, "allowedServiceIds": [one],
        "allowedOperations": ["protect", "unprotect"] });
    check_changes(&office, &ada, POLICIES, body.clone(), &rows).await;
    proposed(&ada.post(POLICIES, body.clone()).await);
    let created = office.open.admin().post(POLICIES, body).await.created();
    let path = created.header("location");
    let renumbered = json!({ "policyNumber": "OTHER" });
    proposed(&ada.patch(path, renumbered).await);
    ada.delete(path).await.gone();
}

#[tokio::test]
async fn api_keys() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("one").await;
    let policy =
        json!({ "name": "n", "destinationServiceId": service, "allowedServiceIds": ["*"] });
    let numbers = ["P", "Q"].map(|number| merged(&policy, &json!({ "policyNumber": number })));
    for policy in numbers {
        office.open.admin().post(POLICIES, policy).await.created();
    }
    let (soon, late) = ("2040-01-01T00:00:00Z", "2041-01-01T00:00:00Z");
    let network = json!({ "allowedCidrs": ["192.0.2.0/24"] });
    let certificate = |number: u8| json!({ "certificateSha256": format!("{number:064x}") });
    let rows = [
        (json!({}), json!({ "name": "other" }), false),
        (
            network.clone(),
            json!({ "allowedCidrs": ["192.0.2.0/25"] }),
            false,
        ),
        (
            network.clone(),
            json!({ "allowedCidrs": ["192.0.2.0/23"] }),
            true,
        ),
        (network.clone(), json!({ "allowedCidrs": null }), true),
        (json!({}), network, false),
        (json!({}), certificate(1), false),
        (certificate(1), certificate(2), true),
        (certificate(1), json!({ "certificateSha256": null }), true),
        (json!({}), json!({ "expiresAt": soon }), false),
        (
            json!({ "expiresAt": late }),
            json!({ "expiresAt": soon }),
            false,
        ),
        (
            json!({ "expiresAt": soon }),
            json!({ "expiresAt": late }),
            true,
        ),
        (
            json!({ "expiresAt": soon }),
            json!({ "expiresAt": null }),
            true,
        ),
    ];
    let of_runtime = [
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
            json!({ "allowedOperations": ["sign", "hash"] }),
            json!({ "allowedOperations": ["hash"] }),
            false,
        ),
    ];
    let of_administrators = [
        (
            json!({ "roles": ["auditor"] }),
            json!({ "roles": ["auditor", "custodian"] }),
            true,
        ),
        (
            json!({ "roles": ["auditor", "custodian"] }),
            json!({ "roles": ["auditor"] }),
            false,
        ),
    ];
    let live = json!({ "name": "n", "type": "live", "serviceId": service });
    let admin = json!({ "name": "n", "type": "admin" });
    for (body, more, action) in [
        (live, &of_runtime[..], "credential.open"),
        (admin, &of_administrators[..], "api-key.admin"),
    ] {
        check_changes(&office, &ada, API_KEYS, body.clone(), &rows).await;
        check_changes(&office, &ada, API_KEYS, body.clone(), more).await;
        let change = proposed(&ada.post(API_KEYS, body.clone()).await);
        assert_eq!(change["action"], json!([action]));
        let created = office.open.admin().post(API_KEYS, body).await.created();
        ada.delete(created.header("location")).await.gone();
    }
}

#[tokio::test]
async fn identities() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("one").await;
    let policy = json!({ "name": "n", "destinationServiceId": service, "allowedServiceIds": ["*"],
        "policyNumber": "P" });
    office.open.admin().post(POLICIES, policy).await.created();
    let rule = |members: Value| json!({ "match": merged(&json!({ "issuer": "a" }), &members) });
    let spiffe = |name: &str| json!({ "match": { "spiffeId": format!("spiffe://a/{name}") } });
    let certificate = json!({ "match": { "certificateSha256": format!("{:064x}", 1) } });
    let disabled = json!({ "status": "disabled" });
    let rows = [
        (json!({}), json!({ "name": "other" }), false),
        (json!({}), disabled.clone(), false),
        (disabled, json!({ "status": "active" }), true),
        (json!({}), json!({ "policyNumber": "P" }), true),
        (json!({}), json!({ "allowedOperations": ["sign"] }), false),
        (
            json!({ "allowedOperations": ["sign"] }),
            json!({ "allowedOperations": ["sign", "hash"] }),
            true,
        ),
        (json!({}), rule(json!({ "subject": "c" })), true),
        (
            json!({}),
            rule(json!({ "subject": "b", "claims": { "d": "e" } })),
            false,
        ),
        (json!({}), spiffe("b"), true),
        (spiffe("b"), spiffe("b"), false),
        (spiffe("b"), spiffe("c"), true),
        (spiffe("b"), certificate.clone(), true),
        (certificate.clone(), certificate, false),
    ];
    let body = json!({ "name": "n", "serviceId": service,
        "match": { "issuer": "a", "subject": "b" } });
    check_changes(&office, &ada, "/admin/identities", body.clone(), &rows).await;
    let change = proposed(&ada.post("/admin/identities", body.clone()).await);
    assert_eq!(change["action"], json!(["credential.open"]));
    let created = office.open.admin().post("/admin/identities", body).await;
    let created = created.created();
    ada.delete(created.header("location")).await.gone();
}

#[tokio::test]
async fn keys() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("one").await;
    let generated = json!({ "serviceId": service, "generate": true, "algorithm": "P-256",
        "activate": false });
    let active = json!({ "activate": true });
    let rows = [
        (json!({}), json!({ "name": "other" }), false),
        (
            json!({}),
            json!({ "expiresAt": "2040-01-01T00:00:00Z" }),
            false,
        ),
        (json!({}), json!({ "rotationDays": 90 }), false),
        (json!({}), json!({ "status": "active" }), true),
        (json!({}), json!({ "status": "disabled" }), false),
        (active.clone(), json!({ "status": "retired" }), false),
        (active.clone(), json!({ "status": "disabled" }), false),
        (active.clone(), json!({ "rotationDays": null }), false),
    ];
    check_changes(&office, &ada, "/admin/keys", generated.clone(), &rows).await;
    ada.post("/admin/keys", generated.clone()).await.created();
    let public = json!({ "serviceId": service, "publicKey": public(&private("P-256")) });
    let adopted = json!({ "serviceId": service, "tokenObject": { "label": "x" } });
    for (body, action) in [
        (merged(&generated, &active), json!(["key.activate"])),
        (public.clone(), json!(["key.import", "key.activate"])),
        (
            merged(&public, &json!({ "activate": false })),
            json!(["key.import"]),
        ),
        (adopted.clone(), json!(["key.adopt", "key.activate"])),
        (
            merged(&adopted, &json!({ "activate": false })),
            json!(["key.adopt"]),
        ),
    ] {
        let change = proposed(&ada.post("/admin/keys", body).await);
        assert_eq!(change["action"], action);
    }
    let parameters = json!({ "mechanism": "RSA_OAEP_SHA1_AES_KWP" });
    let created = ada.post("/admin/keys/import-parameters", parameters).await;
    assert_eq!(created.status, 201, "{}", created.body);
    let created = office
        .open
        .admin()
        .post("/admin/keys", generated)
        .await
        .created();
    let path = created.header("location");
    let change = proposed(&ada.delete(path).await);
    assert_eq!(change["action"], json!(["key.destroy"]));
    office.open.admin().delete(path).await.gone();
    // A deleted key that is restored does nothing yet.
    ada.patch(path, json!({ "status": "disabled" })).await.ok();
}

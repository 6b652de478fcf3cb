//! Workload identities.

use serde_json::{Value, json};

use super::{check_changes, merged};
use crate::admin::changes::{Office, POLICIES, proposed};

#[tokio::test]
async fn only_changes_that_allow_more_are_proposed() {
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
        // The identities of earlier rows match what it gives up.
        (json!({}), rule(json!({ "subject": "b", "claims": { "d": "e" } })), true),
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
    let change = proposed(&ada.delete(created.header("location")).await);
    assert_eq!(change["action"], json!(["credential.open"]));
}

//! API keys of applications and of administrators.

use serde_json::json;

use super::{check_changes, merged};
use crate::admin::changes::{API_KEYS, Office, POLICIES, proposed};

#[tokio::test]
async fn only_changes_that_allow_more_are_proposed() {
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
        (network.clone(), json!({ "allowedCidrs": ["192.0.2.0/25"] }), false),
        (network.clone(), json!({ "allowedCidrs": ["192.0.2.0/23"] }), true),
        (network.clone(), json!({ "allowedCidrs": null }), true),
        (json!({}), network, false),
        (json!({}), certificate(1), false),
        (certificate(1), certificate(2), true),
        (certificate(1), json!({ "certificateSha256": null }), true),
        (json!({}), json!({ "expiresAt": soon }), false),
        (json!({ "expiresAt": late }), json!({ "expiresAt": soon }), false),
        (json!({ "expiresAt": soon }), json!({ "expiresAt": late }), true),
        (json!({ "expiresAt": soon }), json!({ "expiresAt": null }), true),
    ];
    let of_runtime = [
        (json!({}), json!({ "policyNumber": "P" }), true),
        (json!({ "policyNumber": "P" }), json!({ "policyNumber": "Q" }), true),
        (json!({ "policyNumber": "P" }), json!({ "policyNumber": null }), true),
        (json!({}), json!({ "allowedOperations": ["sign"] }), false),
        (json!({ "allowedOperations": ["sign"] }), json!({ "allowedOperations": null }), true),
        (
            json!({ "allowedOperations": ["sign", "hash"] }),
            json!({ "allowedOperations": ["hash"] }),
            false,
        ),
    ];
    let of_administrators = [
        (json!({ "roles": ["auditor"] }), json!({ "roles": ["auditor", "custodian"] }), true),
        (json!({ "roles": ["auditor", "custodian"] }), json!({ "roles": ["auditor"] }), false),
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

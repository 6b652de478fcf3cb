//! Policies.

use serde_json::json;

use super::check_changes;
use crate::admin::changes::{Office, POLICIES, proposed};

#[tokio::test]
async fn only_changes_that_allow_more_are_proposed() {
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
        (destination.clone(), json!({ "keyOwnership": "service_managed" }), true),
        (destination, json!({ "headers": { "iat": true } }), false),
        (json!({}), json!({ "alg": "RSA-OAEP" }), false),
        (json!({}), json!({ "alg": "ECDH-ES+A256KW" }), true),
        (json!({}), json!({ "enc": "A128GCM" }), false),
        (json!({}), json!({ "status": "inactive" }), false),
        (passes.clone(), json!({ "status": "inactive" }), true),
        (json!({}), passes.clone(), false),
        (json!({ "status": "inactive" }), passes, true),
        (json!({ "status": "inactive" }), json!({ "failureMode": "drop" }), false),
        (json!({}), json!({ "allowedServiceIds": [one, two] }), true),
        (json!({}), json!({ "allowedServiceIds": [two] }), true),
        (json!({}), json!({ "allowedServiceIds": ["*"] }), true),
        (json!({ "allowedServiceIds": ["*"] }), json!({ "allowedServiceIds": [one] }), false),
        (json!({}), json!({ "allowedOperations": ["protect"] }), false),
        (json!({}), json!({ "allowedOperations": ["protect", "rewrap"] }), true),
        (json!({}), json!({ "contextRequired": true }), false),
        (json!({ "contextRequired": true }), json!({ "contextRequired": false }), true),
        (json!({}), json!({ "requireBinding": true }), false),
        (json!({ "requireBinding": true }), json!({ "requireBinding": false }), true),
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
    // Restoring opens, whatever it changes.
    for change in [json!({}), json!({ "allowedOperations": ["protect"] })] {
        let restored = ada.post(&format!("{path}/restore"), change).await;
        assert_eq!(proposed(&restored)["action"], json!(["policy.open"]));
    }
}

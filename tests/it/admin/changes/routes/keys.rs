//! Keys.

use serde_json::json;

use super::{check_changes, merged};
use crate::admin::changes::{Office, proposed};
use testkit::openssl::{private, public};

#[tokio::test]
async fn only_changes_that_allow_more_are_proposed() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("one").await;
    let generated = json!({ "serviceId": service, "generate": true, "algorithm": "P-256",
        "activate": false });
    let active = json!({ "activate": true });
    let rows = [
        (json!({}), json!({ "name": "other" }), false),
        (json!({}), json!({ "expiresAt": "2040-01-01T00:00:00Z" }), false),
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
        (merged(&public, &json!({ "activate": false })), json!(["key.import"])),
        (adopted.clone(), json!(["key.adopt", "key.activate"])),
        (merged(&adopted, &json!({ "activate": false })), json!(["key.adopt"])),
    ] {
        let change = proposed(&ada.post("/admin/keys", body).await);
        assert_eq!(change["action"], action);
    }
    let parameters = json!({ "mechanism": "RSA_OAEP_SHA1_AES_KWP" });
    let created = ada.post("/admin/keys/import-parameters", parameters).await;
    assert_eq!(created.status, 201, "{}", created.body);
    let created = office.open.admin().post("/admin/keys", generated).await.created();
    let path = created.header("location");
    let change = proposed(&ada.delete(path).await);
    assert_eq!(change["action"], json!(["key.destroy"]));
    office.open.admin().delete(path).await.gone();
    // A deleted key that is restored does nothing yet.
    ada.patch(path, json!({ "status": "disabled" })).await.ok();
}

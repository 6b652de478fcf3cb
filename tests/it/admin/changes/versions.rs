//! Versions of keys whose creation needs approval.

use serde_json::{Value, json};

use super::{Office, approve, proposed};
use testkit::openssl::{private, public};

const KEYS: &str = "/admin/keys";

/// The import of a key that verifies signatures, with this version.
fn verifier(service: &str, version: &Value) -> Value {
    json!({ "serviceId": service, "use": "sig", "publicKey": public(&private("P-256")),
        "name": "orders", "version": version })
}

async fn applied(office: &Office, change: &Value) -> Value {
    let id = change["resourceId"].as_str().expect("an id");
    office.open.admin().get(&format!("{KEYS}/{id}")).await.ok().json()["version"].clone()
}

#[tokio::test]
async fn a_key_has_the_version_that_is_next_at_its_approval() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let service = office.open.service("billing").await;
    let body = json!({ "serviceId": service, "generate": true, "algorithm": "AES-256",
        "name": "cards" });
    let change = proposed(&ada.post(KEYS, body.clone()).await);
    assert_eq!(change["after"].get("version"), None);
    let created = office.open.admin().post(KEYS, body).await.created().json();
    assert_eq!(created["version"], 1);
    let change = approve(&bob, &change).await.ok().json();
    assert_eq!(applied(&office, &change).await, 2);
}

#[tokio::test]
async fn an_approver_sees_the_version_of_an_import() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let service = office.open.service("billing").await;
    let [change, late] = [
        proposed(&ada.post(KEYS, verifier(&service, &json!(4))).await),
        proposed(&ada.post(KEYS, verifier(&service, &json!(3))).await),
    ];
    assert_eq!(change["after"]["version"], 4);
    let change = approve(&bob, &change).await.ok().json();
    assert_eq!(applied(&office, &change).await, 4);
    // The name has a higher version in the meantime.
    approve(&bob, &late).await.refused(409, "CONFLICT");
    let again = ada.post(KEYS, verifier(&service, &json!(4))).await;
    again.refused(409, "CONFLICT");
}

#[tokio::test]
async fn a_key_of_another_kind_is_refused_before_it_is_proposed() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("billing").await;
    let body = |algorithm: &str| json!({ "serviceId": service, "generate": true, "algorithm": algorithm, "name": "cards" });
    office.open.admin().post(KEYS, body("AES-256")).await.created();
    ada.post(KEYS, body("AES-128")).await.refused(409, "CONFLICT");
}

//! Keys that need approval: nothing reaches the token before it.

use formats::algorithms::Algorithm;
use hsm::{KeyClass, KeyName, KeyRef, Purpose};
use serde_json::{Value, json};

use super::{Office, approve, proposed};
use crate::admin::keys::adopt::vendors_key_with_label;
use crate::admin::keys::wrapped::{parameters, pkcs8, wrap};
use testkit::openssl::{private, public};
use testkit::token;

const KEYS: &str = "/admin/keys";

async fn keys(office: &Office) -> usize {
    let listed = office.strict.admin().get(KEYS).await.ok().json();
    listed["items"].as_array().expect("items").len()
}

#[tokio::test]
async fn a_wrapped_key_is_imported_by_the_approval() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let service = office.open.service("partner").await;
    let key = private("P-256");
    let parameters = parameters(&office.open).await;
    let wrapped = wrap(&parameters, &pkcs8(&key));
    let body = json!({ "serviceId": service, "publicKey": public(&key), "wrappedKey": wrapped });
    let change = proposed(&ada.post(KEYS, body.clone()).await);
    assert_eq!(change["action"], json!(["key.import", "key.activate"]));
    assert_eq!(change["expiresAt"], parameters["expiresAt"]);
    let shown = &change["after"]["wrappedKey"];
    assert_eq!(shown["ciphertextSha256"].as_str().map(str::len), Some(64));
    assert_eq!(shown.get("ciphertext"), None);
    let ciphertext = wrapped["ciphertext"].as_str().expect("base64");
    let read = ada.get(&super::path(&change)).await.ok();
    assert!(!read.body.contains(ciphertext));
    assert_eq!(change["after"]["algorithm"], "P-256");
    assert_eq!(keys(&office).await, 0);

    let applied = approve(&bob, &change).await.ok().json();
    let id = applied["resourceId"].as_str().expect("an id");
    let key = ada.get(&format!("{KEYS}/{id}")).await.ok().json();
    assert_eq!((&key["hasPrivate"], &key["origin"]), (&json!(true), &json!("imported")));
    let again = ada.post(KEYS, body).await;
    again.invalid(&[("wrappedKey.importKeyId", "unknown")]);
}

/// The name of a key in the token can belong to another key when the change is approved.
#[tokio::test(flavor = "multi_thread")]
async fn an_adoption_is_approved_for_the_key_that_the_approver_saw() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let service = office.open.service("partner").await;
    let label = format!("vendor {:016x}", rand::random::<u64>());
    let envelope = (Algorithm::P256, Purpose::Envelope);
    vendors_key_with_label(&label, envelope.0, envelope.1).await;
    let body = json!({ "serviceId": service, "tokenObject": { "label": label } });
    let change = proposed(&ada.post(KEYS, body.clone()).await);
    assert_eq!(change["after"]["algorithm"], "P-256");
    assert_eq!(change["after"]["use"], "enc");
    let thumbprint = &change["after"]["thumbprint"];
    assert_eq!(thumbprint.as_str().map(str::len), Some(43));

    let token = token().await;
    let key = KeyRef { name: KeyName::Label(label.clone()), class: KeyClass::Private };
    token.destroy(&key).await.expect("no key");
    vendors_key_with_label(&label, envelope.0, envelope.1).await;
    let refused = approve(&bob, &change).await;
    refused.refused(409, "CONFLICT");
    assert_eq!(keys(&office).await, 0);

    let change = proposed(&ada.post(KEYS, body).await);
    assert_ne!(&change["after"]["thumbprint"], thumbprint);
    approve(&bob, &change).await.ok();
    assert_eq!(keys(&office).await, 1);
}

#[tokio::test]
async fn a_key_in_plaintext_cannot_be_proposed() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("partner").await;
    for source in [
        json!({ "privateKey": private("P-256") }),
        json!({ "secretKey": "AQAAAAAAAAAAAAAAAAAAAA==", "algorithm": "AES-128" }),
    ] {
        let mut body = source;
        body["serviceId"] = json!(service);
        let refused = ada.post(KEYS, body).await;
        refused.refused(403, "OPERATION_NOT_ALLOWED");
    }
    let stored: i64 = sqlx::query_scalar("SELECT count(*) FROM changes")
        .fetch_one(&office.open.pool)
        .await
        .expect("a count");
    assert_eq!(stored, 0);
}

#[tokio::test]
async fn a_public_key_without_use_for_envelopes_is_only_imported() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("partner").await;
    let import =
        |algorithm: &str| json!({ "serviceId": service, "publicKey": public(&private(algorithm)) });
    let action = |change: Value| change["action"].clone();
    let verifies = proposed(&ada.post(KEYS, import("Ed25519")).await);
    assert_eq!(action(verifies), json!(["key.import"]));
    let protects = proposed(&ada.post(KEYS, import("P-256")).await);
    assert_eq!(action(protects), json!(["key.import", "key.activate"]));
}

#[tokio::test]
async fn a_generated_key_is_made_by_the_approval() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let service = office.open.service("billing").await;
    let body = json!({ "serviceId": service, "generate": true, "algorithm": "P-256" });
    let change = proposed(&ada.post(KEYS, body.clone()).await);
    assert_eq!(change["action"], json!(["key.activate"]));
    assert_eq!(change["after"]["use"], "enc");
    assert_eq!(keys(&office).await, 0);
    let applied = approve(&bob, &change).await.ok().json();
    let id = applied["resourceId"].as_str().expect("an id").to_owned();
    let place = format!("{KEYS}/{id}");
    assert_eq!(ada.get(&place).await.ok().json()["status"], "active");

    let mut inactive = body;
    inactive["activate"] = json!(false);
    let created = ada.post(KEYS, inactive).await.created();
    let change = created.header("location");
    let change = proposed(&ada.patch(change, json!({ "status": "active" })).await);
    approve(&bob, &change).await.ok();
    assert_eq!(ada.get(&place).await.ok().json()["status"], "retired");
    let change = proposed(&ada.delete(&place).await);
    assert_eq!(change["action"], json!(["key.destroy"]));
    approve(&bob, &change).await.ok();
    assert_eq!(ada.get(&place).await.ok().json()["status"], "pending_destruction");
}

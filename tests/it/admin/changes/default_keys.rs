//! The default key of a service is another one after a change.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Office, proposed};

async fn key(office: &Office, service: &str) -> String {
    named(office, service, "cards").await
}

async fn named(office: &Office, service: &str, name: &str) -> String {
    let body = json!({ "serviceId": service, "generate": true, "algorithm": "AES-256",
        "name": name });
    let created = office.open.admin().post("/admin/keys", body).await.created();
    office.open.clock.advance(Duration::from_secs(1));
    created.header("location").to_owned()
}

#[tokio::test]
async fn a_change_that_moves_the_default_key_activates_another_one() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("billing").await;
    let first = key(&office, &service).await;
    let last = key(&office, &service).await;
    let sooner = json!({ "expiresAt": "2031-01-01T00:00:00Z" });
    let activation = json!(["key.activate"]);
    for change in [json!({ "status": "retired" }), json!({ "status": "disabled" }), sooner] {
        assert_eq!(proposed(&ada.patch(&last, change).await)["action"], activation);
    }
    let deletion = proposed(&ada.delete(&last).await);
    assert_eq!(deletion["action"], json!(["key.activate", "key.destroy"]));

    // The other key is not the default.
    let retired: Value = ada.patch(&first, json!({ "status": "retired" })).await.ok().json();
    assert_eq!(retired["status"], "retired");
    // Now no other key can replace the default.
    ada.patch(&last, json!({ "status": "disabled" })).await.ok();
}

/// The other key expires before it does, so that it would encrypt again.
#[tokio::test]
async fn a_later_expiry_of_a_key_that_is_not_the_default_activates_it() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("billing").await;
    let first = key(&office, &service).await;
    let last = key(&office, &service).await;
    for (key, expiry) in [(&first, "2031-01-01T00:00:00Z"), (&last, "2031-06-01T00:00:00Z")] {
        let admin = office.open.admin();
        admin.patch(key, json!({ "expiresAt": expiry })).await.ok();
    }
    for expiry in [json!("2032-01-01T00:00:00Z"), Value::Null] {
        let change = proposed(&ada.patch(&first, json!({ "expiresAt": expiry })).await);
        assert_eq!(change["action"], json!(["key.activate"]));
        ada.patch(&last, json!({ "expiresAt": expiry })).await.ok();
    }
}

/// The key would encrypt after the expiry of the default; the oldest one does it instead.
#[tokio::test]
async fn an_earlier_end_of_the_next_default_activates_another_key() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("billing").await;
    let _oldest = key(&office, &service).await;
    let next = key(&office, &service).await;
    let last = key(&office, &service).await;
    let expiry = json!({ "expiresAt": "2031-01-01T00:00:00Z" });
    office.open.admin().patch(&last, expiry).await.ok();
    let change = proposed(&ada.patch(&next, json!({ "status": "retired" })).await);
    assert_eq!(change["action"], json!(["key.activate"]));
    let never = json!({ "expiresAt": null });
    office.open.admin().patch(&last, never).await.ok();
    ada.patch(&next, json!({ "status": "retired" })).await.ok();
}

/// The successor of a key that does not protect now would protect.
#[tokio::test]
async fn the_rotation_of_a_key_that_is_not_the_default_activates_its_successor() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("billing").await;
    let first = key(&office, &service).await;
    let last = key(&office, &service).await;
    let rotation = json!({ "rotationDays": 1 });
    let change = proposed(&ada.patch(&first, rotation.clone()).await);
    assert_eq!(change["action"], json!(["key.activate"]));
    ada.patch(&last, rotation.clone()).await.ok();
    ada.patch(&last, json!({ "rotationDays": null })).await.ok();

    let now = office.open.clock.now();
    let expiry = json!({ "expiresAt": now.plus(Duration::from_secs(60)) });
    for key in [&first, &last] {
        office.open.admin().patch(key, expiry.clone()).await.ok();
    }
    office.open.clock.advance(Duration::from_secs(60));
    for key in [&first, &last] {
        let change = proposed(&ada.patch(key, rotation.clone()).await);
        assert_eq!(change["action"], json!(["key.activate"]));
    }
}

/// Another version of its name would encrypt, although a key with another name is the default of the service.
#[tokio::test]
async fn a_change_that_moves_the_default_of_a_name_activates_another_version() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("billing").await;
    let first = key(&office, &service).await;
    let second = key(&office, &service).await;
    let _default = named(&office, &service, "orders").await;
    let activation = json!(["key.activate"]);
    let change = proposed(&ada.patch(&second, json!({ "status": "disabled" })).await);
    assert_eq!(change["action"], activation);
    let sooner = json!({ "expiresAt": "2031-01-01T00:00:00Z" });
    assert_eq!(proposed(&ada.patch(&second, sooner).await)["action"], activation);
    ada.patch(&first, json!({ "status": "retired" })).await.ok();
    ada.patch(&second, json!({ "status": "disabled" })).await.ok();
}

/// The first version is the default of the service, and the second one that of the name.
#[tokio::test]
async fn the_rotation_of_an_earlier_version_activates_its_successor() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let service = office.open.service("billing").await;
    let first = key(&office, &service).await;
    let second = key(&office, &service).await;
    let admin = office.open.admin();
    for status in ["retired", "active"] {
        admin.patch(&first, json!({ "status": status })).await.ok();
    }
    let change = proposed(&ada.patch(&first, json!({ "rotationDays": 1 })).await);
    assert_eq!(change["action"], json!(["key.activate"]));
    admin.patch(&second, json!({ "status": "disabled" })).await.ok();
    ada.patch(&first, json!({ "rotationDays": 1 })).await.ok();
}

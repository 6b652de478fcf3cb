//! What administrators change.

use engine::change_kind::ChangeKind;
use engine::ids::ServiceId;
use futures_util::future::join_all;
use serde_json::json;

use super::{Site, Vault, data, refused};
use testkit::World;

#[tokio::test]
async fn an_administrator_creates_and_rotates_keys() {
    let site = Site::new().await;
    let admin = site.admin();
    let created = data(admin.write_nothing("transit/keys/orders").await);
    assert_eq!((&created["type"], &created["latest_version"]), (&json!("aes256-gcm96"), &json!(1)));
    let body = json!({ "type": "ecdsa-p384", "derived": "false", "exportable": false, "auto_rotate_period": "720h" });
    let created = data(admin.write("transit/keys/signer", body).await);
    assert_eq!(created["type"], "ecdsa-p384");
    assert_eq!(created["auto_rotate_period"], 30 * 86_400);
    // A key that exists stays, whatever the request wants.
    let again = data(admin.write("transit/keys/orders", json!({ "type": "rsa-2048" })).await);
    assert_eq!((&again["type"], &again["latest_version"]), (&json!("aes256-gcm96"), &json!(1)));
    let rotated = data(admin.write_nothing("transit/keys/orders/rotate").await);
    assert_eq!(
        (&rotated["latest_version"], rotated["keys"].as_object().unwrap().len()),
        (&json!(2), 2)
    );
    assert!(site.vault().encrypted("orders", "").await.starts_with("vault:v2:"));
    assert_eq!(data(admin.list("transit/keys").await), json!({ "keys": ["orders", "signer"] }));
    let answer = admin.write_nothing("transit/keys/missing/rotate").await;
    refused(&answer, 400, &["key not found"]);
}

#[tokio::test]
async fn a_rotated_key_keeps_its_schedule() {
    let site = Site::new().await;
    let admin = site.admin();
    let body = json!({ "auto_rotate_period": "48h0m0s" });
    data(admin.write("transit/keys/orders", body).await);
    let rotated = data(admin.write_nothing("transit/keys/orders/rotate").await);
    assert_eq!(rotated["auto_rotate_period"], 2 * 86_400);
    let keys = site.world.admin().get("/admin/keys?name=orders").await.ok().json();
    let days = keys["items"].as_array().unwrap().iter();
    let days: Vec<_> = days.map(|key| key["rotationDays"].clone()).collect();
    // Its successor is the next version too: a second schedule would make a second successor.
    assert_eq!(days, [json!(2), json!(null)]);
}

#[tokio::test]
async fn parallel_requests_create_one_version() {
    let site = Site::new().await;
    let create = || async { data(site.admin().write_nothing("transit/keys/orders").await) };
    for created in join_all((0..5).map(|_| create())).await {
        assert_eq!(created["latest_version"], 1);
    }
    let keys = site.world.admin().get("/admin/keys?name=orders").await.ok().json();
    assert_eq!(keys["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_row_that_does_not_count_gives_its_name_to_no_service() {
    let site = Site::new().await;
    let other = site.world.service("other").await;
    for (name, service) in [("gone", &site.service), ("alice", &other)] {
        let renamed = sqlx::query("UPDATE services SET name = $1 WHERE id = $2::uuid");
        let id: ServiceId = service.parse().unwrap();
        renamed.bind(name).bind(id.uuid()).execute(&site.world.pool).await.unwrap();
    }
    let admin = Vault::of(&site.world, site.world.admin_key()).with("x-vault-namespace", "alice");
    let answer = admin.write_nothing("transit/keys/orders").await;
    refused(&answer, 404, &["namespace not found"]);
}

#[tokio::test]
async fn wishes_that_keys_cannot_meet_are_refused() {
    let site = Site::new().await;
    let admin = site.admin();
    for wish in ["derived", "convergent_encryption", "exportable", "allow_plaintext_backup"] {
        for truth in [json!(true), json!("true")] {
            let answer = admin.write("transit/keys/orders", json!({ wish: truth })).await;
            let text = format!("{wish} is not supported: keys stay in the token");
            refused(&answer, 400, &[&text]);
        }
    }
    // SoftHSM2 lacks ML-DSA.
    for kind in ["chacha20-poly1305", "aes256-siv", "AES-256", "mldsa-65", ""] {
        let answer = admin.write("transit/keys/orders", json!({ "type": kind })).await;
        match kind {
            "" => drop(data(answer)),
            _ => refused(&answer, 400, &[&format!("unknown key type {kind}")]),
        }
    }
    for body in [json!({ "auto_rotate_period": "90m" }), json!({ "key_size": 64, "type": "hmac" })]
    {
        assert_eq!(admin.write("transit/keys/other", body).await.status, 400);
    }
}

#[tokio::test]
async fn config_accepts_what_is_so() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let admin = site.admin();
    for body in [
        json!({}),
        json!({ "deletion_allowed": false, "exportable": "false", "auto_rotate_period": 0 }),
        json!({ "min_decryption_version": 1, "min_encryption_version": "0" }),
    ] {
        admin.write("transit/keys/orders/config", body).await.gone();
    }
    for (member, value) in [
        ("deletion_allowed", json!(true)),
        ("min_decryption_version", json!(2)),
        ("auto_rotate_period", json!("24h")),
        ("exportable", json!(true)),
    ] {
        let answer = admin.write("transit/keys/orders/config", json!({ member: value })).await;
        let text = format!("{member} cannot be changed here: change the key at /admin/keys");
        refused(&answer, 400, &[&text]);
    }
    let answer = admin.delete("transit/keys/orders").await;
    refused(&answer, 400, &["delete the versions at /admin/keys"]);
}

#[tokio::test]
async fn applications_change_nothing() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    for path in ["", "/config", "/rotate", "/import", "/import_version"] {
        let answer = vault.write(&format!("transit/keys/orders{path}"), json!({})).await;
        refused(&answer, 403, &["permission denied"]);
    }
    let answer = vault.write("transit/keys/new", json!({})).await;
    refused(&answer, 403, &["permission denied"]);
    let answer = site.admin().write("transit/keys/new/import", json!({})).await;
    refused(&answer, 404, &["unsupported path"]);
    refused(&vault.delete("transit/keys/orders").await, 403, &["permission denied"]);
    refused(&vault.read("transit/keys/new").await, 404, &[]);
}

#[tokio::test]
async fn the_role_and_the_service_of_an_administrator_count() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    for (role, may_change) in [("custodian", true), ("policy-admin", false), ("auditor", false)] {
        let admin = site.world.administrator(&[role]).await;
        let token = admin.key.clone().unwrap();
        let admin = Vault::of(&site.world, &token).with("x-vault-namespace", "alice");
        data(admin.read("transit/keys/orders").await);
        let answer = admin.write_nothing("transit/keys/orders/rotate").await;
        match may_change {
            true => drop(data(answer)),
            false => refused(&answer, 403, &["permission denied"]),
        }
    }
    let nowhere = Vault::of(&site.world, site.world.admin_key());
    let text = "X-Vault-Namespace must name the service of the key: its id or its name";
    refused(&nowhere.read("transit/keys/orders").await, 400, &[text]);
    let elsewhere = nowhere.with("x-vault-namespace", "nobody");
    refused(&elsewhere.read("transit/keys/orders").await, 404, &["namespace not found"]);
}

#[tokio::test]
async fn an_administrator_operates_with_no_key() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let answer = site.admin().write("transit/encrypt/orders", json!({ "plaintext": "" })).await;
    refused(&answer, 403, &["permission denied"]);
}

#[tokio::test]
async fn a_change_that_needs_approval_is_proposed() {
    let world = World::with_approvals(&[ChangeKind::KeyActivate]).await;
    let service = world.service("alice").await;
    let admin = Vault::of(&world, world.admin_key()).with("x-vault-namespace", &service);
    let answer = admin.write_nothing("transit/keys/orders").await;
    let changes = world.admin().get("/admin/changes").await.ok().json();
    let change = changes["items"][0]["id"].as_str().unwrap();
    let text = format!("permission denied: change {change} waits for approval");
    refused(&answer, 403, &[&text]);
    refused(&admin.read("transit/keys/orders").await, 404, &[]);
}

#[tokio::test]
async fn refused_changes_are_security_events() {
    let site = Site::new().await;
    let vault = site.vault().with("x-request-id", "no-right");
    vault.write_nothing("transit/keys/orders").await;
    let events =
        site.world.admin().get("/admin/audit/management?requestId=no-right").await.ok().json();
    let event = &events["items"][0];
    assert_eq!(event["after"]["route"], "/v1/{mount}/keys/{name}");
}

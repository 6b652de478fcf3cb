//! `/admin/api-keys`.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use testkit::{Answer, PATIENCE, World, within};

#[tokio::test]
async fn a_key_is_shown_completely_only_once() {
    let world = World::new().await;
    let admin = world.admin();
    let service = world.service("billing").await;
    let body = json!({ "name": "billing", "type": "live", "serviceId": service });
    let created = admin.post("/admin/api-keys", body).await.created();
    let secret = created.text("secret");
    let hint = format!("sk_live_…{}", &secret[secret.len() - 4..]);
    let expected = json!({
        "id": created.json()["id"],
        "name": "billing",
        "type": "live",
        "serviceId": service,
        "person": null,
        "roles": [],
        "policyNumber": null,
        "allowedOperations": null,
        "allowedCidrs": null,
        "certificateSha256": null,
        "hint": hint,
        "status": "active",
        "expiresAt": null,
        "lastUsedAt": null,
        "createdAt": created.json()["createdAt"],
        "updatedAt": created.json()["createdAt"],
        "revokedAt": null,
    });
    let read = admin.get(created.header("location")).await.ok();
    assert_eq!(read.json(), expected);
    let list = admin.get("/admin/api-keys").await.ok();
    let events = admin.get("/admin/audit/management").await.ok();
    for shown in [&read.body, &list.body, &events.body] {
        assert!(!shown.contains(&secret));
    }
}

#[tokio::test]
async fn all_errors_of_a_body_are_reported_at_once() {
    let world = World::new().await;
    let admin = world.admin();
    let body = json!({
        "type": "live", "serviceId": "svc_01h455vb4pex5vsknk084sn02q", "policyNumber": "nothing",
        "allowedOperations": ["protect", "fly"], "allowedCidrs": ["10.0.0.1/8", "x", "::/0"],
        "expiresAt": "2020-01-01T00:00:00Z", "secret": "mine",
    });
    admin.post("/admin/api-keys", body).await.invalid(&[
        ("name", "required"),
        ("serviceId", "unknown"),
        ("policyNumber", "unknown"),
        ("allowedOperations[1]", "unsupported"),
        ("allowedCidrs[0]", "format"),
        ("allowedCidrs[1]", "format"),
        ("expiresAt", "range"),
        ("secret", "unknown"),
    ]);
    let body = json!({ "name": "n", "type": "test" });
    let refused = admin.post("/admin/api-keys", body).await;
    refused.invalid(&[("serviceId", "required")]);
    let service = world.service("billing").await;
    let body = json!({
        "name": "n", "type": "admin", "serviceId": service, "policyNumber": "p",
        "allowedOperations": ["sign"], "allowedCidrs": [], "expiresAt": "tomorrow",
    });
    admin.post("/admin/api-keys", body).await.invalid(&[
        ("serviceId", "conflict"),
        ("policyNumber", "conflict"),
        ("allowedOperations", "conflict"),
        ("allowedCidrs", "length"),
        ("expiresAt", "format"),
    ]);
}

#[tokio::test]
async fn a_response_can_be_put_back_and_type_and_service_stay() {
    let world = World::new().await;
    let admin = world.admin();
    let application = world
        .application("billing")
        .with("allowedCidrs", json!(["10.0.0.0/8", "192.0.2.1"]))
        .with("allowedOperations", json!(["sign", "protect"]))
        .with("expiresAt", json!("2999-01-01T00:00:00Z"))
        .await;
    let path = application.key_path();
    let read = admin.get(&path).await.ok();
    assert_eq!(read.json()["allowedCidrs"], json!(["10.0.0.0/8", "192.0.2.1/32"]));
    let same = admin.put(&path, read.json()).await.ok();
    assert_eq!(same.json(), read.json());

    let other = world.service("other").await;
    let body = json!({ "type": "test", "serviceId": other, "status": "revoked" });
    admin.put(&path, body).await.invalid(&[
        ("type", "conflict"),
        ("serviceId", "conflict"),
        ("status", "conflict"),
    ]);
    let number = world.policy(&other).await;
    let body = json!({ "policyNumber": number, "allowedOperations": null, "allowedCidrs": null });
    let changed = admin.put(&path, body).await.ok().json();
    assert_eq!(changed["policyNumber"], json!(number));
    assert_eq!(changed["allowedOperations"], json!(null));
    assert_eq!(changed["expiresAt"], json!("2999-01-01T00:00:00.000Z"));
}

#[tokio::test]
async fn a_revoked_key_is_kept_and_cannot_change() {
    let world = World::new().await;
    let admin = world.admin();
    let application = world.application("billing").await;
    let path = application.key_path();
    admin.delete(&path).await.gone();
    let revoked = admin.get(&path).await.ok().json();
    assert_eq!(revoked["status"], json!("revoked"));
    assert!(revoked["revokedAt"].is_string());
    let refused = admin.put(&path, json!({ "name": "again" })).await;
    refused.refused(409, "CONFLICT");
    admin.delete(&path).await.gone();
    assert_eq!(admin.get(&path).await.ok().json(), revoked);
    let list = admin.get("/admin/api-keys?status=revoked").await.ok();
    assert_eq!(list.json()["items"], json!([revoked]));
}

#[tokio::test]
async fn a_key_is_valid_until_it_expires() {
    let clock = Clock::held_at(Timestamp::from_millis(1_800_000_000_000));
    let world = World::at(clock.clone(), Stage::Development).await;
    let admin = world.admin();
    let expiry = clock.now().plus(Duration::from_secs(60)).to_string();
    let body = json!({ "name": "n", "type": "admin", "expiresAt": expiry });
    let created = admin.post("/admin/api-keys", body).await.created();
    let other = world.client(&created.text("secret"));
    other.get("/admin/services").await.ok();
    clock.advance(Duration::from_millis(59_999));
    other.get("/admin/services").await.ok();
    clock.advance(Duration::from_millis(1));
    let refused = other.get("/admin/services").await;
    refused.refused(401, "AUTHENTICATION_FAILED");
    let shown = admin.get(created.header("location")).await.ok();
    assert_eq!(shown.text("status"), "expired");
}

#[tokio::test]
async fn last_use_is_written_in_batches() {
    let world = World::new().await;
    let body = json!({ "name": "n", "type": "admin" });
    let created = world.admin().post("/admin/api-keys", body).await.created();
    let other = world.client(&created.text("secret"));
    for _ in 0..5 {
        other.get("/admin/services").await.ok();
    }
    let before = world.admin().get(created.header("location")).await.ok();
    assert_eq!(before.json()["lastUsedAt"], json!(null));
    let tag = before.header("etag").to_owned();
    let path = created.header("location").to_owned();
    let world = world.restarted().await;
    let after = world.admin().get(&path).await.ok();
    assert!(after.json()["lastUsedAt"].is_string());
    assert_eq!(after.header("etag"), tag, "use must not change the ETag");
}

/// A batch that waited for one key while it holds others could deadlock with a change of both.
#[tokio::test]
async fn a_key_that_is_being_changed_does_not_delay_the_last_uses_of_others() {
    let world = World::new().await;
    let mut keys = Vec::new();
    for name in ["changed", "other"] {
        let body = json!({ "name": name, "type": "admin" });
        keys.push(world.admin().post("/admin/api-keys", body).await.created());
    }
    let was_used = async |key: &Answer| {
        let shown = world.admin().get(key.header("location")).await.ok().json();
        shown["lastUsedAt"].is_string()
    };
    let mut change = world.pool.begin().await.expect("a transaction");
    sqlx::query("SELECT FROM api_keys WHERE name = 'changed' FOR SHARE")
        .execute(&mut *change)
        .await
        .expect("a lock");
    for key in &keys {
        let client = world.client(&key.text("secret"));
        client.get("/admin/services").await.ok();
    }
    within(PATIENCE, async || was_used(&keys[1]).await).await;
    assert!(!was_used(&keys[0]).await);
    change.commit().await.expect("the end of the change");
    within(PATIENCE, async || was_used(&keys[0]).await).await;
}

/// Authentication precedes the body, which may take as long as the time limit.
#[tokio::test]
async fn an_admin_key_revoked_during_a_slow_body_changes_nothing() {
    let world = World::new().await;
    let admin = world.admin();
    let service = format!("/admin/services/{}", world.service("billing").await);
    let changes = [
        (Method::POST, "/admin/api-keys", r#"{"name":"persistent","type":"#, r#""admin"}"#),
        (Method::PUT, service.as_str(), r#"{"description":"#, r#""changed"}"#),
    ];
    for (method, path, first, last) in changes {
        let body = json!({ "name": "short-lived", "type": "admin" });
        let key = admin.post("/admin/api-keys", body).await.created();
        let (send, pieces) = mpsc::channel::<&str>(1);
        let body = stream::unfold(pieces, |mut pieces| async {
            Some((Ok::<_, Infallible>(pieces.recv().await?), pieces))
        });
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {}", key.text("secret")))
            .header("content-type", "application/json")
            .body(Body::from_stream(body))
            .unwrap();
        let trickling = async {
            // The channel holds one chunk, so sending the second proves that the service reads the body.
            send.send(first).await.unwrap();
            send.send(" ").await.unwrap();
            let path = format!("/admin/api-keys/{}", key.text("id"));
            admin.delete(&path).await.gone();
            send.send(last).await.unwrap();
            drop(send);
        };
        let (answer, ()) = tokio::join!(world.send(request), trickling);
        answer.refused(401, "AUTHENTICATION_FAILED");
    }
    let unchanged = admin.get(&service).await.ok().json();
    assert_eq!(unchanged["description"], Value::Null);
    let live = admin.get("/admin/api-keys?status=active").await.ok().json();
    assert_eq!(live["items"].as_array().unwrap().len(), 1, "{live}");
}

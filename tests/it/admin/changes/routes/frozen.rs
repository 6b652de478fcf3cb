//! The end of a freeze.

use serde_json::json;

use super::super::{Office, approve, proposed, status};

const EMERGENCY: &str = "/admin/emergency";

#[tokio::test]
async fn a_service_is_frozen_at_once_and_unfrozen_with_approval() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let path = format!("/admin/services/{}", office.open.service("shop").await);
    ada.patch(&path, json!({ "status": "frozen" })).await.ok();
    let change = proposed(&ada.patch(&path, json!({ "status": "active" })).await);
    assert_eq!(change["action"], json!(["credential.open"]));
    assert_eq!(ada.get(&path).await.ok().text("status"), "frozen");
    // Other changes of a frozen service need none.
    ada.patch(&path, json!({ "description": "closed" })).await.ok();
    assert_eq!(status(&ada, &change).await, "stale");
    let change = proposed(&ada.put(&path, json!({ "status": "active" })).await);
    approve(&bob, &change).await.ok();
    assert_eq!(ada.get(&path).await.ok().text("status"), "active");
}

#[tokio::test]
async fn freezing_a_service_again_makes_its_pending_end_stale() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let path = format!("/admin/services/{}", office.open.service("shop").await);
    ada.patch(&path, json!({ "status": "frozen" })).await.ok();
    let change = proposed(&ada.patch(&path, json!({ "status": "active" })).await);
    bob.patch(&path, json!({})).await.ok();
    assert_eq!(status(&ada, &change).await, "pending");
    bob.patch(&path, json!({ "status": "frozen" })).await.ok();
    assert_eq!(status(&ada, &change).await, "stale");
    assert_eq!(ada.get(&path).await.ok().text("status"), "frozen");
}

#[tokio::test]
async fn other_changes_of_a_service_need_no_approval() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let rows = [
        (json!({}), json!({ "status": "frozen" }), false),
        (json!({ "status": "frozen" }), json!({ "status": "active" }), true),
        (json!({ "status": "frozen" }), json!({ "name": "n", "tier": "professional" }), false),
        (json!({}), json!({ "publishKeys": true, "description": "d" }), false),
    ];
    for (number, row) in rows.into_iter().enumerate() {
        // Each name is used once, and each row twice.
        for method in ["PUT", "PATCH"] {
            let mut body = json!({ "name": format!("{method} {number}") });
            body.as_object_mut().unwrap().extend(row.0.as_object().unwrap().clone());
            let created = office.open.admin().post("/admin/services", body).await.created();
            let path = created.header("location");
            let mut change = row.1.clone();
            if change.get("name").is_some() {
                change["name"] = json!(format!("{method} {number} again"));
            }
            let answer = match method {
                "PUT" => ada.put(path, change).await,
                _ => ada.patch(path, change).await,
            };
            super::check(&answer, row.2, &format!("{method} {row:?}: {}", answer.body));
        }
    }
}

#[tokio::test]
async fn everything_is_frozen_at_once_and_unfrozen_with_approval() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    ada.post(&format!("{EMERGENCY}/freeze"), json!({ "reason": "x" })).await.ok();
    let unfreeze = format!("{EMERGENCY}/unfreeze");
    let change = proposed(&ada.post(&unfreeze, json!({ "reason": "over" })).await);
    assert_eq!(change["action"], json!(["credential.open"]));
    assert_eq!(change["summary"], "Unfreeze all services");
    assert_eq!(ada.get(EMERGENCY).await.ok().text("status"), "frozen");
    for role in ["custodian", "policy-admin"] {
        let other = office.person(role, &[role]).await;
        approve(&other, &change).await.refused(403, "FORBIDDEN");
        let reject = format!("/admin/changes/{}/reject", change["id"].as_str().unwrap());
        other.post(&reject, json!({})).await.refused(403, "FORBIDDEN");
    }
    approve(&bob, &change).await.ok();
    let lifted = ada.get(EMERGENCY).await.ok();
    assert_eq!((lifted.text("status"), lifted.text("reason")), ("active".into(), "over".into()));
}

#[tokio::test]
async fn the_end_of_a_freeze_that_was_approved_too_late_is_stale() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let freeze = format!("{EMERGENCY}/freeze");
    ada.post(&freeze, json!({ "reason": "first" })).await.ok();
    let change = proposed(&ada.post_nothing(&format!("{EMERGENCY}/unfreeze")).await);
    let open = office.open.admin();
    open.post_nothing(&format!("{EMERGENCY}/unfreeze")).await.ok();
    open.post(&freeze, json!({ "reason": "second" })).await.ok();
    approve(&bob, &change).await.refused(409, "CONFLICT");
    assert_eq!(ada.get(EMERGENCY).await.ok().text("reason"), "second");
}

#[tokio::test]
async fn freezing_again_makes_a_pending_end_of_the_freeze_stale() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let freeze = format!("{EMERGENCY}/freeze");
    let first = ada.post(&freeze, json!({ "reason": "first" })).await.ok();
    let change = proposed(&ada.post_nothing(&format!("{EMERGENCY}/unfreeze")).await);
    let again = bob.post(&freeze, json!({ "reason": "again" })).await.ok();
    assert_eq!(again.json(), first.json());
    assert_eq!(status(&ada, &change).await, "stale");
    let id = change["id"].as_str().unwrap();
    let events = format!("/admin/audit/management?resourceId={id}");
    let listed = office.open.admin().get(&events).await.ok().json();
    let mut listed = listed["items"].as_array().unwrap().iter();
    assert!(listed.any(|it| it["action"] == "update" && it["after"]["status"] == "stale"));
    approve(&bob, &change).await.refused(409, "CONFLICT");
    assert_eq!(ada.get(EMERGENCY).await.ok().text("status"), "frozen");
}

//! Locks of people.

use serde_json::json;

use super::super::{Office, approve, proposed};

const PEOPLE: &str = "/admin/people";

#[tokio::test]
async fn a_lock_needs_no_approval_and_its_end_does() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let unseen = json!({ "subject": "eve", "reason": "r" });
    let eve = ada.post(PEOPLE, unseen).await.created();
    let path = eve.header("location").to_owned();
    let [lock, unlock] = ["lock", "unlock"].map(|step| format!("{path}/{step}"));
    let change = proposed(&ada.post_nothing(&unlock).await);
    assert_eq!(change["action"], json!(["api-key.admin"]));
    assert_eq!(change["summary"], "Unlock the person \u{201c}eve\u{201d}");
    assert_eq!(ada.get(&path).await.ok().text("status"), "locked");
    let applied = approve(&bob, &change).await.ok().json();
    assert_eq!(applied["status"], "applied");
    assert_eq!(applied["resourceId"], eve.json()["id"]);
    assert_eq!(ada.get(&path).await.ok().text("status"), "active");
    let locked = ada.post(&lock, json!({ "reason": "r" })).await.ok();
    assert_eq!(locked.text("status"), "locked");
}

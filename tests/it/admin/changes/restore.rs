//! Restorations of deleted policies.

use engine::change_kind::ChangeKind;
use serde_json::{Value, json};

use super::{Office, POLICIES, approve, proposed, status};

/// A deleted policy of a new service, by its path.
async fn deleted(office: &Office, name: &str) -> String {
    let admin = office.open.admin();
    let created = admin.post(POLICIES, office.policy(name).await).await.created();
    let path = created.header("location").to_owned();
    admin.delete(&path).await.gone();
    path
}

#[tokio::test]
async fn an_approved_restoration_is_made() {
    let office = Office::requiring(&[ChangeKind::PolicyOpen], 1).await;
    let [ada, bob] = office.two_owners().await;
    let path = deleted(&office, "one").await;
    let wider = json!({ "allowedServiceIds": ["*"], "policyNumber": "AGAIN" });
    let change = proposed(&ada.post(&format!("{path}/restore"), wider).await);
    assert_eq!(change["action"], json!(["policy.open"]));
    assert_eq!(change["summary"], "Restore the policy \u{201c}one\u{201d}");
    assert_eq!(change["before"]["policyNumber"], "POL-000001");
    assert_eq!(change["after"]["policyNumber"], "AGAIN");
    assert_eq!(change["after"]["status"], "inactive");
    ada.get(&path).await.refused(404, "POLICY_NOT_FOUND");
    let applied = approve(&bob, &change).await.ok().json();
    assert_eq!(applied["status"], "applied");
    let id = path.rsplit('/').next();
    assert_eq!(applied["resourceId"].as_str(), id);
    let restored = ada.get(&path).await.ok().json();
    for member in ["policyNumber", "status", "allowedServiceIds"] {
        assert_eq!(restored[member], change["after"][member], "{member}");
    }
    let events =
        format!("/admin/audit/management?action=restore&resourceId={}", id.expect("an id"));
    let events = office.open.admin().get(&events).await.ok().json();
    assert_eq!(events["items"][0]["change_id"], change["id"]);
    assert_eq!(events["items"][0]["approved_by"], json!(["bob"]));
}

#[tokio::test]
async fn a_restoration_whose_policy_was_restored_is_stale() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let path = deleted(&office, "one").await;
    let restore = format!("{path}/restore");
    let change = proposed(&ada.post(&restore, json!({})).await);
    office.open.admin().post(&restore, json!({})).await.ok();
    assert_eq!(status(&ada, &change).await, "stale");
    approve(&bob, &change).await.refused(409, "CONFLICT");
}

#[tokio::test]
async fn a_restoration_whose_number_was_taken_is_stale() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let path = deleted(&office, "one").await;
    let change = proposed(&ada.post(&format!("{path}/restore"), json!({})).await);
    let mut other: Value = office.policy("two").await;
    other["policyNumber"] = json!("POL-000001");
    office.open.admin().post(POLICIES, other).await.created();
    let refused = approve(&bob, &change).await.refused(409, "CONFLICT");
    assert!(refused.message().contains("number POL-000001"), "{}", refused.message());
    assert_eq!(status(&ada, &change).await, "stale");
}

#[tokio::test]
async fn a_proposed_restoration_is_sent_again() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let path = deleted(&office, "one").await;
    let ada = ada.with("idempotency-key", "k");
    let first = ada.post(&format!("{path}/restore"), json!({})).await;
    let again = ada.post(&format!("{path}/restore"), json!({})).await;
    assert_eq!(proposed(&again), proposed(&first));
    assert_eq!(again.header("idempotency-replayed"), "true");
}

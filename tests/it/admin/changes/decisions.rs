//! Who decides about changes, and until when.

use std::time::Duration;

use engine::change_kind::ChangeKind;
use futures_util::future::{join, join_all};
use serde_json::json;

use super::{API_KEYS, Office, POLICIES, approve, path, proposed, reject, status};
use testkit::{Client, rewrite};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::test]
async fn only_another_person_with_the_role_approves() {
    let office = Office::new().await;
    let ada = office.person("ada", &["policy-admin"]).await;
    let change = proposed(&ada.post(POLICIES, office.policy("one").await).await);
    let same_person = office.person("ada", &["owner"]).await;
    let nobody = office.key(None, &["owner"]).await;
    let custodian = office.person("bob", &["custodian"]).await;
    let auditor = office.person("eve", &["auditor"]).await;
    for (who, message) in [
        (&ada, "Another person than the proposer must decide about the change"),
        (&same_person, "Another person than the proposer must decide about the change"),
        (&nobody, "Only a credential with a person can decide about changes"),
        (&custodian, "Requires the role owner or policy-admin"),
        (&auditor, "Requires the role owner or policy-admin"),
    ] {
        for refused in [approve(who, &change).await, reject(who, &change).await] {
            assert_eq!(refused.refused(403, "FORBIDDEN").message(), message);
        }
    }
    assert_eq!(status(&ada, &change).await, "pending");
    let bob = office.person("bob", &["policy-admin"]).await;
    approve(&bob, &change).await.ok();
}

#[tokio::test]
async fn a_proposal_without_a_person_needs_one_approval_more() {
    let office = Office::new().await;
    let nobody = office.key(None, &["owner"]).await;
    let [ada, bob] = office.two_owners().await;
    let change = proposed(&nobody.post(POLICIES, office.policy("one").await).await);
    assert_eq!(change["required"], 2);
    assert_eq!(change["proposedBy"]["person"], json!(null));
    assert_eq!(approve(&ada, &change).await.ok().json()["status"], "pending");
    let twice = office.person("ada", &["owner"]).await;
    let refused = approve(&twice, &change).await.refused(403, "FORBIDDEN");
    let message = "You have approved the change: another person must approve it too";
    assert_eq!(refused.message(), message);
    let applied = approve(&bob, &change).await.ok().json();
    assert_eq!(applied["status"], "applied");
    let people = applied["approvals"].as_array().expect("approvals").iter();
    assert!(people.map(|approval| &approval["person"]).eq(["ada", "bob"]));
}

/// Proposes an admin key of an owner, which another person approves, and returns a client with it.
async fn key_of<'o>(
    office: &'o Office,
    creator: &Client<'_>,
    approver: &Client<'_>,
    person: &str,
) -> Client<'o> {
    let body = json!({ "name": person, "type": "admin", "person": person });
    let answer = creator.post(API_KEYS, body).await;
    approve(approver, &proposed(&answer)).await.ok();
    office.strict.client(&answer.text("secret"))
}

#[tokio::test]
async fn a_key_and_its_creator_do_not_approve_each_other() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    // Ada saw the key of Carla, and with it that of Dan.
    let carla = key_of(&office, &ada, &bob, "carla").await;
    let dan = key_of(&office, &carla, &bob, "dan").await;
    for (name, proposer, approver) in [
        ("one", &ada, &carla),
        ("two", &carla, &ada),
        ("three", &ada, &dan),
        ("four", &dan, &carla),
        ("five", &carla, &dan),
    ] {
        let change = proposed(&proposer.post(POLICIES, office.policy(name).await).await);
        let refused = approve(approver, &change).await.refused(403, "FORBIDDEN");
        let message = "A person of this change created the API key of another person and may know \
                       it: a different person must approve the change";
        assert_eq!(refused.message(), message);
        reject(approver, &change).await.ok();
    }
    let change = proposed(&dan.post(POLICIES, office.policy("six").await).await);
    approve(&bob, &change).await.ok();
}

#[tokio::test]
async fn two_keys_of_one_creator_are_one_approval() {
    let office = Office::requiring(&ChangeKind::ALL, 2).await;
    let [ada, bob] = office.two_owners().await;
    let eve = office.person("eve", &["owner"]).await;
    let body = json!({ "name": "carla", "type": "admin", "person": "carla" });
    let answer = ada.post(API_KEYS, body).await;
    let change = proposed(&answer);
    for approver in [&bob, &eve] {
        approve(approver, &change).await.ok();
    }
    let carla = office.strict.client(&answer.text("secret"));
    let change = proposed(&bob.post(POLICIES, office.policy("one").await).await);
    approve(&ada, &change).await.ok();
    approve(&carla, &change).await.refused(403, "FORBIDDEN");
    let applied = approve(&eve, &change).await.ok().json();
    assert_eq!(applied["status"], "applied");
}

#[tokio::test]
async fn a_creator_without_a_person_creates_no_key_of_a_person() {
    let office = Office::new().await;
    let nobody = office.key(None, &["owner"]).await;
    let mut body = json!({ "name": "n", "type": "admin", "person": "carla" });
    let refused = nobody.post(API_KEYS, body.clone()).await;
    refused.invalid(&[("person", "conflict")]);
    body["person"] = json!(null);
    proposed(&nobody.post(API_KEYS, body).await);
}

#[tokio::test]
async fn an_approval_counts_only_while_its_credential_has_the_role() {
    let office = Office::requiring(&ChangeKind::ALL, 2).await;
    let [ada, bob] = office.two_owners().await;
    let eve = office.person("eve", &["owner"]).await;
    let change = proposed(&ada.post(POLICIES, office.policy("one").await).await);
    approve(&bob, &change).await.ok();
    office.open.admin().delete(&bob.key_path()).await.gone();
    let pending = approve(&eve, &change).await.ok().json();
    assert_eq!(pending["status"], "pending");
    assert_eq!(pending["approvals"][0]["person"], "eve");
    let dan = office.person("dan", &["owner"]).await;
    assert_eq!(approve(&dan, &change).await.ok().json()["status"], "applied");
}

#[tokio::test]
async fn a_raised_number_of_approvals_applies_to_pending_changes() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let eve = office.person("eve", &["owner"]).await;
    let change = proposed(&ada.post(POLICIES, office.policy("one").await).await);
    assert_eq!(change["required"], 1);
    let stricter = office.open.requiring(&ChangeKind::ALL, 2).await;
    let bob = stricter.client(bob.key.as_deref().expect("a key"));
    let pending = approve(&bob, &change).await.ok().json();
    assert_eq!((&pending["status"], &pending["required"]), (&json!("pending"), &json!(2)));
    // An instance that requires fewer approvals does not lower the number.
    let applied = approve(&eve, &change).await.ok().json();
    assert_eq!(applied["status"], "applied");
    assert_eq!(applied["required"], 2);
}

#[tokio::test]
async fn a_person_approves_again_after_the_first_key_was_revoked() {
    let office = Office::requiring(&ChangeKind::ALL, 2).await;
    let [ada, bob] = office.two_owners().await;
    let change = proposed(&ada.post(POLICIES, office.policy("one").await).await);
    approve(&bob, &change).await.ok();
    office.open.admin().delete(&bob.key_path()).await.gone();
    let bob = office.person("bob", &["owner"]).await;
    let pending = approve(&bob, &change).await.ok().json();
    assert_eq!(pending["status"], "pending");
    assert_eq!(pending["approvals"].as_array().expect("approvals").len(), 1);
    approve(&bob, &change).await.refused(403, "FORBIDDEN");
}

/// More of them than the database has connections for the instance.
#[tokio::test]
async fn many_approvals_at_once_do_not_wait_for_each_other() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let mut changes = Vec::new();
    for number in 0..12 {
        let request = office.policy(&format!("policy {number}")).await;
        changes.push(proposed(&ada.post(POLICIES, request).await));
    }
    let approvals = changes.iter().map(|change| approve(&bob, change));
    for approval in join_all(approvals).await {
        assert_eq!(approval.ok().json()["status"], "applied");
    }
}

#[tokio::test]
async fn two_approvals_at_once_make_the_change_once() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let eve = office.person("eve", &["owner"]).await;
    let change = proposed(&ada.post(POLICIES, office.policy("one").await).await);
    let (one, two) = join(approve(&bob, &change), approve(&eve, &change)).await;
    let mut statuses = [one.status.as_u16(), two.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{} {}", one.body, two.body);
    let policies = ada.get(POLICIES).await.ok().json();
    assert_eq!(policies["items"].as_array().expect("items").len(), 1);
}

#[tokio::test]
async fn a_rejected_or_withdrawn_change_is_decided() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let change = proposed(&ada.post(POLICIES, office.policy("one").await).await);
    let rejected = reject(&bob, &change).await.ok().json();
    assert_eq!(rejected["status"], "rejected");
    assert_eq!(rejected["rejection"]["person"], "bob");
    assert_eq!(rejected["rejection"]["comment"], "not now");
    check_decided(&ada, &bob, &rejected).await;

    let change = proposed(&ada.post(POLICIES, office.policy("two").await).await);
    bob.delete(&path(&change)).await.refused(403, "FORBIDDEN");
    ada.delete(&path(&change)).await.gone();
    assert_eq!(status(&ada, &change).await, "withdrawn");
    check_decided(&ada, &bob, &change).await;
    let applied = proposed(&ada.post(POLICIES, office.policy("three").await).await);
    approve(&bob, &applied).await.ok();
    check_decided(&ada, &bob, &applied).await;
}

#[tokio::test]
async fn a_change_expires_after_three_days() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let change = proposed(&ada.post(POLICIES, office.policy("one").await).await);
    office.open.clock.advance(3 * DAY);
    assert_eq!(status(&ada, &change).await, "expired");
    let listed = ada.get("/admin/changes?status=expired").await.ok().json();
    assert_eq!(listed["items"][0]["id"], change["id"]);
    check_decided(&ada, &bob, &change).await;
}

#[tokio::test]
async fn a_change_of_the_resource_makes_the_proposal_stale() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let policy = office.open.admin().post(POLICIES, office.policy("one").await).await.created();
    let place = policy.header("location");
    let change = proposed(&ada.patch(place, json!({ "allowedServiceIds": ["*"] })).await);
    bob.patch(place, json!({ "description": "other" })).await.ok();
    check_decided(&ada, &bob, &change).await;
    assert_eq!(status(&ada, &change).await, "stale");
    // A change past the service, which marks no pending change as stale.
    let change = proposed(&ada.patch(place, json!({ "allowedServiceIds": ["*"] })).await);
    rewrite(&office.open.pool, "UPDATE policies SET description = 'another'").await;
    let stale = approve(&bob, &change).await.refused(409, "CONFLICT");
    let message = "The change is stale: the resource was changed in the meantime";
    assert_eq!(stale.message(), message);
    assert_eq!(status(&ada, &change).await, "stale");
}

#[tokio::test]
async fn the_proposer_still_needs_the_role_at_the_approval() {
    let office = Office::new().await;
    let bob = office.person("bob", &["owner"]).await;
    for (demotion, message) in [
        (Some(json!({ "roles": ["auditor"] })), "requires the role owner or policy-admin"),
        (None, "the API key was revoked or has expired"),
    ] {
        let ada = office.person("ada", &["policy-admin", "auditor"]).await;
        let request = office.policy(message).await;
        let change = proposed(&ada.post(POLICIES, request).await);
        match demotion {
            Some(demotion) => drop(bob.patch(&ada.key_path(), demotion).await.ok()),
            None => bob.delete(&ada.key_path()).await.gone(),
        }
        let stale = approve(&bob, &change).await.refused(409, "CONFLICT");
        assert_eq!(stale.message(), format!("The change is stale: {message}"));
        assert_eq!(status(&bob, &change).await, "stale");
    }
    assert_eq!(bob.get(POLICIES).await.ok().json()["items"], json!([]));
}

/// Asserts that nothing can decide the change again.
async fn check_decided(proposer: &Client<'_>, other: &Client<'_>, change: &serde_json::Value) {
    approve(other, change).await.refused(409, "CONFLICT");
    reject(other, change).await.refused(409, "CONFLICT");
    proposer.delete(&path(change)).await.refused(409, "CONFLICT");
}

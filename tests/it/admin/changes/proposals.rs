//! What a proposal answers, and what its approval makes.

use engine::change_kind::ChangeKind;
use serde_json::json;

use super::{API_KEYS, CHANGES, Office, POLICIES, approve, path, proposed, status};

#[tokio::test]
async fn an_approval_makes_the_proposed_change() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let request = office.policy("payments").await;
    let change = proposed(&ada.post(POLICIES, request).await);
    assert_eq!(change["action"], json!(["policy.open"]));
    assert_eq!(change["summary"], "Create the policy “payments”");
    let proposer = json!({ "person": "ada", "apiKeyId": ada.key_id, "name": "n" });
    assert_eq!(change["proposedBy"], proposer);
    assert_eq!(change["proposedAt"], "2030-03-17T17:46:40.000Z");
    assert_eq!(change["expiresAt"], "2030-03-20T17:46:40.000Z");
    assert_eq!((&change["required"], &change["approvals"]), (&json!(1), &json!([])));
    assert_eq!(change["before"], json!(null));
    assert_eq!(change["after"]["name"], "payments");
    assert_eq!(ada.get(POLICIES).await.ok().json()["items"], json!([]));

    let comment = json!({ "comment": "as agreed" });
    let approved = bob.post(&format!("{}/approve", path(&change)), comment).await;
    let approved = approved.ok().json();
    assert_eq!(approved["status"], "applied");
    let at = "2030-03-17T17:46:40.000Z";
    let approval = json!([{ "person": "bob", "at": at, "comment": "as agreed" }]);
    assert_eq!(approved["approvals"], approval);
    let policy = approved["resourceId"].as_str().expect("an id");
    let policy = ada.get(&format!("{POLICIES}/{policy}")).await.ok().json();
    assert_eq!(policy["name"], "payments");
    assert_eq!(bob.get(&path(&change)).await.ok().json(), approved);

    let events = "/admin/audit/management?resourceType=policy&action=create";
    let event = ada.get(events).await.ok().json()["items"][0].clone();
    assert_eq!(event["api_key_id"], json!(ada.key_id));
    assert_eq!(event["change_id"], change["id"]);
    assert_eq!(event["approved_by"], json!(["bob"]));
    let events = format!("/admin/audit/management?resourceId={}", change["id"].as_str().unwrap());
    let events = ada.get(&events).await.ok().json();
    let actions = events["items"].as_array().expect("items").iter();
    let mut actions: Vec<_> =
        actions.map(|event| (event["action"].as_str(), &event["api_key_id"])).collect();
    // Events of one millisecond have no order.
    actions.sort_by_key(|(action, _)| *action);
    let (ada, bob) = (json!(ada.key_id), json!(bob.key_id));
    assert_eq!(actions, [(Some("approve"), &bob), (Some("create"), &ada)]);
}

#[tokio::test]
async fn only_owners_see_admin_keys_in_changes() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let body = json!({ "name": "laptop", "type": "admin" });
    let change = proposed(&ada.post(API_KEYS, body).await);
    let policy = proposed(&ada.post(POLICIES, office.policy("payments").await).await);
    approve(&bob, &change).await.ok();
    let seen = bob.get(&path(&change)).await.ok().json();
    assert_eq!(seen["summary"], "Create the API key “laptop”");
    assert_eq!(seen["proposedBy"]["apiKeyId"], json!(ada.key_id));
    let created = seen["resourceId"].as_str().expect("an id");

    let hidden = json!({ "person": "ada", "apiKeyId": null, "name": "admin key" });
    for role in ["custodian", "policy-admin", "auditor"] {
        let reader = office.person(role, &[role]).await;
        let seen = reader.get(&path(&change)).await.ok().json();
        assert_eq!(seen["summary"], "Create the API key", "{role}");
        assert_eq!((&seen["resourceId"], &seen["after"]), (&json!(null), &json!(null)), "{role}");
        assert_eq!(seen["proposedBy"], hidden, "{role}");
        let seen = reader.get(&path(&policy)).await.ok().json();
        assert_eq!(seen["summary"], "Create the policy “payments”", "{role}");
        assert_eq!(seen["proposedBy"], hidden, "{role}");
        let listed = reader.get(CHANGES).await.ok().body;
        for secret in [ada.key_id.as_deref().expect("an id"), created, "laptop"] {
            assert!(!listed.contains(secret), "{role}: {listed}");
        }
    }
    // Everybody sees their own key.
    let paula = office.person("paula", &["policy-admin"]).await;
    let own = proposed(&paula.post(POLICIES, office.policy("invoices").await).await);
    assert_eq!(own["proposedBy"]["apiKeyId"], json!(paula.key_id));
    let seen = paula.get(&path(&own)).await.ok().json();
    assert_eq!(seen["proposedBy"]["apiKeyId"], json!(paula.key_id));
}

#[tokio::test]
async fn changes_are_listed_by_status_and_action() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let first = proposed(&ada.post(POLICIES, office.policy("one").await).await);
    let body = json!({ "name": "n", "type": "admin" });
    let second = proposed(&ada.post(API_KEYS, body).await);
    approve(&bob, &first).await.ok();
    for (query, expected) in [
        ("", vec![&first, &second]),
        ("?status=pending", vec![&second]),
        ("?status=applied", vec![&first]),
        ("?action=api-key.admin", vec![&second]),
        ("?action=key.import", vec![]),
    ] {
        let listed = ada.get(&format!("{CHANGES}{query}")).await.ok().json();
        let ids = listed["items"].as_array().expect("items").iter();
        let ids: Vec<_> = ids.map(|change| &change["id"]).collect();
        let mut expected: Vec<_> = expected.into_iter().map(|change| &change["id"]).collect();
        // Changes of one millisecond are in the order of their identifiers.
        expected.sort_by_key(|id| id.as_str());
        assert_eq!(ids, expected, "{query}");
    }
    let wrong = ada.get("/admin/changes?status=done").await;
    wrong.invalid(&[("status", "unsupported")]);
    let missing = ada.get("/admin/changes/chg_01h455vb4pex5vsknk084sn02q").await;
    missing.refused(404, "CHANGE_NOT_FOUND");
}

/// Every role reads changes. Only owners see the states of admin keys.
#[tokio::test]
async fn changes_of_admin_keys_show_their_states_to_owners_only() {
    let office = Office::new().await;
    let [ada, _] = office.two_owners().await;
    let auditor = office.person("eve", &["auditor"]).await;
    let body = json!({ "name": "n", "type": "admin" });
    let key = proposed(&ada.post(API_KEYS, body).await);
    let policy = proposed(&ada.post(POLICIES, office.policy("one").await).await);
    assert_eq!(ada.get(&path(&key)).await.ok().json()["after"]["type"], "admin");
    assert_eq!(auditor.get(&path(&key)).await.ok().json()["after"], json!(null));
    assert_eq!(auditor.get(&path(&policy)).await.ok().json()["after"]["name"], "one");
}

#[tokio::test]
async fn a_proposed_api_key_authenticates_only_after_the_approval() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let body = json!({ "name": "next", "type": "admin", "roles": ["auditor"] });
    let answer = ada.post(API_KEYS, body).await;
    let change = proposed(&answer);
    let secret = answer.text("secret");
    let next = office.strict.client(&secret);
    let refused = next.get("/admin/services").await;
    refused.refused(401, "AUTHENTICATION_FAILED");
    let read = ada.get(&path(&change)).await.ok();
    assert!(!read.body.contains(&secret) && read.json().get("secret").is_none());
    let stored = "SELECT count(*) FROM changes WHERE call::text LIKE '%' || $1 || '%'";
    let stored: i64 = sqlx::query_scalar(stored)
        .bind(&secret)
        .fetch_one(&office.open.pool)
        .await
        .expect("a count");
    assert_eq!(stored, 0);

    let approved = approve(&bob, &change).await.ok();
    assert!(approved.json().get("secret").is_none(), "{}", approved.body);
    next.get("/admin/services").await.ok();
}

#[tokio::test]
async fn a_proposal_that_is_sent_again_gets_the_first_answer() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let ada = ada.with("idempotency-key", "order 4711");
    let body = json!({ "name": "next", "type": "admin" });
    let first = ada.post(API_KEYS, body.clone()).await;
    let change = proposed(&first);
    let again = ada.post(API_KEYS, body).await;
    assert_eq!(again.header("idempotency-replayed"), "true");
    let mut expected = first.json();
    expected["secret"] = json!(null);
    assert_eq!(again.json(), expected);
    assert_eq!(proposed(&again)["id"], change["id"]);
    let other = ada.post(API_KEYS, json!({ "name": "x", "type": "admin" })).await;
    other.refused(409, "CONFLICT");

    let bob = bob.with("idempotency-key", "approval");
    let first = approve(&bob, &change).await.ok();
    let again = approve(&bob, &change).await.ok();
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.json(), first.json());
    assert_eq!(first.json()["status"], "applied");
    // The body of a decision can be left out.
    let cy = office.person("cy", &["owner"]).await;
    let cy = cy.with("idempotency-key", "nothing");
    let approval = format!("{}/approve", path(&change));
    cy.post_nothing(&approval).await.refused(409, "CONFLICT");
    let keys = ada.get("/admin/api-keys?name=next").await.ok().json();
    assert_eq!(keys["items"].as_array().expect("items").len(), 1);
}

#[tokio::test]
async fn only_listed_kinds_and_admin_keys_need_approval() {
    let office = Office::requiring(&[ChangeKind::KeyDestroy], 1).await;
    let [ada, _] = office.two_owners().await;
    ada.post(POLICIES, office.policy("one").await).await.created();
    proposed(&ada.post(API_KEYS, json!({ "name": "n", "type": "admin" })).await);
}

#[tokio::test]
async fn an_approved_change_applies_on_another_instance() {
    let office = Office::new().await;
    let [ada, bob] = office.two_owners().await;
    let other = office.open.requiring(&ChangeKind::ALL, 1).await;
    let created = office.open.admin().post(POLICIES, office.policy("one").await).await.created();
    let place = created.header("location").to_owned();
    let wider = json!({ "allowedServiceIds": ["*"] });
    let change = proposed(&ada.patch(&place, wider).await);
    let approval = other.client(bob.key.as_ref().expect("a key"));
    approve(&approval, &change).await.ok();
    assert_eq!(status(&bob, &change).await, "applied");
    let policy = office.strict.admin().get(&place).await.ok().json();
    assert_eq!(policy["allowedServiceIds"], json!(["*"]));
}

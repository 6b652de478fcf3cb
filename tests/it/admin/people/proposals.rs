//! Locks and changes that need approval.

use engine::change_kind::ChangeKind;
use serde_json::{Value, json};

use super::{PEOPLE, key_of, lock, lock_by_entry, path, person, unlock};
use testkit::{Answer, Client, PATIENCE, World, within};

const CHANGES: &str = "/admin/changes";

/// Ada, Bob and Eve are owners on an instance where changes need approval.
struct Office {
    open: World,
    strict: World,
}

impl Office {
    async fn requiring(approvers: u8) -> Self {
        let open = World::new().await;
        let strict = open.requiring(&ChangeKind::ALL, approvers).await;
        Self { open, strict }
    }

    async fn owners(&self) -> [Client<'_>; 3] {
        let mut owners = Vec::new();
        for name in ["ada", "bob", "eve"] {
            let key = key_of(&self.open, name, &["owner"]).await.key.expect("a key");
            owners.push(self.strict.client(&key));
        }
        owners.try_into().unwrap_or_else(|_| unreachable!())
    }

    /// Proposes a policy.
    async fn proposed_by(&self, client: &Client<'_>) -> Value {
        let service = self.open.service("one").await;
        let body =
            json!({ "name": "n", "destinationServiceId": service, "allowedServiceIds": ["*"] });
        accepted(&client.post("/admin/policies", body).await)
    }
}

#[track_caller]
fn accepted(answer: &Answer) -> Value {
    assert_eq!(answer.status, 202, "{}", answer.body);
    answer.json()
}

fn change_path(change: &Value) -> String {
    format!("{CHANGES}/{}", change["id"].as_str().expect("an id"))
}

async fn approve(client: &Client<'_>, change: &Value) -> Answer {
    client.post(&format!("{}/approve", change_path(change)), json!({})).await
}

async fn status(client: &Client<'_>, change: &Value) -> String {
    client.get(&change_path(change)).await.ok().text("status")
}

#[tokio::test]
async fn pending_proposals_of_a_locked_person_become_stale() {
    for by_entry in [false, true] {
        let office = Office::requiring(1).await;
        let [ada, bob, eve] = office.owners().await;
        let change = office.proposed_by(&ada).await;
        let of_ada = person(&bob, "ada").await;
        if by_entry {
            lock_by_entry(&office.open, "ada").await;
        } else {
            lock(&bob, &of_ada).await.ok();
        }
        assert_eq!(status(&bob, &change).await, "stale");
        let listed = bob.get(&format!("{CHANGES}?status=stale")).await.ok().json();
        assert_eq!(listed["items"][0]["id"], change["id"]);
        let pending = bob.get(&format!("{CHANGES}?status=pending")).await.ok().json();
        assert_eq!(pending["items"], json!([]));
        let refused = approve(&bob, &change).await.refused(409, "CONFLICT");
        assert_eq!(refused.message(), "The change is stale");
        // And stay so.
        let unlocking = accepted(&unlock(&bob, &of_ada).await);
        approve(&eve, &unlocking).await.ok();
        assert_eq!(status(&ada, &change).await, "stale");
        approve(&bob, &change).await.refused(409, "CONFLICT");
    }
}

#[tokio::test]
async fn approvals_of_a_locked_person_no_longer_count() {
    for by_entry in [false, true] {
        let office = Office::requiring(2).await;
        let [ada, bob, eve] = office.owners().await;
        let change = office.proposed_by(&ada).await;
        approve(&bob, &change).await.ok();
        if by_entry {
            lock_by_entry(&office.open, "bob").await;
        } else {
            lock(&ada, &person(&ada, "bob").await).await.ok();
        }
        let pending = approve(&eve, &change).await.ok().json();
        assert_eq!(pending["status"], "pending");
        assert_eq!(pending["approvals"].as_array().expect("approvals").len(), 1);
        assert_eq!(pending["approvals"][0]["person"], "eve");
    }
}

#[tokio::test]
async fn an_approval_does_not_count_again_after_the_lock() {
    let office = Office::requiring(2).await;
    let [ada, bob, eve] = office.owners().await;
    let change = office.proposed_by(&ada).await;
    approve(&bob, &change).await.ok();
    let of_bob = person(&ada, "bob").await;
    lock(&ada, &of_bob).await.ok();
    unlock(&office.open.admin(), &of_bob).await.ok();
    let shown = ada.get(&change_path(&change)).await.ok().json();
    assert_eq!(shown["approvals"], json!([]));
    within(PATIENCE, async || bob.get(PEOPLE).await.status == 200).await;
    assert_eq!(approve(&eve, &change).await.ok().text("status"), "pending");
    assert_eq!(approve(&bob, &change).await.ok().text("status"), "applied");
}

/// Otherwise an approval from before the second lock would end it.
#[tokio::test]
async fn another_lock_makes_the_unlocking_stale() {
    let office = Office::requiring(1).await;
    let [ada, bob, _] = office.owners().await;
    let of_eve = person(&ada, "eve").await;
    lock(&ada, &of_eve).await.ok();
    let change = accepted(&unlock(&ada, &of_eve).await);
    lock_by_entry(&office.open, "eve").await;
    approve(&bob, &change).await.refused(409, "CONFLICT");
    assert_eq!(ada.get(&path(&of_eve)).await.ok().text("status"), "locked");
}

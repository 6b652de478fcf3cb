//! Changes that need approval, whose rows are hidden for a moment.

use engine::change_kind::ChangeKind;
use serde_json::{Value, json};

use super::Intruder;
use testkit::{Answer, Client, PATIENCE, World, within};

/// Ada, Bob and Eve are owners on an instance where changes need approval.
struct Office {
    open: World,
    strict: World,
    keys: Vec<String>,
}

impl Office {
    async fn requiring(approvers: u8) -> Self {
        let open = World::new().await;
        let strict = open.requiring(&ChangeKind::ALL, approvers).await;
        let mut keys = Vec::new();
        for name in ["ada", "bob", "eve"] {
            let body = json!({ "name": name, "type": "admin", "person": name });
            let created = open.admin().post("/admin/api-keys", body).await.created();
            keys.push(created.text("secret"));
        }
        Self { open, strict, keys }
    }

    fn owners(&self) -> [Client<'_>; 3] {
        let clients: Vec<_> = self.keys.iter().map(|key| self.strict.client(key)).collect();
        clients.try_into().unwrap_or_else(|_| unreachable!())
    }

    async fn proposed_by(&self, client: &Client<'_>) -> String {
        let service = self.open.service("one").await;
        let body =
            json!({ "name": "n", "destinationServiceId": service, "allowedServiceIds": ["*"] });
        let proposed = client.post("/admin/policies", body).await;
        assert_eq!(proposed.status, 202, "{}", proposed.body);
        format!("/admin/changes/{}", proposed.text("id"))
    }

    /// Locks a person and unlocks them, while nobody sees the pending changes.
    async fn lock_and_unlock(&self, subject: &str) {
        let admin = self.open.admin();
        let people: Value = admin.get("/admin/people").await.ok().json();
        let people = people["items"].as_array().expect("people").iter();
        let mut named = people.filter(|person| person["subject"] == subject);
        let person = named.next().expect("the person")["id"].as_str().expect("an id").to_owned();
        let path = format!("/admin/people/{person}");
        let intruder = Intruder::of(&self.open);
        intruder.keep(&self.open, "changes").await;
        intruder.run("UPDATE changes SET status = 'rejected'").await;
        admin.post(&format!("{path}/lock"), json!({ "reason": "r" })).await.ok();
        admin.post_nothing(&format!("{path}/unlock")).await.ok();
        intruder.put_back("changes").await;
    }
}

async fn approve(client: &Client<'_>, change: &str) -> Answer {
    client.post(&format!("{change}/approve"), json!({})).await
}

#[tokio::test]
async fn an_approval_that_was_away_at_the_end_of_a_lock_does_not_count_again() {
    let office = Office::requiring(2).await;
    let [ada, bob, eve] = office.owners();
    let change = office.proposed_by(&ada).await;
    approve(&bob, &change).await.ok();
    office.lock_and_unlock("bob").await;
    within(PATIENCE, async || bob.get("/admin/people").await.status == 200).await;
    assert_eq!(approve(&eve, &change).await.ok().text("status"), "pending");
    assert_eq!(approve(&bob, &change).await.ok().text("status"), "applied");
}

#[tokio::test]
async fn a_proposal_that_was_away_at_the_end_of_a_lock_is_not_made() {
    let office = Office::requiring(1).await;
    let [ada, bob, _] = office.owners();
    let change = office.proposed_by(&ada).await;
    office.lock_and_unlock("ada").await;
    within(PATIENCE, async || ada.get("/admin/people").await.status == 200).await;
    approve(&bob, &change).await.refused(409, "CONFLICT");
    assert_eq!(bob.get(&change).await.ok().text("status"), "stale");
}

#[tokio::test]
async fn a_list_marks_a_change_that_does_not_count() {
    let office = Office::requiring(1).await;
    let [ada, bob, _] = office.owners();
    let change = office.proposed_by(&ada).await;
    let listed = async || bob.get("/admin/changes").await.ok().json()["items"][0].clone();
    assert_eq!(listed().await.get("sealValid"), None);
    Intruder::of(&office.open).run("UPDATE changes SET summary = 'Something else'").await;
    assert_eq!(listed().await["sealValid"], false);
    bob.get(&change).await.refused(404, "CHANGE_NOT_FOUND");
    approve(&bob, &change).await.refused(404, "CHANGE_NOT_FOUND");
}

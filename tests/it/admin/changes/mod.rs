//! Changes that need the approval of other people.

mod decisions;
mod default_keys;
mod failures;
mod identities;
mod keys;
mod proposals;
mod restore;
mod routes;
mod versions;

use engine::change_kind::ChangeKind;
use engine::settings::Stage;
use formats::clock::{Clock, Timestamp};
use serde_json::{Value, json};

use testkit::{Answer, Client, World};

const API_KEYS: &str = "/admin/api-keys";
const POLICIES: &str = "/admin/policies";
const CHANGES: &str = "/admin/changes";

/// Two instances with one database: changes need approval on one of them only.
struct Office {
    open: World,
    strict: World,
}

impl Office {
    /// Every kind of change needs one approval.
    async fn new() -> Self {
        Self::requiring(&ChangeKind::ALL, 1).await
    }

    async fn requiring(kinds: &[ChangeKind], approvers: u8) -> Self {
        let clock = Clock::held_at(Timestamp::from_millis(1_900_000_000_000));
        let open = World::at(clock, Stage::Development).await;
        let strict = open.requiring(kinds, approvers).await;
        Self { open, strict }
    }

    /// A client of a person, on the instance where changes need approval.
    async fn person(&self, name: &str, roles: &[&str]) -> Client<'_> {
        self.key(Some(name), roles).await
    }

    /// A client with a new admin key.
    async fn key(&self, person: Option<&str>, roles: &[&str]) -> Client<'_> {
        let body = json!({ "name": "n", "type": "admin", "roles": roles, "person": person });
        let created = self.open.admin().post(API_KEYS, body).await.created();
        let secret = created.text("secret");
        let mut client = self.strict.client(&secret);
        client.key = Some(secret);
        client.key_id = Some(created.text("id"));
        client
    }

    /// An owner who proposes, and another one who approves.
    async fn two_owners(&self) -> [Client<'_>; 2] {
        [self.person("ada", &["owner"]).await, self.person("bob", &["owner"]).await]
    }

    /// A request that creates a policy.
    async fn policy(&self, name: &str) -> Value {
        let service = self.open.service(name).await;
        json!({ "name": name, "destinationServiceId": service, "allowedServiceIds": [service] })
    }
}

/// The proposed change of a 202 answer.
#[track_caller]
fn proposed(answer: &Answer) -> Value {
    assert_eq!(answer.status, 202, "{}", answer.body);
    let change = answer.json();
    assert_eq!(answer.header("location"), path(&change));
    assert_eq!(change["status"], "pending");
    assert_eq!(change["resourceId"], json!(null));
    change
}

fn path(change: &Value) -> String {
    format!("{CHANGES}/{}", change["id"].as_str().expect("an id"))
}

async fn approve(client: &Client<'_>, change: &Value) -> Answer {
    let path = format!("{}/approve", path(change));
    client.post(&path, json!({})).await
}

async fn reject(client: &Client<'_>, change: &Value) -> Answer {
    let path = format!("{}/reject", path(change));
    client.post(&path, json!({ "comment": "not now" })).await
}

/// The status of a change.
async fn status(client: &Client<'_>, change: &Value) -> String {
    client.get(&path(change)).await.ok().text("status")
}

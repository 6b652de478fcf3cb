//! People, and the locks that cut them off.

mod locks;
mod owners;
mod proposals;
mod resource;

use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use testkit::{Answer, Client, World, pool};

const PEOPLE: &str = "/admin/people";

/// The person with this subject.
async fn person(client: &Client<'_>, subject: &str) -> Value {
    let people = client.get(PEOPLE).await.ok().json()["items"].clone();
    let mut people = people.as_array().expect("people").iter();
    let found = people.find(|person| person["subject"] == subject);
    found.unwrap_or_else(|| panic!("no {subject}")).clone()
}

async fn lock(client: &Client<'_>, person: &Value) -> Answer {
    let reason = json!({ "reason": "left the company" });
    client.post(&format!("{}/lock", path(person)), reason).await
}

async fn unlock(client: &Client<'_>, person: &Value) -> Answer {
    client.post_nothing(&format!("{}/unlock", path(person))).await
}

fn path(person: &Value) -> String {
    format!("{PEOPLE}/{}", person["id"].as_str().expect("an id"))
}

/// An admin key of a person with these roles.
async fn key_of<'w>(world: &'w World, name: &str, roles: &[&str]) -> Client<'w> {
    let body = json!({ "name": "n", "type": "admin", "roles": roles, "person": name });
    let created = world.admin().post("/admin/api-keys", body).await.created();
    let secret = created.text("secret");
    let mut client = world.client(&secret);
    client.key = Some(secret);
    client.key_id = Some(created.text("id"));
    client
}

/// Locks a person with the login of the service alone, as `sealward emergency lock-person` does.
async fn lock_by_entry(world: &World, subject: &str) {
    let sql = format!(
        "INSERT INTO revisions SELECT 'people', id, revision + 1, 'locked' FROM people
          WHERE subject = '{subject}'"
    );
    let login = pool(world.as_application());
    let entry = sqlx::query(AssertSqlSafe(sql)).execute(&login);
    assert_eq!(entry.await.expect("an entry").rows_affected(), 1);
}

//! People, whose groups give them roles, and who can be locked.

use formats::clock::Clock;
use serde_json::{Value, json};

use super::Intruder;
use testkit::{Client, OidcProvider, PATIENCE, World, within};

/// Owners and auditors read it.
const EVENTS: &str = "/admin/audit/management";

/// A custodian who writes to the database.
#[tokio::test]
async fn a_person_gets_no_role_from_the_database() {
    for tampering in [
        "UPDATE people SET roles = '{owner}', issued_at = '2100-01-01'",
        "UPDATE people SET roles = '{owner}', revision = revision + 1, issued_at = '2100-01-01';
         INSERT INTO revisions SELECT 'people', id, revision, 'changed' FROM people",
    ] {
        let provider = OidcProvider::start();
        let admin = provider.admin("http://127.0.0.1:8080");
        let world = World::with_admin(Clock::system(), admin).await;
        let token = provider.tokens("carla").await.access_token;
        world.client(&token).get(EVENTS).await.refused(403, "FORBIDDEN");
        Intruder::of(&world).run(tampering).await;
        within(PATIENCE, async || world.client(&token).get(EVENTS).await.status == 401).await;
        let later = provider.tokens("carla").await.access_token;
        world.client(&later).get(EVENTS).await.refused(401, "AUTHENTICATION_FAILED");
    }
}

/// Olivia is locked, and her row was kept before.
struct Locked {
    provider: OidcProvider,
    world: World,
    intruder: Intruder,
    key: String,
}

impl Locked {
    async fn new() -> Self {
        let provider = OidcProvider::start();
        let admin = provider.admin("http://127.0.0.1:8080");
        let world = World::with_admin(Clock::system(), admin).await;
        let token = provider.tokens("olivia").await.access_token;
        world.client(&token).get(EVENTS).await.ok();
        // The provider says that access tokens identify people.
        let body = json!({ "name": "n", "type": "admin", "person": "olivia" });
        let key = world.admin().post("/admin/api-keys", body).await.created().text("secret");
        world.client(&key).get(EVENTS).await.ok();
        let intruder = Intruder::of(&world);
        intruder.keep(&world, "people").await;
        let people: Value = world.admin().get("/admin/people").await.ok().json();
        let path =
            format!("/admin/people/{}/lock", people["items"][0]["id"].as_str().expect("an id"));
        world.admin().post(&path, json!({ "reason": "r" })).await.ok();
        Self { provider, world, intruder, key }
    }

    /// Runs a statement of the owner of the schema.
    async fn run_as_owner(&self, sql: &'static str) {
        sqlx::raw_sql(sql).execute(&self.world.pool).await.expect("a change");
    }

    /// The person is locked for their key, on a new instance too, and for new tokens.
    async fn assert_locked(&self) {
        let other =
            self.world.another_admitting(self.provider.admin("http://127.0.0.1:8080")).await;
        for world in [&self.world, &other] {
            let token = self.provider.tokens("olivia").await.access_token;
            for credential in [&self.key, &token] {
                let client: Client<'_> = world.client(credential);
                client.get(EVENTS).await.refused(401, "AUTHENTICATION_FAILED");
            }
        }
    }
}

#[tokio::test]
async fn a_locked_person_stays_locked_whatever_becomes_of_the_row() {
    let locked = Locked::new().await;
    for tampering in [
        "UPDATE people SET locked_at = NULL, locked_by = NULL, lock_reason = NULL",
        "UPDATE people SET seal = NULL",
        // Olivia has no row then, and gets no other.
        "UPDATE people SET subject = 'another'",
    ] {
        locked.intruder.run(tampering).await;
        locked.assert_locked().await;
        locked.intruder.put_back("people").await;
        // An older row has the lock of the later entry.
        locked.assert_locked().await;
    }
    locked.run_as_owner("DELETE FROM people").await;
    locked.assert_locked().await;
}

#[tokio::test]
async fn a_person_who_was_locked_by_an_entry_is_not_unlocked_by_an_older_row() {
    let locked = Locked::new().await;
    let path =
        locked.world.admin().get("/admin/people").await.ok().json()["items"][0]["id"].clone();
    let path = format!("/admin/people/{}/unlock", path.as_str().expect("an id"));
    locked.world.admin().post_nothing(&path).await.ok();
    locked.world.client(&locked.key).get(EVENTS).await.ok();
    // The row of before the lock is older than the end of the lock.
    locked.intruder.put_back("people").await;
    locked
        .intruder
        .run(
            "INSERT INTO revisions SELECT 'people', id, max(revision) + 1, 'locked' FROM revisions
               WHERE table_name = 'people' GROUP BY id",
        )
        .await;
    within(PATIENCE, async || locked.world.client(&locked.key).get(EVENTS).await.status == 401)
        .await;
    locked.assert_locked().await;
}

/// The login of the service cannot even delete the row.
#[tokio::test]
async fn the_login_deletes_no_person() {
    let locked = Locked::new().await;
    for sql in ["DELETE FROM people", "DELETE FROM locked_people", "TRUNCATE people"] {
        let refused = sqlx::query(sql).execute(&locked.intruder.pool).await;
        let refused = refused.expect_err(sql).to_string();
        assert!(refused.contains("permission denied"), "{sql}: {refused}");
    }
}

//! Revocations and losses of roles that commit while a change of the same administrator is in progress.

use serde_json::json;
use sqlx::{PgConnection, Postgres, Transaction};

use testkit::{Answer, Client, PATIENCE, World, begin_to_rewrite, within};

/// An owner with the name `author`, and a service to change.
struct Race {
    world: World,
    service: String,
}

impl Race {
    async fn new() -> Self {
        let world = World::new().await;
        let service = format!("/admin/services/{}", world.service("billing").await);
        Self { world, service }
    }

    /// A transaction that executed `sql` and is not committed.
    async fn holding(&self, sql: &'static str) -> Transaction<'static, Postgres> {
        let mut holder = self.world.pool.begin().await.expect("a transaction");
        let held = sqlx::query(sql).execute(&mut *holder).await.expect("a lock");
        assert_eq!(held.rows_affected(), 1);
        holder
    }

    /// Renames the service. `during` runs while the change waits for a lock.
    async fn renamed_by(&self, author: &Client<'_>, during: impl Future<Output = ()>) -> Answer {
        let renamed = author.put(&self.service, json!({ "name": "renamed" }));
        let (answer, ()) = tokio::join!(renamed, during);
        answer
    }

    async fn wait_for_change(&self) {
        let mut connection = self.world.pool.acquire().await.expect("a connection");
        within(PATIENCE, async || is_waiting(&mut connection).await).await;
    }

    async fn name(&self) -> String {
        self.world.admin().get(&self.service).await.ok().text("name")
    }
}

/// Whether a connection waits for a lock.
async fn is_waiting(connection: &mut PgConnection) -> bool {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM pg_stat_activity
                         WHERE datname = current_database() AND wait_event_type = 'Lock')",
    )
    .fetch_one(connection)
    .await
    .expect("the activity")
}

#[tokio::test]
async fn a_revocation_that_commits_before_a_change_refuses_it() {
    let race = Race::new().await;
    let author = race.world.administrator(&["owner"]).await;
    let holder = race.holding("SELECT FROM services FOR UPDATE").await;
    let answer = race.renamed_by(&author, async {
        race.wait_for_change().await;
        race.world.revoke(&author).await;
        holder.commit().await.expect("release the lock");
    });
    answer.await.refused(401, "AUTHENTICATION_FAILED");
    assert_eq!(race.name().await, "billing");
}

#[tokio::test]
async fn a_change_waits_for_a_revocation_that_is_in_progress() {
    let race = Race::new().await;
    let author = race.world.administrator(&["owner"]).await;
    let revocation = "UPDATE api_keys SET revoked_at = now() WHERE name = 'owner'";
    let holder = begin_to_rewrite(&race.world.pool, revocation).await;
    let answer = race.renamed_by(&author, async {
        race.wait_for_change().await;
        holder.commit().await.expect("revoke");
    });
    answer.await.refused(401, "AUTHENTICATION_FAILED");
    assert_eq!(race.name().await, "billing");
}

#[tokio::test]
async fn a_role_that_is_lost_before_the_commit_refuses_the_change() {
    let race = Race::new().await;
    let author = race.world.administrator(&["owner"]).await;
    let demotion = "UPDATE api_keys SET roles = '{auditor}' WHERE name = 'owner'";
    let holder = begin_to_rewrite(&race.world.pool, demotion).await;
    let answer = race.renamed_by(&author, async {
        race.wait_for_change().await;
        holder.commit().await.expect("change the roles");
    });
    answer.await.refused(403, "FORBIDDEN");
    assert_eq!(race.name().await, "billing");
}

#[tokio::test]
async fn an_administrator_cannot_restore_a_role_that_is_being_removed() {
    let race = Race::new().await;
    let author = race.world.administrator(&["owner"]).await;
    let demotion = "UPDATE api_keys SET roles = '{auditor}' WHERE name = 'owner'";
    let holder = begin_to_rewrite(&race.world.pool, demotion).await;
    let path = author.key_path();
    let restored = author.put(&path, json!({ "roles": ["owner"] }));
    let (answer, ()) = tokio::join!(restored, async {
        race.wait_for_change().await;
        holder.commit().await.expect("change the roles");
    });
    answer.refused(403, "FORBIDDEN");
    let roles = race.world.admin().get(&path).await.ok().json()["roles"].clone();
    assert_eq!(roles, json!(["auditor"]));
}

#[tokio::test]
async fn an_administrator_can_revoke_its_own_key() {
    let world = World::new().await;
    let author = world.administrator(&["owner"]).await;
    author.delete(&author.key_path()).await.gone();
    let refused = author.get("/admin/services").await;
    refused.refused(401, "AUTHENTICATION_FAILED");
}

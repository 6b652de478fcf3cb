//! Rows that the service did not write: with the login of the service in hand, nobody decides who opens what.

mod absent;
mod answers;
mod approvals;
mod bounds;
mod caches;
mod counting;
mod decisions;
mod deviations;
mod emergency;
mod findings;
mod forms;
mod identities;
mod log_keys;
mod lost_token;
mod new_key;
mod people;
mod positions;
mod public_keys;
mod resources;
mod restore;
mod restored;
mod since_sealed;
mod successions;
mod superseded;
mod taking_away;
mod versions;

use engine::db::Pool;
use sqlx::AssertSqlSafe;

use testkit::World;
use testkit::pool;

/// A database login that the service has.
struct Intruder {
    pool: Pool,
}

impl Intruder {
    fn of(world: &World) -> Self {
        Self { pool: pool(world.as_application()) }
    }

    /// Runs statements, which must be allowed.
    async fn run(&self, sql: &str) {
        let run = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&self.pool);
        run.await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// Keeps the rows of a table as they are.
    async fn keep(&self, world: &World, table: &str) {
        let sql = format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}");
        sqlx::query(AssertSqlSafe(sql)).execute(&world.pool).await.expect("kept rows");
        let sql = format!("GRANT SELECT ON kept_{table} TO sealward_application");
        sqlx::query(AssertSqlSafe(sql)).execute(&world.pool).await.expect("a grant");
    }

    /// Puts the kept rows of a table back, with their revisions and seals.
    async fn put_back(&self, table: &str) {
        let columns: Vec<String> = sqlx::query_scalar(
            "SELECT column_name::text FROM information_schema.columns
              WHERE table_name = $1 AND is_generated = 'NEVER' AND column_name <> 'id'",
        )
        .bind(table)
        .fetch_all(&self.pool)
        .await
        .expect("the columns");
        let list = columns.join(", ");
        self.run(&format!(
            "UPDATE {table} SET ({list}) = (SELECT {list} FROM kept_{table} kept WHERE kept.id = {table}.id)
              WHERE id IN (SELECT id FROM kept_{table})"
        ))
        .await;
    }
}

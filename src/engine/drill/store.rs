//! The queries of the drill.

use sqlx::{AssertSqlSafe, PgConnection, PgExecutor};

use crate::keys::{Key, KeyStatus};
use crate::resource::{Rows, select};

/// The keys that open or verify something.
pub(super) async fn working_keys(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<Key>> {
    let states = [KeyStatus::Active, KeyStatus::Retired];
    let keys: Vec<Key> =
        select("WHERE status = ANY ($1) ORDER BY id").bind(states).fetch_all(rows).await?;
    // An entry of `revisions` disables a key whose row is active.
    Ok(keys.into_iter().filter(|key| states.contains(&key.status)).collect())
}

/// Creates an empty database. The name has only lower-case letters, digits and `_`.
pub(super) async fn create_database(connection: &mut PgConnection, name: &str) -> sqlx::Result<()> {
    // The other template can have content of its own.
    let sql = format!("CREATE DATABASE {name} TEMPLATE template0");
    sqlx::query(AssertSqlSafe(sql)).execute(connection).await?;
    Ok(())
}

/// Drops a database, also while sessions use it.
pub(super) async fn drop_database(connection: &mut PgConnection, name: &str) -> sqlx::Result<()> {
    let sql = format!("DROP DATABASE {name} WITH (FORCE)");
    sqlx::query(AssertSqlSafe(sql)).execute(connection).await?;
    Ok(())
}

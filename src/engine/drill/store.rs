//! The queries of the drill.

use sqlx::{AssertSqlSafe, PgConnection, PgExecutor};

use crate::keys::{Key, KeyStatus};
use crate::resource::{Rows, select};

/// The keys that exist in a token, also those that are disabled: they can be activated again.
pub(super) async fn kept_keys(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<Key>> {
    select("WHERE status <> $1 ORDER BY id").bind(KeyStatus::Destroyed).fetch_all(rows).await
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

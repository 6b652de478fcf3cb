//! Queries about the schema.

use std::time::Duration;

use sqlx::{AssertSqlSafe, PgConnection};

/// Versions and checksums of the applied migrations.
pub(super) async fn applied(connection: &mut PgConnection) -> sqlx::Result<Vec<(i64, Vec<u8>)>> {
    let sql = "SELECT version, checksum FROM _sqlx_migrations WHERE success ORDER BY version";
    sqlx::query_as(sql).fetch_all(connection).await
}

/// Whether the database has no migrations, or not even the first one, which lets the service read them.
pub(super) fn is_no_schema(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    matches!(code.as_deref(), Some("42P01" | "42501"))
}

/// The schemas of the search path. Qualified names, so that no other schema can replace the function.
pub(super) async fn search_path(connection: &mut PgConnection) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar("SELECT pg_catalog.current_schemas(false)::pg_catalog.text[]")
        .fetch_one(connection)
        .await
}

/// Limits the search path of the session to a schema, or to the catalog of Postgres.
pub(super) async fn set_search_path(
    connection: &mut PgConnection,
    schema: Option<&str>,
) -> sqlx::Result<()> {
    sqlx::raw_sql("SET search_path = pg_catalog, pg_temp").execute(&mut *connection).await?;
    if let Some(schema) = schema {
        sqlx::query("SELECT set_config('search_path', quote_ident($1) || ', pg_temp', false)")
            .bind(schema)
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// The first of these schemas that has an installation of this login, or else the first one.
pub(super) async fn schema_of_installation(
    connection: &mut PgConnection,
    path: &[String],
) -> sqlx::Result<Option<String>> {
    sqlx::query_scalar(
        "SELECT name FROM unnest($1::text[]) WITH ORDINALITY AS path (name, place)
           JOIN pg_namespace ON nspname = name
           LEFT JOIN pg_class ON relnamespace = pg_namespace.oid AND relname = '_sqlx_migrations'
                             AND relowner = current_user::regrole
          ORDER BY pg_class.oid IS NULL, place LIMIT 1",
    )
    .bind(path)
    .fetch_optional(connection)
    .await
}

pub(super) async fn set_lock_timeout(
    connection: &mut PgConnection,
    timeout: Duration,
) -> sqlx::Result<()> {
    sqlx::query("SELECT set_config('lock_timeout', $1, false)")
        .bind(timeout.as_millis().to_string())
        .execute(connection)
        .await?;
    Ok(())
}

/// Drops the indexes that `sql` names and that an interrupted attempt left invalid.
pub(super) async fn drop_invalid_indexes(
    connection: &mut PgConnection,
    sql: &str,
) -> sqlx::Result<()> {
    let invalid = "SELECT quote_ident(relname) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
                    WHERE NOT indisvalid AND relkind = 'i'
                      AND relnamespace = current_schema()::regnamespace AND position(relname IN $1) > 0";
    let names: Vec<String> =
        sqlx::query_scalar(invalid).bind(sql).fetch_all(&mut *connection).await?;
    for name in names {
        let drop = AssertSqlSafe(format!("DROP INDEX CONCURRENTLY {name}"));
        sqlx::raw_sql(drop).execute(&mut *connection).await?;
    }
    Ok(())
}

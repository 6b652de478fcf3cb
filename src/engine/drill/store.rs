//! The queries of the drill.

use std::collections::BTreeMap;

use sqlx::{AssertSqlSafe, PgConnection, PgExecutor};
use uuid::Uuid;

use crate::keys::{Key, KeyStatus};
use crate::resource::{Rows, select};

/// The keys that exist in a token, also those that are disabled: they can be activated again.
pub(super) async fn kept_keys(rows: Rows<impl PgExecutor<'_>>) -> sqlx::Result<Vec<Key>> {
    select("WHERE status <> $1 ORDER BY id").bind(KeyStatus::Destroyed).fetch_all(rows).await
}

/// What the login can do that a drill does not need.
pub(super) async fn excess(connection: &mut PgConnection) -> sqlx::Result<Vec<String>> {
    let sql = "
        SELECT format('%I ', rolname) || CASE
                 WHEN rolsuper THEN 'is a superuser'
                 WHEN rolcreaterole THEN 'has CREATEROLE'
                 WHEN rolbypassrls THEN 'has BYPASSRLS'
                 WHEN rolreplication THEN 'has REPLICATION'
                 ELSE 'has rights in all databases or of the server process' END
          FROM pg_roles
         WHERE pg_has_role(session_user, oid, 'MEMBER')
           AND (NOT (SELECT rolsuper FROM pg_roles WHERE rolname = session_user) OR rolname = session_user)
           AND (rolsuper OR rolcreaterole OR rolbypassrls OR rolreplication
                OR rolname IN ('pg_execute_server_program', 'pg_write_server_files', 'pg_read_server_files',
                               'pg_read_all_data', 'pg_write_all_data'))
         ORDER BY 1";
    sqlx::query_scalar(sql).fetch_all(connection).await
}

/// The schema of an installation.
pub(super) async fn schema(database: impl PgExecutor<'_>) -> sqlx::Result<String> {
    let sql = "SELECT nspname::text FROM pg_namespace
                WHERE oid = (SELECT relnamespace FROM pg_class WHERE oid = 'revisions'::regclass)";
    sqlx::query_scalar(sql).fetch_one(database).await
}

/// The kinds of the relations and the definitions of the functions and operators in a schema, by their names. The days
/// of the audit log are one relation: each database has others. Definitions of views depend on the version of Postgres,
/// and a drill reads none.
pub(super) async fn objects(
    database: impl PgExecutor<'_>,
    schema: &str,
) -> sqlx::Result<BTreeMap<String, String>> {
    let sql = "
        WITH here AS (SELECT oid FROM pg_namespace WHERE nspname = $1),
        relations AS (
            SELECT relispartition AND relname ~ '^crypto_operations_audit_[0-9]{8}$' AS is_day,
                   relname ~ '^crypto_operations_audit_[0-9]{8}$' AS is_named_as_day, relname,
                   relkind::text || relrowsecurity || EXISTS (SELECT FROM pg_rewrite WHERE ev_class = c.oid) AS kind
              FROM pg_class c WHERE relnamespace = (SELECT oid FROM here) AND relkind NOT IN ('i', 'I', 'c', 't')
        )
        SELECT 'the relation ' || relname, kind FROM relations WHERE NOT is_named_as_day
        UNION ALL
        SELECT 'a day of the audit log', string_agg(DISTINCT kind, ',') FROM relations WHERE is_day
        HAVING count(*) > 0
        UNION ALL
        SELECT format('the function %s(%s)', proname, pg_get_function_identity_arguments(p.oid)),
               lanname || CASE WHEN prosqlbody IS NULL THEN prosrc ELSE 'SQL' END
          FROM pg_proc p JOIN pg_language l ON l.oid = prolang
         WHERE pronamespace = (SELECT oid FROM here) AND NOT EXISTS (
                   SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
        UNION ALL
        SELECT 'the operator ' || o.oid::regoperator, oprcode::text FROM pg_operator o
         WHERE oprnamespace = (SELECT oid FROM here) AND NOT EXISTS (
                   SELECT FROM pg_depend WHERE classid = 'pg_operator'::regclass AND objid = o.oid AND deptype = 'e')";
    let objects: Vec<(String, String)> =
        sqlx::query_as(sql).bind(schema).fetch_all(database).await?;
    Ok(objects.into_iter().collect())
}

/// The last sealed records of both logs, without those of the future, which no instance writes. Their identifiers begin with
/// their times.
pub(super) async fn last_sealed(database: impl PgExecutor<'_>) -> sqlx::Result<Vec<Uuid>> {
    let sql = "SELECT record.id FROM audit_log_heads h
                CROSS JOIN LATERAL (SELECT log, segment FROM audit_log_positions
                                     WHERE log = h.log AND base < h.size ORDER BY base DESC LIMIT 100) p
                 JOIN audit_log_segments s ON s.log = p.log AND s.id = p.segment
                CROSS JOIN LATERAL unnest(s.ids) AS record (id)
                WHERE audit_id_time(record.id) <= now()";
    sqlx::query_scalar(sql).fetch_all(database).await
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

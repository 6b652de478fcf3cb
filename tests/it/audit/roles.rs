//! The privileges of the database logins.

use engine::db::Pool;
use serde_json::json;
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgConnectOptions;

use testkit::{Database, World, pool};

/// The error code of missing privileges.
const FORBIDDEN: &str = "42501";

async fn refusal(pool: &Pool, sql: &str) -> Option<String> {
    let result = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(pool).await;
    let error = result.err()?;
    Some(error.as_database_error()?.code()?.into_owned())
}

#[tokio::test]
async fn statements_of_the_service_have_a_time_limit() {
    let world = World::new().await;
    let limit = async |pool: &Pool| -> String {
        let limit = sqlx::query_scalar("SHOW statement_timeout");
        limit.fetch_one(pool).await.unwrap()
    };
    assert_eq!(limit(&pool(world.as_application())).await, "1min");
    // Migrations and retention have other logins, and can take longer.
    assert_eq!(limit(&pool(world.database().clone())).await, "0");
}

#[tokio::test]
async fn audit_logs_are_append_only() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    alice.protect(json!(1)).await;
    let service = pool(world.as_application());
    let today = "SELECT audit_day_name((now() AT TIME ZONE 'UTC')::date)";
    let today: String = sqlx::query_scalar(today).fetch_one(&world.pool).await.unwrap();
    for audit_log in ["crypto_operations_audit", "management_events", &today] {
        for attempt in [
            format!("UPDATE {audit_log} SET request_id = 'another'"),
            format!("DELETE FROM {audit_log}"),
            format!("TRUNCATE {audit_log}"),
            format!("DROP TABLE {audit_log}"),
            format!("ALTER TABLE {audit_log} DISABLE TRIGGER ALL"),
        ] {
            let refused = refusal(&service, &attempt).await;
            assert_eq!(refused.as_deref(), Some(FORBIDDEN), "{attempt}");
        }
    }
    for (table, column) in [
        ("audit_log_segments", "id"),
        ("audit_log_positions", "base"),
        ("audit_log_nodes", "place"),
        ("audit_log_keys", "created_at"),
        ("audit_log_cosigners", "created_at"),
        ("report_keys", "created_at"),
    ] {
        for attempt in [
            format!("UPDATE {table} SET {column} = {column}"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table}"),
        ] {
            let refused = refusal(&service, &attempt).await;
            assert_eq!(refused.as_deref(), Some(FORBIDDEN), "{attempt}");
        }
    }
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM crypto_operations_audit")
        .fetch_one(&service)
        .await
        .unwrap();
    assert_eq!(left, 1);
}

/// Runs `sql` as this login and returns the code of the error.
async fn refusal_of(login: &PgConnectOptions, sql: &str) -> Option<String> {
    refusal(&pool(login.clone()), sql).await
}

#[tokio::test]
async fn the_login_of_the_service_cannot_retire_days_or_change_how_long_they_are_kept() {
    let database = Database::new().await;
    let service = database.login(&["sealward_application"]).await;
    let as_service = engine::db::as_application(service.clone());
    for attempt in [
        "SELECT detach_audit_day(current_date - 100)",
        "SELECT drop_audit_day(current_date - 100)",
        "SELECT check_audit_retention(current_date - 100)",
        "UPDATE audit_retention SET minimum_days = 1",
        "DELETE FROM audit_retention",
        "INSERT INTO audit_retention (minimum_days) VALUES (1)",
        "TRUNCATE audit_retention",
        "DELETE FROM crypto_operations_audit",
        "CREATE TABLE mine (id int)",
        "UPDATE _sqlx_migrations SET success = false",
        "SET ROLE sealward_retention",
        "SET ROLE postgres",
    ] {
        for login in [&service, &as_service] {
            // An attacker who controls the service can leave its role.
            for before in
                ["", "SET ROLE NONE; ", "RESET ROLE; ", "SET SESSION AUTHORIZATION DEFAULT; "]
            {
                let attempt = format!("{before}{attempt}");
                let refused = refusal_of(login, &attempt).await;
                assert_eq!(refused.as_deref(), Some(FORBIDDEN), "{attempt}");
            }
        }
    }
    let minimum = "SELECT minimum_days FROM audit_retention";
    let minimum: i32 = sqlx::query_scalar(minimum).fetch_one(&pool(service)).await.unwrap();
    assert_eq!(minimum, 90);
}

#[tokio::test]
async fn the_retention_login_has_no_other_privileges() {
    let database = Database::new().await;
    let retention = database.login(&["sealward_retention"]).await;
    for attempt in [
        "UPDATE audit_retention SET minimum_days = 1",
        "DELETE FROM audit_retention",
        "INSERT INTO audit_retention (minimum_days) VALUES (1)",
        "SELECT count(*) FROM crypto_operations_audit",
        "DELETE FROM crypto_operations_audit",
        // Each row has its last event, however long ago that was.
        "DELETE FROM management_events",
        "SELECT make_audit_day(current_date)",
        "SELECT count(*) FROM api_keys",
        "CREATE TABLE mine (id int)",
        "SET ROLE sealward_application",
    ] {
        let refused = refusal_of(&retention, attempt).await;
        assert_eq!(refused.as_deref(), Some(FORBIDDEN), "{attempt}");
    }
    let minimum = "SELECT minimum_days FROM audit_retention";
    assert_eq!(refusal_of(&retention, minimum).await, None);
}

/// The privileges of the role of the service and of `PUBLIC`.
const PRIVILEGES: &str = "
    WITH tables AS (
        SELECT oid, relname, relacl FROM pg_class
         WHERE relnamespace = 'public'::regnamespace
           AND (relname ~ '^(audit_|crypto_operations_audit)'
                OR relname IN ('management_events', 'report_keys', 'revisions', 'row_keys'))
    ), granted AS (
        SELECT relname AS object, grantee, privilege_type AS privilege
          FROM tables, aclexplode(relacl)
        UNION ALL
        SELECT relname, grantee,
               format('%s (%s)', privilege_type, string_agg(attname::text, ', ' ORDER BY attnum))
          FROM tables JOIN pg_attribute ON attrelid = tables.oid, aclexplode(attacl)
         GROUP BY relname, grantee, privilege_type
        UNION ALL
        SELECT proname, grantee, privilege_type
          FROM pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner)))
         WHERE pronamespace = 'public'::regnamespace AND prosecdef
    )
    SELECT format('%s: %s', object, string_agg(privilege, ', ' ORDER BY privilege)) FROM granted
     WHERE grantee IN (0, 'sealward_application'::regrole::oid)
     GROUP BY object ORDER BY object";

#[tokio::test]
async fn the_service_has_only_these_privileges_on_the_audit_logs_and_functions_of_the_owner() {
    let database = Database::new().await;
    let owner = database.pool();
    // The service reads and writes days through the table that they are part of.
    let day = "SELECT make_audit_day('2020-02-02')";
    sqlx::query(day).execute(&owner).await.unwrap();
    let privileges: Vec<String> = sqlx::query_scalar(PRIVILEGES).fetch_all(&owner).await.unwrap();
    let allowed = [
        "audit_forward_positions: DELETE, INSERT, SELECT, UPDATE",
        "audit_log_cosigners: INSERT, SELECT",
        "audit_log_heads: INSERT (log, origin), SELECT, UPDATE (origin, checkpoint, \
         checkpoint_size, checkpoint_at, cosigned, cosigned_size, cosigned_at, published, \
         published_size, published_at)",
        "audit_log_index: SELECT",
        "audit_log_keys: INSERT, SELECT",
        "audit_log_nodes: SELECT",
        "audit_log_origins: INSERT, SELECT, UPDATE",
        "audit_log_positions: SELECT",
        "audit_log_segments: INSERT (log, id, ids, hashes, mac), SELECT",
        "audit_log_witnesses: DELETE, INSERT, SELECT, UPDATE",
        "audit_retention: SELECT",
        "close_audit_day: EXECUTE",
        "crypto_operations_audit: INSERT, SELECT",
        "make_audit_day: EXECUTE",
        "management_events: INSERT, SELECT",
        "report_keys: INSERT, SELECT",
        "revisions: INSERT (table_name, id, revision, what, at, member, content, kept_seal), \
         SELECT",
        "row_keys: SELECT",
        "seal_audit_segments: EXECUTE",
    ];
    assert_eq!(privileges, allowed);
}

async fn excess(login: PgConnectOptions) -> Vec<String> {
    let pool = pool(engine::db::as_application(login));
    engine::audit::login(&pool).await.unwrap().excess
}

#[tokio::test]
async fn a_login_with_only_the_service_role_has_no_excess_privileges() {
    let database = Database::new().await;
    let service = database.login(&["sealward_application"]).await;
    assert_eq!(excess(service).await, [""; 0]);
}

#[tokio::test]
async fn each_privilege_that_could_change_the_audit_log_is_found() {
    let database = Database::new().await;
    let day = "SELECT make_audit_day('2020-02-02')";
    let owner = database.pool();
    sqlx::query(day).execute(&owner).await.unwrap();
    let superuser = excess(database.options().clone()).await;
    assert!(superuser.len() == 1 && superuser[0].contains("is a superuser"), "{superuser:?}");
    for (grant, revoke) in [
        ("GRANT sealward_retention TO LOGIN", "REVOKE sealward_retention FROM LOGIN"),
        ("GRANT postgres TO LOGIN", "REVOKE postgres FROM LOGIN"),
        ("GRANT pg_write_server_files TO LOGIN", "REVOKE pg_write_server_files FROM LOGIN"),
        ("GRANT pg_write_all_data TO LOGIN", "REVOKE pg_write_all_data FROM LOGIN"),
        (
            "GRANT UPDATE, DELETE ON crypto_operations_audit TO LOGIN",
            "REVOKE DELETE, UPDATE ON TABLE crypto_operations_audit FROM LOGIN",
        ),
        (
            "GRANT UPDATE ON audit_retention TO LOGIN",
            "REVOKE UPDATE ON TABLE audit_retention FROM LOGIN",
        ),
        (
            "GRANT TRUNCATE ON management_events TO LOGIN",
            "REVOKE TRUNCATE ON TABLE management_events FROM LOGIN",
        ),
        (
            "GRANT DELETE ON crypto_operations_audit_20200202 TO PUBLIC",
            "REVOKE DELETE ON TABLE crypto_operations_audit_20200202 FROM PUBLIC",
        ),
        (
            "GRANT UPDATE (request_id) ON crypto_operations_audit TO LOGIN",
            "REVOKE UPDATE (request_id) ON TABLE crypto_operations_audit FROM LOGIN",
        ),
        (
            "GRANT CREATE ON DATABASE CURRENT TO LOGIN",
            "REVOKE CREATE ON DATABASE CURRENT FROM LOGIN",
        ),
        (
            "GRANT EXECUTE ON FUNCTION detach_audit_day TO LOGIN",
            "REVOKE EXECUTE ON FUNCTION detach_audit_day(date) FROM LOGIN",
        ),
        (
            "GRANT UPDATE, DELETE ON revisions TO LOGIN",
            "REVOKE DELETE, UPDATE ON TABLE revisions FROM LOGIN",
        ),
        ("GRANT INSERT ON revisions TO LOGIN", "REVOKE INSERT ON TABLE revisions FROM LOGIN"),
        (
            "GRANT INSERT (accepted) ON revisions TO LOGIN",
            "REVOKE INSERT (accepted) ON TABLE revisions FROM LOGIN",
        ),
        ("GRANT INSERT ON row_keys TO LOGIN", "REVOKE INSERT ON TABLE row_keys FROM LOGIN"),
        (
            "GRANT EXECUTE ON FUNCTION forget_superseded_revisions TO LOGIN",
            "REVOKE EXECUTE ON FUNCTION forget_superseded_revisions() FROM LOGIN",
        ),
        ("GRANT CREATE ON SCHEMA public TO LOGIN", "REVOKE CREATE ON SCHEMA public FROM LOGIN"),
        (
            "CREATE SCHEMA other; GRANT CREATE ON SCHEMA other TO PUBLIC",
            "REVOKE CREATE ON SCHEMA other FROM PUBLIC",
        ),
    ] {
        let login = database.login(&["sealward_application"]).await;
        let name = login.get_username().to_owned();
        let current = database.options().get_database().unwrap();
        let filled = |sql: &str| sql.replace("LOGIN", &name).replace("CURRENT", current);
        let grant = filled(grant);
        sqlx::raw_sql(AssertSqlSafe(grant.clone())).execute(&owner).await.unwrap();
        let found = excess(login.clone()).await;
        let revoke = filled(revoke);
        assert!(found.iter().any(|line| line.ends_with(&revoke)), "{grant}: {found:?}");
        // The recommended statement removes the excess.
        for line in found {
            let (_, statement) = line.rsplit_once(": ").unwrap();
            let statement = AssertSqlSafe(statement.to_owned());
            sqlx::raw_sql(statement).execute(&owner).await.unwrap();
        }
        assert_eq!(excess(login).await, [""; 0], "{grant}");
    }
}

#[tokio::test]
async fn a_login_with_access_to_the_owner_is_detected() {
    let database = Database::new().await;
    let service = database.login(&["sealward_application"]).await;
    let name = service.get_username().to_owned();
    let between = database.login(&[]).await.get_username().to_owned();
    let owner = database.pool();
    let run = async |sql: String| {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&owner).await.unwrap();
    };
    run(format!("GRANT {between} TO {name}; GRANT sealward_retention TO {between}")).await;
    let found = excess(service.clone()).await;
    let expected = format!("REVOKE sealward_retention FROM {between}");
    assert!(found.iter().any(|line| line.ends_with(&expected)), "{found:?}");
    run(format!("REVOKE sealward_retention FROM {between}")).await;
    assert_eq!(excess(service.clone()).await, [""; 0]);
    // With one login, the service owns the tables.
    run(format!("ALTER TABLE crypto_operations_audit OWNER TO {name}")).await;
    let found = excess(service).await;
    assert!(found.iter().any(|line| line.contains("owns the audit log")), "{found:?}");
}

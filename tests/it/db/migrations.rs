//! Migrations while records are written. The audit writer of these tests fails if it waits 100 ms
//! for a lock.

use std::cell::Cell;
use std::time::Duration;

use engine::db;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};

use testkit::{Database, NEXT, RECORD_ID, insert_records, with_migration};

/// A writer that gives up after this wait for a lock, so that the wait is measured by Postgres.
const WRITER: &str = "SET lock_timeout = '100ms'";

/// Inserts records until `work` is complete, and returns its result.
async fn while_writing<T>(options: &PgConnectOptions, work: impl Future<Output = T>) -> T {
    let mut writer = options.connect().await.unwrap();
    sqlx::raw_sql(WRITER).execute(&mut writer).await.unwrap();
    let record = format!(
        "INSERT INTO crypto_operations_audit
             (id, ts, request_id, payload_size_bytes, response_status, response_time_ms, outcome)
         SELECT {RECORD_ID}, ts, 'a request', 1, 200, 1, 'done' FROM date_trunc('milliseconds', now()) AS ts"
    );
    let record = || AssertSqlSafe(record.clone());
    sqlx::raw_sql(record()).execute(&mut writer).await.unwrap();
    let is_done = Cell::new(false);
    let work = async {
        let result = work.await;
        is_done.set(true);
        result
    };
    let write = async {
        while !is_done.get() {
            let written = sqlx::query(record()).execute(&mut writer).await;
            written.expect("no record waits 100 ms for a lock");
        }
    };
    tokio::join!(work, write).0
}

async fn run(connection: &mut PgConnection, sql: &'static str) {
    sqlx::raw_sql(sql).execute(connection).await.unwrap();
}

#[tokio::test]
async fn an_upgrade_of_a_large_audit_log_does_not_delay_its_writer() {
    let database = Database::new().await;
    let mut owner = database.options().connect().await.unwrap();
    let fill = format!(
        "SET TimeZone = 'UTC';
         SELECT make_audit_day(current_date - back) FROM generate_series(-1, 3) AS back;
         INSERT INTO crypto_operations_audit
                (id, ts, request_id, payload_size_bytes, response_status, response_time_ms, outcome)
         SELECT {RECORD_ID}, ts, 'request ' || n, 1, 200, 1, 'done'
           FROM generate_series(1, 200000) AS n,
                date_trunc('milliseconds', now() - make_interval(days => n % 4)) AS ts"
    );
    let filled = sqlx::raw_sql(AssertSqlSafe(fill)).execute(&mut owner).await;
    filled.unwrap();
    let migrator = with_migration(
        "ALTER TABLE crypto_operations_audit ADD COLUMN note text;
         ALTER TABLE crypto_operations_audit ADD CONSTRAINT note_is_short CHECK (length(note) < 9) NOT VALID;
         CREATE TABLE notes (note text PRIMARY KEY);",
        false,
    );
    let upgrade = db::apply(&migrator, &mut owner, Duration::from_secs(60));
    let applied = while_writing(database.options(), upgrade).await.unwrap();
    assert_eq!(applied, [NEXT]);
    // The service of the previous version accepts the schema.
    let schema = db::check_schema(&database.pool()).await.unwrap();
    assert_eq!(schema, db::SchemaAge::Newer);
}

/// [`db::migrate`] limits the time for locks. A function has a limit of its own in its declaration.
#[test]
fn no_migration_changes_the_time_limit_for_its_locks() {
    for migration in sqlx::migrate!("./migrations").iter() {
        for line in migration.sql.as_str().lines() {
            let is_statement = line.contains("lock_timeout") && line.ends_with(';');
            assert!(!is_statement, "{}: {line}", migration.version);
        }
    }
}

#[tokio::test]
async fn a_migration_gives_up_its_locks_while_another_session_uses_the_audit_log() {
    let database = Database::new().await;
    let mut owner = database.options().connect().await.unwrap();
    run(&mut owner, "SELECT make_audit_day((now() AT TIME ZONE 'UTC')::date)").await;
    let migrator =
        with_migration("ALTER TABLE crypto_operations_audit ADD COLUMN note text", false);
    let mut reader = database.options().connect().await.unwrap();
    let mut reading = reader.begin().await.unwrap();
    run(&mut reading, "SELECT count(*) FROM crypto_operations_audit").await;
    for _ in 0..5 {
        let attempt = db::apply(&migrator, &mut owner, Duration::ZERO);
        let refused = while_writing(database.options(), attempt).await.unwrap_err();
        assert!(matches!(refused, db::Error::Locked(NEXT)), "{refused}");
    }
    // The migration continues when the session ends.
    let end = async {
        reading.rollback().await.unwrap();
    };
    let attempt = db::apply(&migrator, &mut owner, Duration::from_secs(60));
    let both = async { tokio::join!(attempt, end).0 };
    let applied = while_writing(database.options(), both).await.unwrap();
    assert_eq!(applied, [NEXT]);
}

#[tokio::test]
async fn an_index_is_created_without_a_transaction_also_after_an_interrupted_attempt() {
    let database = Database::new().await;
    let mut owner = database.options().connect().await.unwrap();
    let days = "SELECT make_audit_day((now() AT TIME ZONE 'UTC')::date); SELECT make_audit_day('2020-02-02')";
    run(&mut owner, days).await;
    let records = insert_records(2, "a request", "timestamptz '2020-02-02 12:00Z'");
    sqlx::query(AssertSqlSafe(records)).execute(&mut owner).await.unwrap();
    let index = "CREATE INDEX CONCURRENTLY note_by_size
                     ON crypto_operations_audit_20200202 (payload_size_bytes)";
    // A unique index fails on the second record and remains, invalid.
    let interrupted = "CREATE UNIQUE INDEX CONCURRENTLY note_by_size
                           ON crypto_operations_audit_20200202 (payload_size_bytes)";
    let failed = sqlx::raw_sql(interrupted).execute(&mut owner).await;
    assert!(failed.is_err());
    let migrator = with_migration(index, true);
    let attempt = db::apply(&migrator, &mut owner, Duration::from_secs(60));
    let applied = while_writing(database.options(), attempt).await.unwrap();
    assert_eq!(applied, [NEXT]);
    let valid = "SELECT indisvalid AND NOT indisunique FROM pg_index
                  WHERE indexrelid = 'note_by_size'::regclass";
    let valid: bool = sqlx::query_scalar(valid).fetch_one(&mut owner).await.unwrap();
    assert!(valid);
}

/// Another role owns a schema that comes first in the search path of the owner, such as a schema with
/// the name of the login.
#[tokio::test]
async fn a_hostile_schema_earlier_in_the_search_path_is_not_used() {
    let database = Database::new().await;
    let other = database.login(&[]).await;
    let mut owner = database.options().connect().await.unwrap();
    let hostile = format!(
        "CREATE SCHEMA hostile AUTHORIZATION {other};
         SET ROLE {other};
         CREATE TABLE hostile._sqlx_migrations (version bigint, checksum bytea, success boolean);
         CREATE TABLE hostile.called (caller name);
         CREATE FUNCTION hostile.audit_day_name(date) RETURNS text LANGUAGE sql AS
             $$ INSERT INTO hostile.called VALUES (current_user) RETURNING caller::text $$;",
        other = other.get_username()
    );
    sqlx::raw_sql(AssertSqlSafe(hostile)).execute(&mut owner).await.unwrap();
    let options = database.options().clone();
    let options = options.options([("search_path", "hostile,public")]);
    let mut connection = options.connect().await.unwrap();
    let next =
        with_migration("CREATE TABLE made AS SELECT audit_day_name(now()::date) AS day", false);
    let applied = db::apply(&next, &mut connection, Duration::ZERO).await.unwrap();
    assert_eq!(applied, [NEXT]);
    let made: (bool, i64) = sqlx::query_as(
        "SELECT to_regclass('public.made') IS NOT NULL, count(*) FROM hostile.called",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(made, (true, 0));
}

#[tokio::test]
async fn a_new_installation_is_in_the_first_schema_of_the_search_path() {
    let database = Database::empty().await;
    let mut owner = database.options().connect().await.unwrap();
    run(&mut owner, "CREATE SCHEMA own").await;
    let options = database.options().clone();
    let options = options.options([("search_path", "own,public")]);
    let mut connection = options.connect().await.unwrap();
    let migrations = sqlx::migrate!("./migrations");
    db::apply(&migrations, &mut connection, Duration::ZERO).await.unwrap();
    let schema: String = sqlx::query_scalar(
        "SELECT relnamespace::regnamespace::text FROM pg_class WHERE relname = 'keys'",
    )
    .fetch_one(&mut owner)
    .await
    .unwrap();
    assert_eq!(schema, "own");
}

/// The tables, columns and functions without a comment. Those of extensions belong to others.
const UNDESCRIBED: &str = "
    WITH objects (class, id, part, name) AS (
        SELECT 'pg_class'::regclass, oid, 0, relname::text FROM pg_class
         WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
         UNION ALL
        SELECT 'pg_class'::regclass, attrelid, attnum, attrelid::regclass || '.' || attname
          FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
         WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
           AND attnum > 0 AND NOT attisdropped
         UNION ALL
        SELECT 'pg_proc'::regclass, oid, 0, oid::regprocedure::text FROM pg_proc
         WHERE pronamespace = 'public'::regnamespace
           AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
    )
    SELECT name FROM objects
     WHERE NOT EXISTS (SELECT FROM pg_description
                        WHERE classoid = class AND objoid = id AND objsubid = part AND description <> '')
     ORDER BY name";

#[tokio::test]
async fn every_table_column_and_function_has_a_comment() {
    let database = Database::new().await;
    let mut owner = database.options().connect().await.unwrap();
    let undescribed = async |owner: &mut PgConnection| -> Vec<String> {
        let names = sqlx::query_scalar(UNDESCRIBED).fetch_all(owner).await;
        names.unwrap()
    };
    assert_eq!(undescribed(&mut owner).await, [""; 0]);
    let more = "CREATE TABLE more (id uuid);
                COMMENT ON COLUMN keys.name IS NULL;
                COMMENT ON FUNCTION tell_catalog() IS NULL";
    run(&mut owner, more).await;
    let found = ["keys.name", "more", "more.id", "tell_catalog()"];
    assert_eq!(undescribed(&mut owner).await, found);
}

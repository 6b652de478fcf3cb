//! The table of a day contains exactly the day in its name, whatever its creator sets.

use engine::db::Pool;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Row as _};

use testkit::Database;

/// The settings of a session that change how Postgres writes times.
const SETTINGS: [&str; 3] = [
    "SET TimeZone = 'UTC-167'; SET DateStyle = 'SQL, MDY'",
    "SET TimeZone = 'UTC+167'; SET DateStyle = 'German'",
    "SET TimeZone = 'America/New_York'; SET DateStyle = 'Postgres, DMY'",
];

async fn bounds(owner: &Pool, day: &str) -> String {
    let bounds = "SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE oid = audit_day_name($1::text::date)::regclass";
    let mut owner = owner.acquire().await.unwrap();
    sqlx::raw_sql("SET TimeZone = 'UTC'; SET DateStyle = 'ISO'")
        .execute(&mut *owner)
        .await
        .unwrap();
    let bounds = sqlx::query_scalar(bounds).bind(day);
    bounds.fetch_one(&mut *owner).await.unwrap()
}

#[tokio::test]
async fn settings_of_the_caller_do_not_move_the_bounds_of_a_day() {
    let database = Database::new().await;
    for (settings, day) in SETTINGS.iter().zip(15..) {
        let mut application = database.as_application().connect().await.unwrap();
        let make = format!("{settings}; SELECT make_audit_day('2030-01-{day}')");
        sqlx::raw_sql(AssertSqlSafe(make)).execute(&mut application).await.unwrap();
        let expected = format!(
            "FOR VALUES FROM ('2030-01-{day} 00:00:00+00') TO ('2030-01-{} 00:00:00+00')",
            day + 1
        );
        let day = format!("2030-01-{day}");
        assert_eq!(bounds(&database.pool(), &day).await, expected, "{settings}");
    }
}

/// The owner of the database can attach a table with other bounds than its name says.
#[tokio::test]
async fn a_table_that_contains_another_period_is_not_retired() {
    let database = Database::new().await;
    let moved = "CREATE TABLE crypto_operations_audit_20200101 (LIKE crypto_operations_audit INCLUDING ALL);
         ALTER TABLE crypto_operations_audit ATTACH PARTITION crypto_operations_audit_20200101
             FOR VALUES FROM ('2020-01-07 23:00Z') TO ('2020-01-08 23:00Z')";
    sqlx::raw_sql(moved).execute(&database.pool()).await.unwrap();
    let retention = database.login(&["sealward_retention"]).await;
    let mut retention = retention.connect().await.unwrap();
    let detach = "SELECT to_char(detach_audit_day('2020-02-01'), 'YYYY-MM-DD')";
    for settings in SETTINGS {
        sqlx::raw_sql(settings).execute(&mut retention).await.unwrap();
        let refused = sqlx::query(detach).execute(&mut retention).await;
        let refused = refused.expect_err("another period");
        let code = refused.as_database_error().unwrap().code();
        assert_eq!(code.as_deref(), Some("SW004"), "{settings}: {refused}");
    }
    // Settings of the caller do not make a right table look wrong.
    let right =
        "ALTER TABLE crypto_operations_audit DETACH PARTITION crypto_operations_audit_20200101;
         ALTER TABLE crypto_operations_audit ATTACH PARTITION crypto_operations_audit_20200101
             FOR VALUES FROM ('2020-01-01 00:00Z') TO ('2020-01-02 00:00Z')";
    sqlx::raw_sql(right).execute(&database.pool()).await.unwrap();
    let retired = sqlx::query(detach).fetch_one(&mut retention).await.unwrap();
    assert_eq!(retired.get::<Option<&str>, _>(0), Some("2020-01-01"));
}

/// A function with the privileges of its owner must not read names or times as its caller does.
#[tokio::test]
async fn functions_of_the_owner_have_settings_of_their_own() {
    let database = Database::new().await;
    let functions = "SELECT proname::text, proconfig FROM pg_proc WHERE prosecdef AND pronamespace =
                         (SELECT relnamespace FROM pg_class WHERE relname = 'crypto_operations_audit')";
    let functions: Vec<(String, Option<Vec<String>>)> =
        sqlx::query_as(functions).fetch_all(&database.pool()).await.unwrap();
    assert!(functions.len() >= 4, "{functions:?}");
    for (name, settings) in functions {
        let settings = settings.unwrap_or_default();
        for setting in ["search_path=", "TimeZone=UTC", "DateStyle=ISO"] {
            let is_set = settings.iter().any(|it| it.starts_with(setting));
            assert!(is_set, "{name} lacks {setting}: {settings:?}");
        }
    }
}

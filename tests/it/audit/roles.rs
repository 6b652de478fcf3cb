//! What the service may do in the database, tried on its own connections.

use serde_json::json;
use sqlx::{AssertSqlSafe, PgPool};

use crate::support::{Database, World, pool};

/// What Postgres says to those who may not.
const FORBIDDEN: &str = "42501";

async fn refusal(pool: &PgPool, sql: &str) -> Option<String> {
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(pool)
        .await;
    let error = done.err()?;
    Some(error.as_database_error()?.code()?.into_owned())
}

#[tokio::test]
async fn the_trails_can_be_added_to_and_read_and_never_changed() {
    let world = World::new().await;
    let alice = world.application("alice").await;
    alice.protect(json!(1)).await;
    let service = pool(world.as_application());
    let today = "SELECT audit_day_name((now() AT TIME ZONE 'UTC')::date)";
    let today: String = sqlx::query_scalar(today)
        .fetch_one(&world.pool)
        .await
        .unwrap();
    for trail in ["crypto_operations_audit", "management_events", &today] {
        for attempt in [
            format!("UPDATE {trail} SET request_id = 'another'"),
            format!("DELETE FROM {trail}"),
            format!("TRUNCATE {trail}"),
            format!("DROP TABLE {trail}"),
            format!("ALTER TABLE {trail} DISABLE TRIGGER ALL"),
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

#[tokio::test]
async fn days_are_retired_by_nobody_but_who_may() {
    let database = Database::new().await;
    let service = pool(database.as_application());
    for attempt in [
        "SELECT detach_audit_day(current_date - 1)",
        "SELECT drop_audit_day(current_date - 1)",
        "CREATE TABLE mine (id int)",
        "UPDATE _sqlx_migrations SET success = false",
    ] {
        let refused = refusal(&service, attempt).await;
        assert_eq!(refused.as_deref(), Some(FORBIDDEN), "{attempt}");
    }
    // And who may retire days may do nothing else.
    let mut retention = service.acquire().await.unwrap();
    let become_it = sqlx::raw_sql("SET ROLE sealward_retention");
    become_it.execute(&mut *retention).await.unwrap();
    let read = sqlx::query("SELECT count(*) FROM crypto_operations_audit");
    let refused = read.execute(&mut *retention).await.unwrap_err();
    assert_eq!(
        refused.as_database_error().unwrap().code().unwrap(),
        FORBIDDEN
    );
}

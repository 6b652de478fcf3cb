//! Changes of days of the audit log that Postgres refuses.

use engine::audit::RetentionError;
use sqlx::{AssertSqlSafe, ConnectOptions as _};

use super::days::AuditLog;

/// Tables are found by the digits of their day, which dates before Christ or after 9999 share.
#[tokio::test]
async fn dates_that_share_the_digits_of_other_days_are_refused() {
    let audit_log = AuditLog::of_days(3).await;
    let days = audit_log.days().await;
    let mut retention = audit_log.retention.connect().await.unwrap();
    let mut application = audit_log.application.acquire().await.unwrap();
    let dates = ["'2999-01-01 BC'", "'-infinity'", "'10000-01-01'", "NULL"];
    for date in dates {
        let call = |function: &str| AssertSqlSafe(format!("SELECT {function}({date}::date)"));
        for function in ["detach_audit_day", "drop_audit_day"] {
            let refused = sqlx::raw_sql(call(function)).execute(&mut retention).await;
            let refused = refused.expect_err(date);
            let code = refused.as_database_error().unwrap().code();
            assert_eq!(code.as_deref(), Some("22008"), "{function} {date}");
        }
        let made = sqlx::raw_sql(call("make_audit_day"));
        let refused = made.execute(&mut *application).await;
        refused.expect_err(date);
    }
    let closed = sqlx::query_scalar("SELECT close_audit_day('2999-01-01 BC') IS NOT NULL");
    let is_closed: bool = closed.fetch_one(&mut *application).await.unwrap();
    assert!(!is_closed);
    assert_eq!(audit_log.days().await, days);
}

#[tokio::test]
async fn days_younger_than_the_minimum_are_refused() {
    let audit_log = AuditLog::of_days(3).await;
    let set = |days: u32| {
        let sql = format!("UPDATE audit_retention SET minimum_days = {days}");
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&audit_log.owner)
    };
    set(90).await.unwrap();
    for days in [0, 1, 89] {
        let refused = audit_log.retire(days, true).await.unwrap_err();
        assert!(matches!(refused, RetentionError::TooYoung(_)), "{refused:?}");
        let message = refused.to_string();
        assert!(message.contains("retain.days") && message.contains("90 days"), "{message}");
    }
    assert_eq!(audit_log.retire(90, true).await.unwrap(), []);
    set(2).await.unwrap();
    // The functions refuse recent dates for every caller.
    for function in ["detach_audit_day", "drop_audit_day"] {
        for back in ["- 1", "+ 0", "+ 9"] {
            let call = format!("SELECT {function}((now() AT TIME ZONE 'UTC')::date {back})");
            let mut connection = audit_log.retention.connect().await.unwrap();
            let refused = sqlx::raw_sql(AssertSqlSafe(call)).execute(&mut connection).await;
            let refused = refused.unwrap_err();
            let code = refused.as_database_error().unwrap().code();
            assert_eq!(code.as_deref(), Some("SW001"), "{function} {back}: {refused}");
        }
    }
    assert_eq!(audit_log.days().await.len(), 4);
    let retired = audit_log.retire(2, false).await.unwrap();
    assert_eq!(retired.len(), 1);
    assert_eq!(audit_log.days().await, ["day 0", "day 1", "day 2"]);
}

#[tokio::test]
async fn only_the_owner_can_access_a_detached_day() {
    let audit_log = AuditLog::of_days(3).await;
    audit_log.retire(2, false).await.unwrap();
    let day = "SELECT relname::text FROM pg_class
                WHERE relkind = 'r' AND NOT relispartition AND relname LIKE 'crypto_operations_audit_%'";
    let day = audit_log.texts(day).await.concat();
    for sql in [
        format!("SELECT count(*) FROM {day}"),
        format!("DELETE FROM {day}"),
        format!("INSERT INTO {day} SELECT * FROM crypto_operations_audit LIMIT 0"),
        format!("UPDATE {day} SET request_id = 'another'"),
        format!("DROP TABLE {day}"),
    ] {
        let refused = sqlx::raw_sql(AssertSqlSafe(sql.clone()))
            .execute(&audit_log.application)
            .await
            .expect_err(&sql);
        let code = refused.as_database_error().unwrap().code();
        assert_eq!(code.as_deref(), Some("42501"), "{sql}: {refused}");
    }
}

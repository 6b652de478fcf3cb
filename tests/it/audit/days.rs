//! The life of a day of the trail, on days made up for it.

use std::time::Duration;

use sealward::audit::{MaintenanceError, Retention, maintain_days};
use sealward::clock::Timestamp;
use sealward::settings::Audit;
use sqlx::{AssertSqlSafe, PgPool};

use crate::support::{Database, pool};

/// A trail with a row in each of so many days before today, and in today.
struct Trail {
    owner: PgPool,
    application: PgPool,
    now: Timestamp,
    _database: Database,
}

impl Trail {
    async fn of_days(days: u32) -> Self {
        let database = Database::new().await;
        let owner = database.pool();
        let fill = format!(
            "SELECT make_audit_day(current_date - back) FROM generate_series(0, {days}) AS back;
             INSERT INTO crypto_operations_audit
                    (id, ts, request_id, payload_size_bytes, response_status, response_time_ms)
             SELECT gen_random_uuid(), now() - make_interval(days => back), 'day ' || back, 1, 200, 1
               FROM generate_series(0, {days}) AS back",
        );
        let mut connection = owner.acquire().await.unwrap();
        sqlx::raw_sql("SET TimeZone = 'UTC'")
            .execute(&mut *connection)
            .await
            .unwrap();
        sqlx::raw_sql(AssertSqlSafe(fill))
            .execute(&mut *connection)
            .await
            .unwrap();
        let now: i64 = sqlx::query_scalar("SELECT (extract(epoch FROM now()) * 1000)::int8")
            .fetch_one(&mut *connection)
            .await
            .unwrap();
        Self {
            application: pool(database.as_application()),
            owner,
            now: Timestamp::from_millis(now),
            _database: database,
        }
    }

    async fn maintain_days(&self, retention: Option<Retention>) {
        maintain_days(&self.application, self.now, retention)
            .await
            .unwrap();
    }

    /// What a query of the owner's finds, as text.
    async fn texts(&self, sql: &'static str) -> Vec<String> {
        sqlx::query_scalar(sql)
            .fetch_all(&self.owner)
            .await
            .unwrap()
    }

    /// The days in the trail, told by their rows.
    async fn days(&self) -> Vec<String> {
        self.texts("SELECT request_id FROM crypto_operations_audit ORDER BY ts DESC")
            .await
    }

    /// The tables of days that are not in the trail any more.
    async fn detached(&self) -> usize {
        let tables = "SELECT relname::text FROM pg_class
                       WHERE relkind = 'r' AND NOT relispartition AND relname LIKE 'crypto_operations_audit_%'";
        self.texts(tables).await.len()
    }
}

fn retention(days: u32, drop: bool) -> Option<Retention> {
    Retention::of(&Audit {
        retention_days: Some(days),
        drop_retired: drop,
        ..Audit::default()
    })
}

#[tokio::test]
async fn days_are_made_ahead() {
    let trail = Trail::of_days(0).await;
    trail.maintain_days(None).await;
    trail.maintain_days(None).await;
    let ahead = "SELECT relname::text FROM pg_inherits JOIN pg_class ON oid = inhrelid
                  WHERE inhparent = 'crypto_operations_audit'::regclass";
    assert_eq!(trail.texts(ahead).await.len(), 8);
}

#[tokio::test]
async fn a_day_gets_its_indexes_when_it_is_closed() {
    let trail = Trail::of_days(2).await;
    let columns = async |back: u32| {
        let sql = "SELECT DISTINCT a.attname::text
                     FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                     JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
                    WHERE i.indrelid = audit_day_name((now() AT TIME ZONE 'UTC')::date - $1::int)::regclass
                      AND m.amname = 'btree'
                    ORDER BY 1";
        let columns = sqlx::query_scalar::<_, String>(sql).bind(i64::from(back));
        columns.fetch_all(&trail.owner).await.unwrap()
    };
    let being_written = ["request_id", "ts"];
    assert_eq!(columns(2).await, being_written);
    trail.maintain_days(None).await;
    let closed = [
        "application_id",
        "key_id",
        "operation_type",
        "policy_number",
        "request_id",
        "response_status",
        "ts",
    ];
    assert_eq!(columns(2).await, closed);
    assert_eq!(columns(0).await, being_written);
}

#[tokio::test]
async fn every_day_is_indexed_by_what_its_records_hold() {
    let trail = Trail::of_days(1).await;
    let days = "SELECT c.relname::text FROM pg_index i
                  JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
                  JOIN pg_am m ON m.oid = x.relam
                 WHERE m.amname = 'gin' AND i.indnkeyatts = 5 AND i.indisvalid AND c.relkind = 'r'
                 ORDER BY 1";
    let all = "SELECT c.relname::text FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
                WHERE inhparent = 'crypto_operations_audit'::regclass ORDER BY 1";
    trail.maintain_days(None).await;
    assert_eq!(trail.texts(days).await, trail.texts(all).await);
}

#[tokio::test]
async fn all_days_are_kept_unless_told_otherwise() {
    let trail = Trail::of_days(3).await;
    trail.maintain_days(None).await;
    assert_eq!(trail.days().await, ["day 0", "day 1", "day 2", "day 3"]);
}

#[tokio::test]
async fn old_days_are_taken_out_and_dropped_where_that_is_asked_for() {
    let trail = Trail::of_days(5).await;
    trail.maintain_days(retention(3, false)).await;
    assert_eq!(trail.days().await, ["day 0", "day 1", "day 2", "day 3"]);
    assert_eq!(trail.detached().await, 2, "taken out, and still there");
    trail.maintain_days(retention(2, true)).await;
    assert_eq!(trail.days().await, ["day 0", "day 1", "day 2"]);
    assert_eq!(trail.detached().await, 0);
}

#[tokio::test]
async fn of_several_instances_one_looks_after_the_days() {
    let trail = Trail::of_days(5).await;
    let mut other = trail.owner.acquire().await.unwrap();
    let lock = "SELECT pg_advisory_lock(hashtext('crypto_operations_audit'), 0)";
    sqlx::query(lock).execute(&mut *other).await.unwrap();
    trail.maintain_days(retention(2, true)).await;
    assert_eq!(trail.days().await.len(), 6, "another is at it");
    other.close().await.unwrap();
    // Many at once get in nobody's way.
    let together: Vec<_> = (0..4)
        .map(|_| trail.maintain_days(retention(2, true)))
        .collect();
    futures_util::future::join_all(together).await;
    // Whoever was second has found the first at it, and all may have: the next time it is done.
    trail.maintain_days(retention(2, true)).await;
    assert_eq!(trail.days().await.len(), 3);
}

#[tokio::test]
async fn a_long_read_delays_retention_and_not_the_records() {
    let trail = Trail::of_days(3).await;
    let mut reading = trail.owner.begin().await.unwrap();
    sqlx::query("SELECT count(*) FROM crypto_operations_audit")
        .execute(&mut *reading)
        .await
        .unwrap();
    let delayed = maintain_days(&trail.application, trail.now, retention(1, false)).await;
    assert!(
        matches!(delayed, Err(MaintenanceError::Database(_))),
        "{delayed:?}"
    );
    reading.rollback().await.unwrap();
    trail.maintain_days(retention(1, false)).await;
    assert_eq!(trail.days().await, ["day 0", "day 1"]);
}

#[tokio::test]
async fn a_clock_that_is_ahead_neither_closes_nor_retires_a_day_too_soon() {
    let trail = Trail::of_days(2).await;
    let ahead = trail.now.plus(Duration::from_secs(30 * 24 * 60 * 60));
    maintain_days(&trail.application, ahead, retention(3, true))
        .await
        .unwrap();
    assert_eq!(trail.days().await, ["day 0", "day 1", "day 2"]);
    assert_eq!(trail.detached().await, 0);
    // Asked for days to come, the function itself stops before today.
    let close = "SELECT coalesce(close_audit_day(current_date + 9)::text, 'no more')
                   FROM generate_series(1, 3)";
    assert_eq!(trail.texts(close).await[2], "no more");
}

#[tokio::test]
async fn the_day_being_written_is_never_taken_out() {
    let trail = Trail::of_days(1).await;
    let mut connection = trail.owner.acquire().await.unwrap();
    let retire = "SET ROLE sealward_retention; SELECT detach_audit_day(current_date + 1)";
    let refused = sqlx::raw_sql(retire).execute(&mut *connection).await;
    connection.close().await.unwrap();
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("the day being written"), "{refused}");
    // Nor does dropping reach what is part of the trail.
    let dropped: Option<String> =
        sqlx::query_scalar("SELECT drop_audit_day(current_date + 9)::text")
            .fetch_one(&trail.owner)
            .await
            .unwrap();
    assert_eq!(dropped, None);
    assert_eq!(trail.days().await.len(), 2);
}

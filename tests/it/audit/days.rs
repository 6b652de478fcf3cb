//! The lifecycle of a day of the audit log.

use std::time::Duration;

use engine::audit::{Recorder, Retention, RetentionError, Retired, maintain_days, retire_days};
use engine::db::{self, Pool};
use engine::settings::{Audit, Span};
use formats::clock::{Clock, Entropy, Timestamp};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _};

use super::recorder::record;
use testkit::{Database, PATIENCE, RECORD_ID, pool, within, write};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// An audit log with one row per day, for this number of days before today and for today.
pub(super) struct AuditLog {
    pub(super) owner: Pool,
    pub(super) application: Pool,
    /// The login that detaches days.
    pub(super) retention: PgConnectOptions,
    now: Timestamp,
    _database: Database,
}

impl AuditLog {
    pub(super) async fn of_days(days: u32) -> Self {
        let database = Database::new().await;
        let owner = database.pool();
        let fill = format!(
            "UPDATE audit_retention SET minimum_days = 1;
             SELECT make_audit_day(current_date - back) FROM generate_series(0, {days}) AS back;
             INSERT INTO crypto_operations_audit
                    (id, ts, request_id, payload_size_bytes, response_status, response_time_ms, outcome)
             SELECT {RECORD_ID}, ts, 'day ' || back, 1, 200, 1, 'done'
               FROM generate_series(0, {days}) AS back,
                    date_trunc('milliseconds', now() - make_interval(days => back)) AS ts",
        );
        let mut connection = owner.acquire().await.unwrap();
        sqlx::raw_sql("SET TimeZone = 'UTC'").execute(&mut *connection).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(fill)).execute(&mut *connection).await.unwrap();
        let now: i64 = sqlx::query_scalar("SELECT (extract(epoch FROM now()) * 1000)::int8")
            .fetch_one(&mut *connection)
            .await
            .unwrap();
        Self {
            application: pool(database.as_application()),
            retention: database.login(&["sealward_retention"]).await,
            owner,
            now: Timestamp::from_millis(now),
            _database: database,
        }
    }

    async fn maintain_days(&self) {
        maintain_days(&self.application, self.now).await.unwrap();
    }

    /// Retires days with its own login.
    pub(super) async fn retire(
        &self,
        days: u32,
        drop: bool,
    ) -> Result<Vec<Retired>, RetentionError> {
        self.retire_at(self.now, days, drop, Duration::ZERO).await
    }

    async fn retire_at(
        &self,
        now: Timestamp,
        days: u32,
        drop: bool,
        timeout: Duration,
    ) -> Result<Vec<Retired>, RetentionError> {
        let mut connection = self.retention.connect().await.unwrap();
        let mut retired = Vec::new();
        let retention = Retention { days, drop };
        let report = |day| retired.push(day);
        retire_days(&mut connection, now, retention, timeout, report).await?;
        Ok(retired)
    }

    /// The result of a query of the owner as text.
    pub(super) async fn texts(&self, sql: &'static str) -> Vec<String> {
        sqlx::query_scalar(sql).fetch_all(&self.owner).await.unwrap()
    }

    /// The days in the audit log, determined by their rows.
    pub(super) async fn days(&self) -> Vec<String> {
        self.texts("SELECT request_id FROM crypto_operations_audit ORDER BY ts DESC").await
    }

    /// The number of tables of detached days.
    async fn detached(&self) -> usize {
        let tables = "SELECT relname::text FROM pg_class
                       WHERE relkind = 'r' AND NOT relispartition AND relname LIKE 'crypto_operations_audit_%'";
        self.texts(tables).await.len()
    }
}

#[tokio::test]
async fn days_are_created_in_advance() {
    let audit_log = AuditLog::of_days(0).await;
    audit_log.maintain_days().await;
    audit_log.maintain_days().await;
    let ahead = "SELECT relname::text FROM pg_inherits JOIN pg_class ON oid = inhrelid
                  WHERE inhparent = 'crypto_operations_audit'::regclass";
    assert_eq!(audit_log.texts(ahead).await.len(), 8);
}

#[tokio::test]
async fn two_transactions_can_create_the_same_day() {
    let audit_log = AuditLog::of_days(0).await;
    let create = "SELECT make_audit_day('2099-01-01')";
    let mut first = audit_log.owner.begin().await.unwrap();
    sqlx::query(create).execute(&mut *first).await.unwrap();
    let application = audit_log.application.clone();
    let second = tokio::spawn(async move { sqlx::query(create).execute(&application).await });
    let waiting = "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database
                    WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()";
    within(PATIENCE, async || {
        let waiting = sqlx::query_scalar::<_, i64>(waiting);
        waiting.fetch_one(&audit_log.owner).await.unwrap() == 1
    })
    .await;
    first.commit().await.unwrap();
    second.await.unwrap().expect("the day exists");
}

#[tokio::test]
async fn a_day_is_indexed_when_it_closes() {
    let audit_log = AuditLog::of_days(2).await;
    let columns = async |back: u32| {
        let sql = "SELECT DISTINCT a.attname::text
                     FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                     JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
                    WHERE i.indrelid = audit_day_name((now() AT TIME ZONE 'UTC')::date - $1::int)::regclass
                      AND m.amname = 'btree'
                    ORDER BY 1";
        let columns = sqlx::query_scalar::<_, String>(sql).bind(i64::from(back));
        columns.fetch_all(&audit_log.owner).await.unwrap()
    };
    let open = ["request_id", "ts"];
    assert_eq!(columns(2).await, open);
    audit_log.maintain_days().await;
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
    assert_eq!(columns(0).await, open);
}

#[tokio::test]
async fn every_day_is_indexed_by_the_columns_of_its_records() {
    let audit_log = AuditLog::of_days(2).await;
    let days = "SELECT c.relname::text FROM pg_index i
                  JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
                  JOIN pg_am m ON m.oid = x.relam
                 WHERE m.amname = 'brin' AND i.indnkeyatts = 5 AND i.indisvalid AND c.relkind = 'r'
                 ORDER BY 1";
    let all = "SELECT c.relname::text FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
                WHERE inhparent = 'crypto_operations_audit'::regclass ORDER BY 1";
    audit_log.maintain_days().await;
    assert_eq!(audit_log.texts(days).await, audit_log.texts(all).await);
    let closed = "SELECT x.relname::text FROM pg_class x JOIN pg_am m ON m.oid = x.relam
                   WHERE m.amname = 'gin' AND x.relname LIKE 'crypto_operations_audit_%_value'";
    // A day is closed an hour after its end.
    let yesterday_is_open = audit_log.now.minus(HOUR).start_of_day() < audit_log.now.start_of_day();
    let expected = if yesterday_is_open { 1 } else { 2 };
    assert_eq!(audit_log.texts(closed).await.len(), expected);
}

#[tokio::test]
async fn all_days_are_kept_by_default() {
    let audit_log = AuditLog::of_days(3).await;
    audit_log.maintain_days().await;
    assert_eq!(audit_log.days().await, ["day 0", "day 1", "day 2", "day 3"]);
}

#[tokio::test]
async fn old_days_are_detached_and_dropped_if_asked_to() {
    let audit_log = AuditLog::of_days(5).await;
    let [five, four, three] = [5, 4, 3].map(|back| {
        let day = audit_log.now.minus(Duration::from_secs(back * 24 * 60 * 60));
        day.to_string()[..10].to_owned()
    });
    let detached = |day: &String| Retired::Detached(day.clone());
    let dropped = |day: &String| Retired::Dropped(day.clone());
    let first = audit_log.retire(3, false).await.unwrap();
    assert_eq!(first, [detached(&five), detached(&four)]);
    assert_eq!(audit_log.days().await, ["day 0", "day 1", "day 2", "day 3"]);
    assert_eq!(audit_log.detached().await, 2, "the tables remain");
    let second = audit_log.retire(2, true).await.unwrap();
    assert_eq!(second, [detached(&three), dropped(&five), dropped(&four), dropped(&three)]);
    assert_eq!(audit_log.days().await, ["day 0", "day 1", "day 2"]);
    assert_eq!(audit_log.detached().await, 0);
    assert_eq!(audit_log.retire(2, true).await.unwrap(), [], "nothing remains to do");
}

#[tokio::test]
async fn several_processes_retire_each_day_once() {
    let audit_log = AuditLog::of_days(5).await;
    let timeout = Duration::from_secs(60);
    let runs = (0..4).map(|_| audit_log.retire_at(audit_log.now, 2, true, timeout));
    let retired = futures_util::future::try_join_all(runs).await.unwrap();
    assert_eq!(retired.concat().len(), 6, "three days, detached and dropped");
    assert_eq!(audit_log.days().await.len(), 3);
}

#[tokio::test]
async fn a_long_read_delays_retention_but_not_records() {
    let audit_log = AuditLog::of_days(3).await;
    let mut reading = audit_log.owner.begin().await.unwrap();
    sqlx::query("SELECT count(*) FROM crypto_operations_audit")
        .execute(&mut *reading)
        .await
        .unwrap();
    let delayed = audit_log.retire(1, false).await;
    assert!(matches!(delayed, Err(RetentionError::Locked)), "{delayed:?}");
    reading.rollback().await.unwrap();
    audit_log.retire(1, false).await.unwrap();
    assert_eq!(audit_log.days().await, ["day 0", "day 1"]);
}

#[tokio::test]
async fn a_fast_clock_does_not_close_or_retire_days_early() {
    let audit_log = AuditLog::of_days(2).await;
    let ahead = audit_log.now.plus(Duration::from_secs(30 * 24 * 60 * 60));
    maintain_days(&audit_log.application, ahead).await.unwrap();
    let retired = audit_log.retire_at(ahead, 3, true, Duration::ZERO).await;
    assert_eq!(retired.unwrap(), []);
    assert_eq!(audit_log.days().await, ["day 0", "day 1", "day 2"]);
    assert_eq!(audit_log.detached().await, 0);
    // The function refuses to close future days.
    let close = "SELECT coalesce(close_audit_day(current_date + 9)::text, 'no more')
                   FROM generate_series(1, 3)";
    assert_eq!(audit_log.texts(close).await[2], "no more");
}

/// Too many days would use up the locks of the server, for each statement on the audit log.
#[tokio::test]
async fn the_login_of_the_service_creates_only_days_near_the_present() {
    let database = Database::new().await;
    let service = db::as_application(database.login(&["sealward_application"]).await);
    let (service, owner) = (pool(service), database.pool());
    let make = async |pool: &Pool, distance: i32| {
        let make = "SELECT make_audit_day((now() AT TIME ZONE 'UTC')::date + $1::int)";
        sqlx::query(make).bind(distance).execute(pool).await.map(|_| ())
    };
    for near in [-2, 0, 15] {
        make(&service, near).await.expect("a day near the present");
    }
    for far in [-3, 16, 3_000] {
        let refused = make(&service, far).await.expect_err("a day far from the present");
        let code = refused.as_database_error().unwrap().code();
        assert_eq!(code.as_deref(), Some("SW006"), "{far}: {refused}");
        make(&owner, far).await.expect("a day of the owner");
        make(&service, far).await.expect("an existing day");
    }
    maintain_days(&service, Clock::system().now()).await.expect("the days of a week");
}

/// An instance whose clock is wrong by weeks says that it cannot write.
#[tokio::test]
async fn an_instance_whose_clock_is_weeks_ahead_writes_no_records() {
    let database = Database::new().await;
    let service = pool(db::as_application(database.login(&["sealward_application"]).await));
    let ahead = Clock::held_at(Clock::system().now().plus(HOUR * 24 * 20));
    let settings = Audit { deadline: Span::millis(500), ..Audit::default() };
    let opened = Recorder::open(ahead, Entropy::system(), service, &settings);
    let (recorder, writer) = opened;
    let _jobs = write(writer);
    let pending = recorder.submit(record("ahead")).unwrap();
    assert!(pending.receipt().await.is_err());
    assert_eq!(recorder.is_healthy(), Some(false));
}

//! The process is killed at every step of key generation. It leaves no usable key without a record,
//! and the next start reports every orphan.

use faulty_token::Fault;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use testkit::{PATIENCE, within};
use testkit::{Process, Site};

/// The remains of an interrupted key generation.
#[derive(Debug, Default, PartialEq, Eq)]
struct Remains {
    intents: i64,
    records: i64,
    /// The token objects that the restarted service reports as orphans.
    orphans: usize,
}

/// Starts a key generation with a lock on the table `locked`, and kills the process when `is_reached`
/// returns true. Then advances the intents by an hour and restarts the service.
async fn killed(
    site: &Site,
    locked_table: Option<&str>,
    is_reached: impl AsyncFnMut() -> bool,
) -> (Remains, Process) {
    let mut database = site.connect().await;
    let process = Process::start(site).await;
    let service = process.service("crashing").await;
    let mut holder = site.connect().await;
    if let Some(table) = locked_table {
        let lock = format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE");
        let lock = sqlx::raw_sql(AssertSqlSafe(lock));
        lock.execute(&mut holder).await.expect("a lock");
    }
    let body = json!({ "serviceId": service, "generate": true, "algorithm": "P-256" });
    let pending = process.post_in_background("/admin/keys", &body).await;
    within(PATIENCE, is_reached).await;
    process.kill();
    pending.join().expect("the client gives up");
    // Statements of the killed process must not complete.
    sqlx::query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'",
    )
    .execute(&mut database)
    .await
    .expect("close its connections");
    holder.close().await.expect("release the lock");

    sqlx::query("UPDATE key_intents SET created_at = created_at - interval '1 hour'")
        .execute(&mut database)
        .await
        .expect("change the intents");
    let process = Process::start(site).await;
    within(PATIENCE, async || process.log().contains("token and records were compared")).await;
    let orphans = process.log().matches("the token holds a key that no record names").count();
    let left = Remains {
        intents: count(&mut database, "key_intents").await,
        records: count(&mut database, "keys").await,
        orphans,
    };
    (left, process)
}

async fn count(database: &mut PgConnection, table: &str) -> i64 {
    let query = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
    let count = sqlx::query_scalar(query).fetch_one(database);
    count.await.expect("a count")
}

/// Whether a connection waits for a lock.
async fn has_lock_waiter(database: &mut PgConnection) -> bool {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM pg_stat_activity
                         WHERE datname = current_database() AND wait_event_type = 'Lock')",
    )
    .fetch_one(database)
    .await
    .expect("the activity")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_before_the_intent_leaves_nothing() {
    let site = Site::with_faults().await;
    let mut watching = site.connect().await;
    let (left, _) =
        killed(&site, Some("key_intents"), async || has_lock_waiter(&mut watching).await).await;
    assert_eq!(left, Remains::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_after_the_intent_cancels_the_intent() {
    let site = Site::with_faults().await;
    let before = site.faults().calls("C_GenerateKeyPair");
    site.faults().rules(&[Fault::Hang.on("C_GenerateKeyPair").thread("hsm-worker")]);
    let (left, _) =
        killed(&site, None, async || site.faults().calls("C_GenerateKeyPair") > before).await;
    assert_eq!(left, Remains::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_after_the_object_reports_an_orphan() {
    let site = Site::with_faults().await;
    let mut watching = site.connect().await;
    let (left, process) =
        killed(&site, Some("management_events"), async || has_lock_waiter(&mut watching).await)
            .await;
    let found = Remains { intents: 1, orphans: 1, ..Remains::default() };
    assert_eq!(left, found);
    let intended: uuid::Uuid = sqlx::query_scalar("SELECT id FROM key_intents")
        .fetch_one(&mut watching)
        .await
        .expect("the intent");
    let intended = engine::ids::KeyId::from_uuid(intended).to_string();
    assert!(process.log().contains(&intended), "the log must name the orphan");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_after_the_record_leaves_a_usable_key() {
    let site = Site::with_faults().await;
    let mut watching = site.connect().await;
    let (left, process) =
        killed(&site, None, async || count(&mut watching, "keys").await > 0).await;
    let expected = Remains { records: 1, ..Remains::default() };
    assert_eq!(left, expected);
    assert_eq!(process.admin().get("/admin/keys").await.json()["items"][0]["status"], "active");
}

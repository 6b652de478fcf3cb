//! The process is killed at every step of making a key. Nothing is left that could be used, and
//! nothing is forgotten.

use faulty_token::Fault;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::process::{PATIENCE, Process, Site};
use crate::support::within;

/// What is left of the making of one key.
#[derive(Debug, Default, PartialEq, Eq)]
struct Left {
    intents: i64,
    records: i64,
    /// Objects in the token that the service, started anew, says no record names.
    orphans: usize,
}

/// Has a key made while nobody gets at the table `locked`, and kills the process once `is_there`
/// says that the step is reached. Then an hour goes by, and the service starts anew.
async fn killed(
    site: &Site,
    locked: Option<&str>,
    is_there: impl AsyncFnMut() -> bool,
) -> (Left, Process) {
    let mut database = site.connect().await;
    let process = Process::start(site).await;
    let made = process.post("/admin/services", &json!({ "name": "crashing" }));
    let service = made["id"].clone();
    let mut holder = site.connect().await;
    if let Some(table) = locked {
        let lock = format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE");
        let lock = sqlx::raw_sql(AssertSqlSafe(lock));
        lock.execute(&mut holder).await.expect("a lock");
    }
    let order = json!({ "serviceId": service, "generate": true, "algorithm": "P-256" });
    let asking = process.post_in_background("/admin/keys", order);
    within(PATIENCE, is_there).await;
    process.kill();
    asking.join().expect("the client gives up");
    // What the killed process waited for must not happen after its death.
    sqlx::query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'",
    )
    .execute(&mut database)
    .await
    .expect("its connections end");
    holder.close().await.expect("the lock ends");

    sqlx::query("UPDATE key_intents SET created_at = created_at - interval '1 hour'")
        .execute(&mut database)
        .await
        .expect("time goes by");
    let process = Process::start(site).await;
    within(PATIENCE, async || {
        process.log().contains("token and records were compared")
    })
    .await;
    let orphans = process
        .log()
        .matches("the token holds a key that no record names")
        .count();
    let left = Left {
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

/// Whether somebody waits for a table that is locked.
async fn somebody_waits(database: &mut PgConnection) -> bool {
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
    let (left, _) = killed(&site, Some("key_intents"), async || {
        somebody_waits(&mut watching).await
    })
    .await;
    assert_eq!(left, Left::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_after_the_intent_cancels_the_intent() {
    let site = Site::with_faults().await;
    let before = site.faults().calls("C_GenerateKeyPair");
    site.faults()
        .rules(&[Fault::Hang.on("C_GenerateKeyPair").thread("hsm-worker")]);
    let (left, _) = killed(&site, None, async || {
        site.faults().calls("C_GenerateKeyPair") > before
    })
    .await;
    assert_eq!(left, Left::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_after_the_object_reports_an_orphan() {
    let site = Site::with_faults().await;
    let mut watching = site.connect().await;
    let (left, process) = killed(&site, Some("management_events"), async || {
        somebody_waits(&mut watching).await
    })
    .await;
    let found = Left {
        intents: 1,
        orphans: 1,
        ..Left::default()
    };
    assert_eq!(left, found);
    let intended: uuid::Uuid = sqlx::query_scalar("SELECT id FROM key_intents")
        .fetch_one(&mut watching)
        .await
        .expect("the intent");
    let intended = sealward::ids::KeyId::from_uuid(intended).to_string();
    assert!(process.log().contains(&intended), "the orphan is named");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_after_the_record_leaves_a_usable_key() {
    let site = Site::with_faults().await;
    let mut watching = site.connect().await;
    let (left, process) =
        killed(&site, None, async || count(&mut watching, "keys").await > 0).await;
    let whole = Left {
        records: 1,
        ..Left::default()
    };
    assert_eq!(left, whole);
    assert_eq!(process.get("/admin/keys")["items"][0]["status"], "active");
}

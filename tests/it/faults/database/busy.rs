//! Requests of administrators use many connections to Postgres for a long time.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use testkit::{PATIENCE, within};
use testkit::{Process, Site};

/// The default of `database.connections`.
const CONNECTIONS: i64 = 8;

/// The connections that searches of the audit log use at most.
const SEARCHES: i64 = 2;

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_stays_ready_while_administrators_use_all_connections() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let mut owner = site.connect().await;
    let mut lock = owner.begin().await.expect("a transaction");
    sqlx::query("LOCK TABLE identities").execute(&mut *lock).await.expect("a lock");
    let _reading = read_often(&site, &process, "/admin/identities").await;
    let mut observer = site.connect().await;
    within(PATIENCE, async || waiting(&mut observer).await >= CONNECTIONS).await;
    let checks = "query LIKE '%transaction_read_only%' AND state = 'idle'
        AND query_start > clock_timestamp() - interval '1 second'";
    within(PATIENCE, async || count(&mut observer, checks).await > 0).await;
    process.anonymous().get("/readyz").await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_of_the_audit_log_leave_connections_to_other_work() {
    let searches = ["/admin/audit", "/admin/audit/management"];
    leave_connections(searches, "LOCK TABLE audit_log_positions").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_in_the_order_of_the_log_leave_connections_to_other_work() {
    let exports = ["/admin/audit?order=log_index", "/admin/audit/management?order=log_index"];
    leave_connections(exports, "LOCK TABLE audit_retention").await;
}

/// Asserts that many reads of these paths, which wait for a lock, use two connections.
async fn leave_connections([operations, management]: [&str; 2], locking: &'static str) {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let mut owner = site.connect().await;
    let mut lock = owner.begin().await.expect("a transaction");
    sqlx::query(locking).execute(&mut *lock).await.expect("a lock");
    let reading = [
        read_often(&site, &process, operations).await,
        read_often(&site, &process, management).await,
    ];
    let mut observer = site.connect().await;
    within(PATIENCE, async || waiting(&mut observer).await == SEARCHES).await;
    // Without their clients, Postgres continues with the statements.
    drop(reading);
    let _again = read_often(&site, &process, operations).await;
    for name in ["one", "two", "three"] {
        process.service(name).await;
    }
    assert_eq!(waiting(&mut observer).await, SEARCHES);
}

/// Sends twice as many requests as there are connections, and reads no response. Reads of the audit log in
/// its order are exports.
async fn read_often(site: &Site, process: &Process, path: &str) -> Vec<TcpStream> {
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: it\r\nAuthorization: Bearer {}\r\nAccept: {}\r\n\r\n",
        site.admin_key(),
        if path.contains("order=log_index") { "application/x-ndjson" } else { "application/json" },
    );
    let mut reading = Vec::new();
    for _ in 0..2 * CONNECTIONS {
        let mut stream = TcpStream::connect(process.address()).await.expect("a port");
        stream.write_all(request.as_bytes()).await.expect("send");
        reading.push(stream);
    }
    reading
}

/// The number of connections that wait for a lock.
async fn waiting(observer: &mut PgConnection) -> i64 {
    count(observer, "wait_event_type = 'Lock'").await
}

async fn count(observer: &mut PgConnection, condition: &str) -> i64 {
    let sql = format!(
        "SELECT count(*) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid() AND {condition}"
    );
    let count = sqlx::query_scalar(AssertSqlSafe(sql));
    count.fetch_one(observer).await.expect("the activity")
}

//! Requests of administrators use all connections to Postgres.

use sqlx::Connection as _;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::process::{Process, Site};
use crate::support::{PATIENCE, within};

/// The default of `database.connections`.
const CONNECTIONS: i64 = 8;

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_stays_ready_while_administrators_use_all_connections() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let (mut owner, mut observer) = (site.connect().await, site.connect().await);
    let mut lock = owner.begin().await.expect("a transaction");
    sqlx::query("LOCK TABLE audit_log_index")
        .execute(&mut *lock)
        .await
        .expect("a lock");
    let request = format!(
        "GET /admin/audit HTTP/1.1\r\nHost: it\r\nAuthorization: Bearer {}\r\n\r\n",
        site.admin_key()
    );
    let mut reading = Vec::new();
    for _ in 0..2 * CONNECTIONS {
        let mut stream = TcpStream::connect(process.address()).await.expect("a port");
        stream.write_all(request.as_bytes()).await.expect("send");
        reading.push(stream);
    }
    let mut count = async |condition: &str| -> i64 {
        let sql = format!(
            "SELECT count(*) FROM pg_stat_activity
              WHERE datname = current_database() AND pid <> pg_backend_pid() AND {condition}"
        );
        let count = sqlx::query_scalar(sqlx::AssertSqlSafe(sql));
        count.fetch_one(&mut observer).await.expect("the activity")
    };
    within(PATIENCE, async || {
        count("wait_event_type = 'Lock'").await >= CONNECTIONS
    })
    .await;
    let checks = "query LIKE '%transaction_read_only%' AND state = 'idle'
        AND query_start > clock_timestamp() - interval '1 second'";
    within(PATIENCE, async || count(checks).await > 0).await;
    assert_eq!(process.status("/readyz"), 200);
}

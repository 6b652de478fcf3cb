//! A monitor of the tamper-evident logs. It keeps each checkpoint that an instance returns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::Method;
use engine::db::Pool;
use engine::ledger::{self, Log};
use futures_util::StreamExt as _;
use sqlx::ConnectOptions as _;
use tokio::time::{Instant, sleep};

use super::client::{Client, Places, Sent, request};
use super::history::SealedLog;
use super::instances::Instances;
use crate::Cluster;

/// The pause between two rounds.
const PAUSE: Duration = Duration::from_millis(20);

/// The checkpoints of each log.
pub(super) type Seen = BTreeMap<Log, BTreeSet<String>>;

/// Reads the checkpoints of all instances until `stop` is set.
pub(super) async fn poll(places: Places, admin_key: String, stop: Arc<AtomicBool>) -> Seen {
    let mut client = Client::default();
    let mut seen = Seen::new();
    while !stop.load(Ordering::Relaxed) {
        for place in places.now() {
            for log in Log::ALL {
                let path = format!("/admin/audit/log/{log}/checkpoint");
                let request = request(Method::GET, &path, &admin_key, String::new());
                if let Sent::Answered { status: 200, body, .. } = client.send(place, request).await
                {
                    seen.entry(log).or_default().insert(body);
                }
            }
        }
        sleep(PAUSE).await;
    }
    seen
}

/// Waits until checkpoints cover all records. False if this takes too long.
pub(super) async fn all_covered(
    cluster: &Cluster,
    instances: &mut Instances<'_>,
    limit: Duration,
) -> bool {
    let began = Instant::now();
    let connected = cluster.past_proxy().connect().await;
    let mut connection = connected.expect("a connection past the proxy");
    let covered = "SELECT NOT EXISTS (SELECT FROM audit_log_heads WHERE checkpoint_size < size)
                      AND NOT EXISTS (SELECT FROM crypto_operations_audit r WHERE NOT EXISTS
                                      (SELECT FROM audit_log_index i WHERE i.record_id = r.id))
                      AND NOT EXISTS (SELECT FROM management_events r WHERE NOT EXISTS
                                      (SELECT FROM audit_log_index i WHERE i.record_id = r.id))";
    while began.elapsed() < limit {
        let covered = sqlx::query_scalar(covered).fetch_one(&mut connection);
        if covered.await.expect("the state of the logs") {
            return true;
        }
        instances.watch(PAUSE).await;
    }
    false
}

/// The logs at the end of a run, with the checkpoints that the monitor has seen. `keys` are the public keys of the
/// logs, in their order.
pub(super) async fn logs(pool: &Pool, keys: &str, mut seen: Seen) -> Vec<SealedLog> {
    let mut logs = Vec::new();
    for (log, key) in Log::ALL.into_iter().zip(keys.lines()) {
        let pieces: Vec<_> = ledger::Export::new(pool.clone(), log).pieces().collect().await;
        let bytes = pieces.into_iter().flat_map(|piece| piece.expect("an export"));
        let text = String::from_utf8(bytes.collect()).expect("lines");
        logs.push(SealedLog {
            log,
            key: key.parse().expect("a public key"),
            lines: text.lines().map(str::to_owned).collect(),
            seen: seen.remove(&log).unwrap_or_default(),
        });
    }
    logs
}

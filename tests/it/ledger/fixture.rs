//! A service whose audit records are sealed.

use std::path::{Path, PathBuf};

use engine::audit::Recorder;
use engine::catalog::Unreadable;
use engine::db::{Pool, as_application};
use engine::ledger::{self, Log, PublishedLogs, Renewal, SealState, SealStatus, Sealer};
use engine::settings::{Audit, Seal, SealAnchor};
use formats::clock::{Clock, Entropy};
use formats::tlog::{Checkpoint, Hash, Tree, VerifierKey};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgConnectOptions;
use tokio::task::JoinHandle;

use crate::audit::record;
use testkit::Site;
use testkit::{
    Database, PATIENCE, RECORD_ID, Scratch, World, insert_records, pool, pulse, token, within,
    write,
};

pub(super) const ORIGIN: &str = "example.com/sealward";

/// A service after `sealward audit init`.
pub(crate) async fn sealed_world() -> World {
    let world = World::new().await;
    initialize(&world, Renewal::default()).await;
    world
}

/// Runs `sealward audit init` with the login of the service.
pub(crate) async fn initialize(world: &World, renewal: Renewal) -> Vec<VerifierKey> {
    initialize_in(&pool(world.as_application()), renewal).await
}

/// Runs `sealward audit init` in this database.
pub(super) async fn initialize_in(pool: &Pool, renewal: Renewal) -> Vec<VerifierKey> {
    let time = (&Clock::system(), &Entropy::system());
    let made = ledger::initialize(pool, &token().await, time, ORIGIN, renewal).await;
    made.expect("a key and two logs").keys
}

/// Hashes `count` payloads.
pub(crate) async fn hash(world: &World, count: usize) {
    let name = format!("hashes {:032x}", rand::random::<u128>());
    let application = world.application(&name).await;
    for data in 0..count {
        let payload = json!({ "data": data, "algorithm": "SHA-256" });
        let body = json!({ "operation": "hash", "payload": payload });
        application.post("/api/v1/operations", body).await.ok();
    }
}

/// The public key of a log.
pub(crate) async fn key(world: &World, log: Log) -> VerifierKey {
    let answer = world.admin().get(&format!("/admin/audit/log/{log}/key")).await;
    let text = answer.ok().body;
    text.lines().next().unwrap().parse().unwrap()
}

/// The latest checkpoint, verified with the public key.
pub(super) async fn checkpoint(world: &World, log: Log) -> Checkpoint {
    let path = format!("/admin/audit/log/{log}/checkpoint");
    let note = world.admin().get(&path).await.ok().body;
    Checkpoint::open(&note, &key(world, log).await).expect("a valid checkpoint")
}

/// Waits until a checkpoint covers `size` records.
pub(crate) async fn covered(world: &World, log: Log, size: u64) -> Checkpoint {
    let path = format!("/admin/audit/log/{log}/checkpoint");
    within(PATIENCE, async || {
        let answer = world.admin().get(&path).await;
        answer.status == 200 && checkpoint(world, log).await.size >= size
    })
    .await;
    checkpoint(world, log).await
}

/// The lines of the export in the order of a log.
pub(super) async fn export(world: &World, log: Log) -> Vec<String> {
    let path = match log {
        Log::Operations => "/admin/audit?order=log_index",
        Log::Management => "/admin/audit/management?order=log_index",
    };
    let admin = world.admin().with("accept", "application/x-ndjson");
    let text = admin.get(path).await.ok().body;
    text.lines().map(str::to_owned).collect()
}

/// The root of the tree of these lines, computed from nothing else.
pub(super) fn root_of(log: Log, lines: &[String]) -> Hash {
    let mut tree = Tree::default();
    for line in lines {
        let leaf = ledger::leaf(log, line).unwrap();
        tree.append(Hash::of_leaf(&leaf), |_| ());
    }
    tree.root()
}

/// The `log_index` of each line.
pub(super) fn indexes(lines: &[String]) -> Vec<u64> {
    let index = |line: &String| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["log_index"].as_u64().unwrap()
    };
    lines.iter().map(index).collect()
}

/// A sealer of the database of `world`, which this test runs itself.
pub(crate) struct OwnSealer {
    pub(super) status: SealStatus,
    job: JoinHandle<()>,
}

impl OwnSealer {
    pub(super) async fn start(pool: Pool, anchor: Option<&Path>) -> Self {
        let anchor = anchor.map(|path| SealAnchor::File(path.to_owned()));
        Self::with(pool, Seal { anchor, ..Seal::default() }).await
    }

    /// A sealer with these settings, but a short interval.
    pub(super) async fn with(pool: Pool, settings: Seal) -> Self {
        let interval = engine::settings::Span::millis(20);
        let settings = Seal { interval, ..settings };
        let status = SealStatus::new(Clock::system(), settings.interval.0);
        let sealer = Sealer::new(pool, token().await, &settings, status.clone());
        let mut sealer = sealer.expect("settings in order");
        let job = tokio::spawn(async move { match sealer.run(pulse()).await {} });
        Self { status, job }
    }

    /// Waits for a state.
    pub(crate) async fn state(&self, is_expected: impl Fn(&SealState) -> bool) -> SealState {
        within(PATIENCE, async || is_expected(&self.status.state())).await;
        self.status.state()
    }

    /// Asserts that it found no record without a segment.
    pub(super) fn assert_no_stragglers(&self) {
        assert!(self.status.stragglers().all(|(_, count)| count == 0));
    }

    /// Stops it and waits until it has stopped.
    pub(super) async fn stop(self) {
        self.job.abort();
        let _ = self.job.await;
    }
}

/// A database whose records only this test seals.
pub(crate) struct Kept {
    pub(crate) pool: Pool,
    pub(crate) owner: Pool,
    pub(super) folder: Scratch,
    /// The public key of the operations, if another process has sealed its row.
    key: Option<VerifierKey>,
    // Must be dropped last.
    _database: Option<Database>,
}

impl Kept {
    /// The published checkpoint of the operations.
    pub(super) async fn published(&self) -> Option<String> {
        let logs = PublishedLogs::new(self.pool.clone());
        let admission = async { Ok::<_, Unreadable>(()) };
        logs.checkpoint(Log::Operations, admission).await.unwrap()
    }

    pub(crate) async fn new() -> Self {
        let database = Database::new().await;
        let kept = Self {
            pool: pool(database.as_application()),
            owner: pool(database.options().clone()),
            folder: Scratch::new(),
            key: None,
            _database: Some(database),
        };
        kept.initialize().await;
        kept
    }

    /// Runs `sealward audit init`, and removes its event, because tests count their own records.
    pub(super) async fn initialize(&self) {
        initialize_in(&self.pool, Renewal::default()).await;
        self.execute("DELETE FROM management_events; DELETE FROM audit_log_segments").await;
    }

    /// The database of a site, whose process seals with the first of these public keys.
    pub(super) fn of_site(site: &Site, keys: &str) -> Self {
        let key = keys.lines().next().map(|key| key.parse().unwrap());
        Self { key, ..Self::over(site.database()) }
    }

    /// A migrated database.
    pub(super) fn over(database: &PgConnectOptions) -> Self {
        Self {
            pool: pool(as_application(database.clone())),
            owner: pool(database.clone()),
            folder: Scratch::new(),
            key: None,
            _database: None,
        }
    }

    pub(super) fn anchor(&self) -> PathBuf {
        self.folder.path().join("anchor.json")
    }

    pub(crate) async fn sealer(&self) -> OwnSealer {
        OwnSealer::start(self.pool.clone(), Some(&self.anchor())).await
    }

    pub(crate) async fn execute(&self, sql: &str) {
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        done.execute(&self.owner).await.expect(sql);
    }

    /// Writes records as an instance does, with their segments.
    pub(super) async fn write(&self, count: usize) {
        self.write_by(Clock::system(), count).await;
    }

    /// Writes records as an instance with this clock does.
    pub(super) async fn write_by(&self, clock: Clock, count: usize) {
        let (entropy, pool) = (Entropy::system(), self.pool.clone());
        let (recorder, writer) = Recorder::open(clock, entropy, pool, &Audit::default());
        let _jobs = write(writer);
        let submit = |number| recorder.submit(record(&format!("r{number}"))).expect("a place");
        for pending in (0..count).map(submit).collect::<Vec<_>>() {
            pending.receipt().await.expect("a receipt");
        }
    }

    /// Writes records without segments.
    pub(super) async fn record(&self, count: usize) {
        self.record_at(count, "r", "clock_timestamp()").await;
    }

    /// Writes records of three days ago, and lets days of this age be retired.
    pub(super) async fn record_old(&self, count: usize) {
        let minimum = "UPDATE audit_retention SET minimum_days = 1";
        self.execute(minimum).await;
        self.record_at(count, "old", "now() - interval '3 days'").await;
    }

    /// Lets records have long texts, as only the owner of the schema can.
    pub(super) async fn allow_long(&self) {
        self.execute(
            "ALTER TABLE crypto_operations_audit ALTER request_id TYPE text, ALTER error_message TYPE text",
        )
        .await;
    }

    /// Writes records with this error message, an SQL expression.
    pub(super) async fn record_long(&self, count: usize, message: &str) {
        self.allow_long().await;
        self.execute(&format!(
            "INSERT INTO crypto_operations_audit (id, ts, request_id, payload_size_bytes,
                 response_status, response_time_ms, outcome, error_message)
             SELECT {RECORD_ID}, ts, 'r', 0, 200, 1, 'done', {message}
               FROM date_trunc('milliseconds', clock_timestamp()) AS ts, generate_series(1, {count})"
        ))
        .await;
    }

    /// Writes records of a time, which is an SQL expression.
    pub(super) async fn record_at(&self, count: usize, request_id: &str, time: &str) {
        self.make_day(time).await;
        self.execute(&insert_records(count, request_id, time)).await;
    }

    /// Makes the day of a time, which is an SQL expression.
    pub(super) async fn make_day(&self, time: &str) {
        let day = format!("SELECT make_audit_day((({time}) AT TIME ZONE 'UTC')::date)");
        self.execute(&day).await;
    }

    /// The latest checkpoint.
    pub(super) async fn checkpoint(&self) -> Option<Checkpoint> {
        let note = ledger::checkpoint(&self.pool, Log::Operations).await.unwrap()?;
        Some(Checkpoint::open(&note, &self.key().await).unwrap())
    }

    /// The public key of the operations. The row key of a site is not that of this process.
    pub(super) async fn key(&self) -> VerifierKey {
        match &self.key {
            Some(key) => key.clone(),
            None => {
                let keys = ledger::keys(&self.pool, Log::Operations).await.unwrap();
                keys.unwrap().remove(0)
            }
        }
    }

    pub(super) async fn covered(&self, size: u64) -> Checkpoint {
        within(PATIENCE, async || self.checkpoint().await.is_some_and(|it| it.size == size)).await;
        self.checkpoint().await.unwrap()
    }

    /// The lines of the export in the order of the log of operations.
    pub(super) async fn export(&self) -> Vec<String> {
        let pieces = ledger::Export::new(self.pool.clone(), Log::Operations).pieces();
        let pieces: Vec<_> = pieces.collect().await;
        let bytes: Vec<u8> = pieces.into_iter().flat_map(Result::unwrap).collect();
        let text = String::from_utf8(bytes).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

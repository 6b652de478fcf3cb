//! A run: starts all components, applies load and faults, waits for recovery and runs the checker.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;
use sqlx::ConnectOptions as _;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::administrator::Administrator;
use super::check::{Guarantee, Violation, violations};
use super::client::Places;
use super::fixtures::Fixtures;
use super::history::{Outcome, Row, Span, State, UnsharedLimits};
use super::instances::Instances;
use super::plan::Plan;
use super::run_log::{RunLog, RunLogEntries};
use super::worker::Worker;
use super::{changes, faults, monitor};
use crate::Site;
use crate::{Cluster, Scratch, Valkey, pool};

/// The time limit for full recovery after the last fault.
const RECOVERY: Duration = Duration::from_secs(45);

/// The time after which an instance has reconnected to the shared limiter.
const RECONNECT_DELAY: Duration = Duration::from_secs(5);

/// The number of log messages in the report.
const MAX_WARNINGS: usize = 15;

/// The applications without a reachable limit, and the limited one.
pub const FREE: [usize; 3] = [0, 1, 2];
const LIMITED: [usize; 1] = [3];

/// The size of a run.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub faults: Duration,
    pub instances: usize,
    pub workers: usize,
}

/// The results of a run.
pub struct Outcomes {
    pub figures: String,
    pub events: String,
    pub violations: Vec<Violation>,
    /// The warnings and errors of the instances, most frequent first.
    pub warnings: Vec<String>,
}

/// Executes the plan.
pub async fn run(plan: &Plan, size: Size) -> Outcomes {
    let mut cluster = Cluster::start().await;
    let valkey = Valkey::start().await;
    let folder = Scratch::new();
    let settings = format!(
        "{}[audit.seal]\nanchor = \"{}\"\n",
        valkey.section(),
        folder.path().join("anchor.json").display(),
    );
    let site = Site::with_faults_over(cluster.through_proxy(), &settings);
    site.initialize();
    let keys = site.run(&["audit", "init"]).success().stdout;
    let run_log = RunLog::begin();
    let places = Places::default();
    let mut instances = Instances::start(&site, &places, &run_log, size.instances).await;
    let mut rng = SmallRng::seed_from_u64(plan.seed);
    let mut new_rng = || SmallRng::seed_from_u64(rng.random());
    let mut admin = Administrator::new(places.clone(), site.admin_key(), new_rng());
    let fixtures = Fixtures::create(&mut admin, &run_log).await;

    let stop = Arc::new(AtomicBool::new(false));
    let mut load = JoinSet::new();
    for number in 0..size.workers + 2 {
        // Two workers send requests of the limited application faster than its limit.
        let (applications, pause) = match number {
            0 | 1 => (LIMITED.as_slice(), 30),
            _ => (FREE.as_slice(), 40),
        };
        let name = format!("chaos-{}-{number}", plan.seed);
        let worker =
            Worker::new(name, new_rng(), places.clone(), fixtures.clone(), run_log.clone());
        load.spawn(send_requests(worker, applications, pause, stop.clone()));
    }
    let admin_key = site.admin_key().to_owned();
    let monitor = tokio::spawn(monitor::poll(places.clone(), admin_key, stop.clone()));
    let until = run_log.now() + size.faults;
    tokio::join!(
        faults::on_postgres(&mut cluster, &run_log, &plan.postgres, until),
        faults::on_valkey(&valkey, &run_log, &plan.valkey, until),
        faults::on_token(site.faults(), &run_log, &plan.token, until),
        faults::on_instances(&mut instances, &run_log, &plan.instances, until),
        changes::by_administrator(&mut admin, &fixtures, &run_log, &plan.changes, until),
    );
    let name = format!("chaos-{}-last", plan.seed);
    let last = Worker::new(name, new_rng(), places.clone(), fixtures, run_log.clone());
    let recovered = recover(last, &mut instances, &run_log).await;
    stop.store(true, Ordering::Relaxed);
    while load.join_next().await.is_some() {}
    let seen = monitor.await.expect("the checkpoints");
    if !monitor::all_covered(&cluster, &mut instances, RECOVERY).await {
        let details = format!("records have no checkpoint {RECOVERY:?} after the last request");
        run_log.violated(Guarantee::Sealed.violated(details));
    }
    for place in 0..instances.number() {
        instances.end(place).await;
    }

    let rows = rows(&cluster).await;
    let mut entries = std::mem::take(&mut *run_log.lock());
    entries.history.instances = u32::try_from(size.instances).expect("a few");
    entries.history.rows = rows;
    entries.history.logs = monitor::logs(&pool(cluster.past_proxy()), &keys, seen).await;
    entries.history.unshared_limits = unshared_limits(&entries);
    let mut found = std::mem::take(&mut entries.violated);
    found.extend(violations(&entries.history));
    Outcomes {
        figures: figures(&entries, recovered),
        events: events(&entries),
        violations: found,
        warnings: warnings(&instances.logs),
    }
}

async fn send_requests(
    mut worker: Worker,
    applications: &'static [usize],
    pause: u64,
    stop: Arc<AtomicBool>,
) {
    while !stop.load(Ordering::Relaxed) {
        worker.send_random(applications).await;
        if worker.rng.random_bool(0.01) {
            worker.client.close_connections();
        }
        let pause = worker.rng.random_range(0..pause);
        sleep(Duration::from_millis(pause)).await;
    }
}

/// Sends every operation to each instance until all succeed. Returns the elapsed time.
async fn recover(mut worker: Worker, instances: &mut Instances<'_>, run_log: &RunLog) -> Duration {
    let began = Instant::now();
    for place in 0..instances.number() {
        let mut done = [false; 2];
        while done.contains(&false) {
            if began.elapsed() > RECOVERY {
                let details =
                    format!("instance {place} has not recovered {RECOVERY:?} after the last fault");
                run_log.violated(Guarantee::Available.violated(details));
                return began.elapsed();
            }
            for (number, is_done) in done.iter_mut().enumerate() {
                *is_done |= worker.is_served(place, number == 0).await;
            }
            instances.watch(Duration::from_millis(20)).await;
        }
    }
    let took = began.elapsed();
    // A period without faults shows remaining damage.
    instances.watch(Duration::from_secs(1)).await;
    took
}

/// The audit log without the counts of unauthenticated requests.
pub async fn rows(cluster: &Cluster) -> Vec<Row> {
    let connected = cluster.past_proxy().connect().await;
    let mut connection = connected.expect("a connection past the proxy");
    let sql = "SELECT request_id, application_id, operation_type, response_status
                 FROM crypto_operations_audit WHERE request_id <> ''";
    type Columns = (String, Option<engine::ids::ServiceId>, Option<String>, i16);
    let read = sqlx::query_as(sql).fetch_all(&mut connection).await;
    let rows: Vec<Columns> = read.expect("the audit log");
    let rows = rows.into_iter();
    rows.map(|(request_id, application, operation, status)| Row {
        request_id,
        application: application.map(|id| id.to_string()),
        operation,
        status: status.unsigned_abs(),
    })
    .collect()
}

/// The periods without shared limits, and whether the instances could be counted.
fn unshared_limits(entries: &RunLogEntries) -> Vec<UnsharedLimits> {
    let periods = entries.limiter_outages.iter().map(|span| {
        let span = Span { to: span.to + RECONNECT_DELAY, ..*span };
        let mut instance_changes = entries.instance_changes.iter();
        let is_uncounted = instance_changes.any(|other| faults::is_close(span, *other));
        UnsharedLimits { span, is_uncounted }
    });
    periods.collect()
}

fn events(entries: &RunLogEntries) -> String {
    let mut events = entries.events.clone();
    events.sort_by_key(|(span, _)| span.from);
    let mut text = String::new();
    for (span, what) in events {
        let (from, to) = (span.from.as_secs_f64(), span.to.as_secs_f64());
        let _ = writeln!(text, "  {from:8.3} s to {to:8.3} s  {what}");
    }
    text
}

fn figures(entries: &RunLogEntries, recovered: Duration) -> String {
    let history = &entries.history;
    let mut counts = BTreeMap::<String, usize>::new();
    for attempt in &history.attempts {
        let name = match &attempt.outcome {
            Outcome::NotSent => "not sent".to_owned(),
            Outcome::Lost => "lost".to_owned(),
            Outcome::Silence => "silence".to_owned(),
            Outcome::Answered(answer) => answer.status.to_string(),
        };
        *counts.entry(name).or_default() += 1;
    }
    let counts: Vec<_> = counts.iter().map(|(name, count)| format!("{name}: {count}")).collect();
    let checkpoints = history.logs.iter().map(|log| log.seen.len());
    let timelines = [&history.api_keys, &history.policies, &history.keys];
    let changes = timelines.into_iter().flatten().map(|it| it.changes.len());
    let faults = entries.events.len() - changes.clone().sum::<usize>().min(entries.events.len());
    format!(
        "{} requests ({}), {} rows, {} checkpoints, {} changes, {} other events, latest use after a revocation {:.0} ms, recovered {:.1} s after the last fault",
        history.attempts.len(),
        counts.join(", "),
        history.rows.len(),
        checkpoints.sum::<usize>(),
        changes.sum::<usize>(),
        faults,
        latest_use(entries).as_secs_f64() * 1_000.0,
        recovered.as_secs_f64(),
    )
}

/// The longest time that an API key was accepted after its revocation.
fn latest_use(entries: &RunLogEntries) -> Duration {
    let taken = entries.history.attempts.iter().filter_map(|attempt| {
        let Outcome::Answered(answer) = &attempt.outcome else {
            return None;
        };
        let key = &entries.history.api_keys[attempt.api_key];
        let revoked = key.changes.iter().find(|it| it.to == State::Refusing)?;
        let was_taken = answer.status == 200;
        was_taken
            .then(|| attempt.span.from.saturating_sub(revoked.confirmed.unwrap_or(Duration::MAX)))
    });
    taken.max().unwrap_or_default()
}

/// Removes request IDs from messages, because they differ.
fn warnings(logs: &[String]) -> Vec<String> {
    let mut counts = BTreeMap::<String, usize>::new();
    for line in logs.iter().flat_map(|log| log.lines()) {
        let entry: Value = serde_json::from_str(line).unwrap_or_else(|_| line.into());
        if entry["level"] != "INFO" {
            let details = ["message", "reason", "cause", "error", "why"];
            let details = details.iter().filter_map(|member| entry[*member].as_str());
            let parts: Vec<_> = details.chain(entry.as_str()).collect();
            *counts.entry(parts.join(": ")).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let counts = counts.into_iter().take(MAX_WARNINGS);
    counts.map(|(words, count)| format!("{count} times: {words}")).collect()
}

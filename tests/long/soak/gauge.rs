//! Samples the resources of the service and its requests since the previous sample.

use std::fs;
use std::time::Duration;

use sqlx::{ConnectOptions as _, PgConnection};

use testkit::Process;
use testkit::chaos::history::Outcome;
use testkit::chaos::run_log::RunLog;
use testkit::{Cluster, Exposition};

/// Samples one process.
pub(crate) struct Gauge {
    process: u32,
    metrics: String,
    postgres: PgConnection,
    run_log: RunLog,
    /// The number of requests in earlier samples, and the time of the last sample.
    read: usize,
    until: Duration,
}

/// One sample.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    resident_kib: u64,
    threads: u64,
    descriptors: usize,
    sessions: u64,
    postgres: i64,
    per_second: f64,
    median: Duration,
    slow: Duration,
    errors: usize,
}

impl Gauge {
    pub(crate) async fn of(process: &Process, cluster: &Cluster, run_log: &RunLog) -> Self {
        let connected = cluster.past_proxy().connect().await;
        Self {
            process: process.id(),
            metrics: process.metrics_address().expect("metrics"),
            postgres: connected.expect("a connection"),
            run_log: run_log.clone(),
            read: run_log.lock().history.attempts.len(),
            until: run_log.now(),
        }
    }

    pub(crate) async fn read(&mut self) -> Line {
        let connections = "SELECT count(*) FROM pg_stat_activity
                            WHERE application_name LIKE 'sealward%'";
        let postgres = sqlx::query_scalar(connections);
        let postgres = postgres.fetch_one(&mut self.postgres).await;
        let (times, errors) = self.requests();
        let at = |part: usize| {
            let last = times.len().saturating_sub(1);
            times.get(last * part / 100).copied().unwrap_or_default()
        };
        let now = self.run_log.now();
        let passed = (now - self.until).as_secs_f64().max(0.001);
        self.until = now;
        Line {
            resident_kib: self.status("VmRSS:"),
            threads: self.status("Threads:"),
            descriptors: self.descriptors(),
            sessions: self.sessions(),
            postgres: postgres.expect("the number of connections"),
            per_second: f64::from(u32::try_from(times.len()).expect("some")) / passed,
            median: at(50),
            slow: at(99),
            errors,
        }
    }

    /// The durations of requests since the last sample, and the number without a response or with a
    /// server error.
    fn requests(&mut self) -> (Vec<Duration>, usize) {
        let entries = self.run_log.lock();
        let since = &entries.history.attempts[self.read..];
        let is_error = |outcome: &Outcome| match outcome {
            Outcome::Answered(answer) => answer.status >= 500,
            _ => true,
        };
        let errors = since.iter().filter(|it| is_error(&it.outcome)).count();
        let times = since.iter().map(|it| it.span.to - it.span.from);
        let mut times: Vec<_> = times.collect();
        times.sort_unstable();
        self.read = entries.history.attempts.len();
        (times, errors)
    }

    fn status(&self, name: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process));
        let status = status.expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.expect("a line").split_whitespace().next();
        number.expect("a number").parse().expect("a number")
    }

    fn descriptors(&self) -> usize {
        let open = fs::read_dir(format!("/proc/{}/fd", self.process));
        open.expect("it runs").count()
    }

    /// The token sessions, from the metrics of the process.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few sessions")]
    fn sessions(&self) -> u64 {
        let page = ureq::get(format!("http://{}/metrics", self.metrics)).call();
        let text = page.expect("metrics").body_mut().read_to_string();
        let page = Exposition::parse(&text.expect("text"));
        page.sum("sealward_token_sessions", &[]) as u64
    }
}

impl Line {
    pub(crate) const HEAD: &str = "\
        | Time | RSS MiB | Threads | Descriptors | Token sessions | Postgres connections | Requests per second | p50 ms | p99 ms | Errors |\n\
        |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|";

    pub(crate) fn row(&self, time: &str) -> String {
        let millis = |time: Duration| time.as_secs_f64() * 1_000.0;
        format!(
            "| {time} | {:.1} | {} | {} | {} | {} | {:.0} | {:.1} | {:.1} | {} |",
            self.mebibytes(),
            self.threads,
            self.descriptors,
            self.sessions,
            self.postgres,
            self.per_second,
            millis(self.median),
            millis(self.slow),
            self.errors,
        )
    }

    fn mebibytes(&self) -> f64 {
        f64::from(u32::try_from(self.resident_kib).expect("some")) / 1_024.0
    }

    /// Descriptors other than Postgres connections, whose number varies within the bounds of the
    /// pool.
    pub(crate) fn other_descriptors(&self) -> i64 {
        i64::try_from(self.descriptors).expect("some") - self.postgres
    }
}

/// The connections of the pool by default.
const POOL: i64 = 8;

/// The connections that an instance has besides: for audit records, notices, health checks, and the jobs
/// `sealer`, `audit_days`, `traffic_sums` and `public_keys`.
const OWN: i64 = 7;

/// The growth of memory after the warm-up, which is the first sixth of the run. Compares the means
/// of the second and the last sixth, because memory fluctuates.
pub(crate) fn growth(lines: &[Line]) -> f64 {
    let part = lines.len() / 6;
    let mean = |lines: &[Line]| {
        let number = f64::from(u32::try_from(lines.len()).expect("some")).max(1.0);
        lines.iter().map(Line::mebibytes).sum::<f64>() / number
    };
    let (first, last) = (&lines[part..part * 2], &lines[lines.len() - part..]);
    mean(last) / mean(first) - 1.0
}

/// Leaks and errors.
pub(crate) fn failures(
    before: &Line,
    lines: &[Line],
    after: &Line,
    allowed_growth: f64,
) -> Vec<String> {
    let mut found = Vec::new();
    let errors: usize = lines.iter().map(|line| line.errors).sum();
    if errors > 0 {
        found.push(format!("{errors} requests failed"));
    }
    let growth = growth(lines);
    if growth > allowed_growth {
        found.push(format!("memory grew by {:.1} %", growth * 100.0));
    }
    if after.sessions != before.sessions {
        found.push(format!("{} token sessions before, {} after", before.sessions, after.sessions));
    }
    if after.other_descriptors() > before.other_descriptors() {
        found.push(format!(
            "{} descriptors without Postgres connections before, {} after",
            before.other_descriptors(),
            after.other_descriptors()
        ));
    }
    let most = lines.iter().chain([before]).map(|line| line.postgres).max();
    if most > Some(POOL + OWN) {
        found.push(format!("{} Postgres connections", most.unwrap_or_default()));
    }
    found
}

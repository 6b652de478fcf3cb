//! What the service holds at a moment, and how it did since the one before.

use std::fs;
use std::time::Duration;

use sqlx::{ConnectOptions as _, PgConnection};

use crate::chaos::history::Outcome;
use crate::chaos::run_log::RunLog;
use crate::process::Process;
use crate::support::{Cluster, Exposition};

/// Reads one process.
pub(crate) struct Gauge {
    process: u32,
    metrics: String,
    postgres: PgConnection,
    run_log: RunLog,
    /// Requests that were read already, and until when.
    read: usize,
    until: Duration,
}

/// One moment.
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
            postgres: postgres.expect("how many connections there are"),
            per_second: f64::from(u32::try_from(times.len()).expect("some")) / passed,
            median: at(50),
            slow: at(99),
            errors,
        }
    }

    /// How long requests took since the last time, and how many brought no answer or an error of
    /// the service.
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

    /// Sessions of the token, as the process itself tells.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few sessions"
    )]
    fn sessions(&self) -> u64 {
        let page = ureq::get(format!("http://{}/metrics", self.metrics)).call();
        let text = page.expect("metrics").body_mut().read_to_string();
        let page = Exposition::parse(&text.expect("text"));
        page.sum("sealward_token_sessions", &[]) as u64
    }
}

impl Line {
    pub(crate) const HEAD: &str = "\
        | time | RSS MiB | threads | descriptors | sessions of the token | connections to Postgres | requests a second | median ms | 99 % ms | errors |\n\
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

    /// Descriptors beside those of connections to Postgres, which a pool opens and closes as it
    /// likes, within its bounds.
    pub(crate) fn beside_postgres(&self) -> i64 {
        i64::try_from(self.descriptors).expect("some") - self.postgres
    }
}

/// By how much memory grew since the end of the warm-up, which is a sixth of the time; of so much
/// at the beginning and at the end the mean counts, because memory comes and goes.
pub(crate) fn growth(lines: &[Line]) -> f64 {
    let part = lines.len() / 6;
    let mean = |lines: &[Line]| {
        let number = f64::from(u32::try_from(lines.len()).expect("some")).max(1.0);
        lines.iter().map(Line::mebibytes).sum::<f64>() / number
    };
    let (first, last) = (&lines[part..part * 2], &lines[lines.len() - part..]);
    mean(last) / mean(first) - 1.0
}

/// What is not as it was, or not as it should be.
pub(crate) fn complaints(
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
        found.push(format!(
            "{} sessions of the token before, {} after",
            before.sessions, after.sessions
        ));
    }
    if after.beside_postgres() > before.beside_postgres() {
        found.push(format!(
            "{} descriptors beside those to Postgres before, {} after",
            before.beside_postgres(),
            after.beside_postgres()
        ));
    }
    let most = lines.iter().chain([before]).map(|line| line.postgres).max();
    // The pool, the trail, the notices, and now and then one that looks after the days.
    if most > Some(8 + 3) {
        found.push(format!("{most:?} connections to Postgres"));
    }
    found
}

//! The load generator: `h2load` of nghttp2, which uses little CPU time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

/// The request that the load generator repeats.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) url: String,
    /// The secret of an API key.
    pub(crate) key: Option<String>,
    /// The body of a POST; without it the request is a GET.
    pub(crate) body: Option<String>,
    /// The number of items in the body; 1 unless it is a batch.
    pub(crate) items: usize,
}

/// The number of batches that each connection sends for each second of the span. At the rate of `/protect/batch` they
/// take about as long as the span.
const BATCHES_A_SECOND: u32 = 8;

/// The result of a load. Answers and rate count the items of batches.
pub(crate) struct Load {
    pub(crate) answers: usize,
    pub(crate) rate: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    pub(crate) statuses: BTreeMap<u16, usize>,
}

/// Sends `request` over `connections` connections for `span`, one request at a time on each. A batch is
/// sent a number of times instead: the end of a span would cut off much work.
pub(crate) fn load(request: &Request, connections: usize, span: Duration) -> Load {
    let log = scratch("log");
    let command = h2load_command(request, connections, span, &log);
    finished(command, &log, request.items)
}

/// Sends `request` at `rate` requests per second on each connection.
pub(crate) fn paced(request: &Request, connections: usize, rate: u32, span: Duration) -> Load {
    let log = scratch("log");
    let mut command = h2load_command(request, connections, span, &log);
    command.arg(format!("--rps={rate}"));
    finished(command, &log, request.items)
}

fn finished(mut command: Command, log: &Path, items: usize) -> Load {
    let output = command.output().expect("h2load, of nghttp2-client");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{command:?}: {text}");
    let load = read(log);
    fs::remove_file(log).expect("its end");
    let load = load.unwrap_or_else(|| panic!("{command:?}: no responses: {text}"));
    Load { answers: load.answers * items, rate: load.rate * items as f64, ..load }
}

fn h2load_command(request: &Request, connections: usize, span: Duration, log: &Path) -> Command {
    let mut command = Command::new("h2load");
    command
        .args(["--h1", "--threads", "1"])
        .args(["--clients", &connections.to_string()])
        .arg(format!("--log-file={}", log.display()));
    if request.items > 1 {
        let batches = span.as_secs_f64() * f64::from(BATCHES_A_SECOND);
        command.args(["--requests", &format!("{:.0}", batches.ceil() * connections as f64)]);
    } else {
        command.args(["--duration", &format!("{}ms", span.as_millis())]);
    }
    if let Some(key) = &request.key {
        command.args(["--header", &format!("authorization: Bearer {key}")]);
    }
    if let Some(body) = &request.body {
        let file = scratch("body");
        fs::write(&file, body).expect("write a body");
        command
            .args(["--header", "content-type: application/json"])
            .arg(format!("--data={}", file.display()));
    }
    command.arg(&request.url);
    command
}

/// A file in the temporary folder of the run. Loads may run in parallel.
fn scratch(name: &str) -> PathBuf {
    env::temp_dir().join(format!("{name}-{:016x}", rand::random::<u64>()))
}

/// Each line of the log: start time, status and duration, in microseconds.
fn read(log: &Path) -> Option<Load> {
    let text = fs::read_to_string(log).expect("the log of h2load");
    let mut statuses = BTreeMap::new();
    let mut times = Vec::new();
    let (mut first, mut last) = (u64::MAX, 0);
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (began, status, took): (u64, i32, u64) =
            (words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        // A request that the end of the load cut off has no status.
        let Ok(status) = u16::try_from(status) else {
            continue;
        };
        *statuses.entry(status).or_insert(0) += 1;
        (first, last) = (first.min(began), last.max(began + took));
        times.push(took);
    }
    times.sort_unstable();
    let percentile = |share: usize| {
        let place = (times.len().checked_sub(1)?) * share / 100;
        Some(Duration::from_micros(*times.get(place)?))
    };
    Some(Load {
        answers: times.len(),
        rate: times.len() as f64 / Duration::from_micros(last - first).as_secs_f64(),
        p50: percentile(50)?,
        p99: percentile(99)?,
        statuses,
    })
}

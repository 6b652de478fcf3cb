//! One measurement, and the median of several.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::baseline::Baseline;
use crate::cpu;
use crate::flush;
use crate::generator::{Load, Request, load, paced};

/// The subject of a measurement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// This operation of the service.
    Service(&'static str),
    /// This operation of a service with a kryoptic token.
    OnKryoptic(&'static str),
    /// The echo server.
    Echo,
    /// The audit recorder alone, with one record in flight per connection.
    Commit,
    /// This operation of the token alone, with as many sessions as the service.
    Token(&'static str),
}

/// One row of the table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) subject: Subject,
    /// Connections, records in flight, or sessions.
    pub(crate) at_once: usize,
    pub(crate) bytes: usize,
}

/// The result of one measurement. CPU times are per request, in microseconds.
#[derive(Clone, Default)]
pub(crate) struct Measured {
    pub(crate) rate: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// The CPU time of the service or of the baseline.
    pub(crate) service: f64,
    pub(crate) postgres: f64,
    pub(crate) generator: f64,
    /// The time of one disk flush before the measurement.
    pub(crate) flush: f64,
    pub(crate) statuses: BTreeMap<u16, usize>,
}

/// The CPU time of the processes that take part.
struct Clocks {
    service: Duration,
    postgres: Duration,
    generator: Duration,
}

/// The processes whose CPU time is measured.
#[derive(Clone, Copy)]
pub(crate) struct Processes {
    pub(crate) service: u32,
    pub(crate) postgres: u32,
}

impl Processes {
    /// Sends requests to the service at a fixed rate on each connection.
    pub(crate) fn paced(
        self,
        request: &Request,
        connections: usize,
        rate: u32,
        span: Duration,
    ) -> Measured {
        self.measured(|| paced(request, connections, rate, span))
    }

    /// Sends requests to the service or the echo server.
    pub(crate) fn load(self, request: &Request, connections: usize, span: Duration) -> Measured {
        self.measured(|| load(request, connections, span))
    }

    /// Sends requests to the service. The CPU time after the load counts as well.
    #[allow(clippy::disallowed_methods, reason = "this time is measured")]
    pub(crate) fn load_and_after(
        self,
        request: &Request,
        connections: usize,
        span: Duration,
        after: Duration,
    ) -> Measured {
        self.measured(|| {
            let load = load(request, connections, span);
            thread::sleep(after);
            load
        })
    }

    fn measured(self, load: impl FnOnce() -> Load) -> Measured {
        let flush = flush::time();
        let before = self.clocks();
        let load = load();
        let measured = Measured {
            rate: load.rate,
            p50: micros(load.p50),
            p99: micros(load.p99),
            flush: micros(flush),
            statuses: load.statuses,
            ..Measured::default()
        };
        measured.with(&before, &self.clocks(), load.answers)
    }

    /// Runs an operation of a baseline process.
    pub(crate) fn run(
        self,
        baseline: &mut Baseline,
        what: &str,
        at_once: usize,
        span: Duration,
    ) -> Measured {
        let flush = flush::time();
        let before = self.clocks();
        let done = baseline.measure(what, at_once, span);
        let measured = Measured {
            rate: done.rate,
            p50: micros(done.p50),
            p99: micros(done.p99),
            flush: micros(flush),
            ..Measured::default()
        };
        measured.with(&before, &self.clocks(), done.times)
    }

    fn clocks(self) -> Clocks {
        Clocks {
            service: cpu::of_process(self.service),
            postgres: cpu::of_process_and_children(self.postgres),
            generator: cpu::of_ended_children(),
        }
    }
}

impl Case {
    pub(crate) fn name(&self) -> String {
        match self.subject {
            Subject::Service(operation) => operation.to_owned(),
            Subject::OnKryoptic(operation) => format!("{operation} on kryoptic"),
            Subject::Echo => "baseline: echo".to_owned(),
            Subject::Commit => "baseline: commit".to_owned(),
            Subject::Token(operation) => format!("baseline: token {operation}"),
        }
    }

    pub(crate) fn json(&self, measured: &Measured) -> Value {
        json!({
            "name": self.name(),
            "atOnce": self.at_once,
            "bytes": self.bytes,
            "ratePerSecond": measured.rate.round(),
            "p50Us": measured.p50.round(),
            "p99Us": measured.p99.round(),
            "cpuUs": {
                "service": rounded(measured.service),
                "postgres": rounded(measured.postgres),
                "generator": rounded(measured.generator),
            },
            "flushUs": measured.flush.round(),
            "statuses": measured.statuses,
        })
    }
}

impl Measured {
    /// The number of responses.
    pub(crate) fn answers(&self) -> usize {
        self.statuses.values().sum()
    }

    /// The CPU time of service and Postgres together.
    pub(crate) fn cpu(&self) -> f64 {
        self.service + self.postgres
    }

    fn with(self, before: &Clocks, after: &Clocks, times: usize) -> Self {
        let each = |before: Duration, after: Duration| {
            micros(after.saturating_sub(before)) / times.max(1) as f64
        };
        Self {
            service: each(before.service, after.service),
            postgres: each(before.postgres, after.postgres),
            generator: each(before.generator, after.generator),
            ..self
        }
    }

    /// The median of each number, and the statuses of all rounds.
    pub(crate) fn median(rounds: &[Self]) -> Self {
        let middle = |of: fn(&Self) -> f64| {
            let mut numbers: Vec<f64> = rounds.iter().map(of).collect();
            numbers.sort_by(f64::total_cmp);
            numbers[numbers.len() / 2]
        };
        let mut statuses = BTreeMap::new();
        for (status, count) in rounds.iter().flat_map(|round| &round.statuses) {
            *statuses.entry(*status).or_insert(0) += count;
        }
        Self {
            rate: middle(|it| it.rate),
            p50: middle(|it| it.p50),
            p99: middle(|it| it.p99),
            service: middle(|it| it.service),
            postgres: middle(|it| it.postgres),
            generator: middle(|it| it.generator),
            flush: middle(|it| it.flush),
            statuses,
        }
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

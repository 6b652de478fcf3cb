//! The performance targets, and their evaluation.

use serde_json::{Value, json};

use crate::cases::KIB;
use crate::measure::{Case, Measured, Subject};
use crate::one_session::OneSession;
use crate::resources::Resources;
use crate::sealing::Sealing;
use crate::transit::Ratios;

/// A measured value and its bound.
pub(crate) struct Target {
    pub(crate) what: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) measured: f64,
    pub(crate) bound: Bound,
}

#[derive(Clone, Copy)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Target {
    pub(crate) fn is_reached(&self) -> bool {
        match self.bound {
            Bound::AtMost(most) => self.measured <= most,
            Bound::AtLeast(least) => self.measured >= least,
        }
    }

    pub(crate) fn json(&self) -> Value {
        let (least, most) = match self.bound {
            Bound::AtLeast(least) => (Some(least), None),
            Bound::AtMost(most) => (None, Some(most)),
        };
        json!({
            "what": self.what,
            "unit": self.unit,
            "measured": self.measured,
            "atLeast": least,
            "atMost": most,
            "reached": self.is_reached(),
        })
    }
}

/// The maximum CPU time of service and Postgres per request, at 16 connections and 1 KiB, in µs.
pub(crate) const CPU: [(&str, f64); 6] = [
    ("protect RSA-2048", 60.0),
    ("protect RSA-3072", 80.0),
    ("protect P-256", 95.0),
    ("verify RSA-2048", 60.0),
    ("hash SHA-256", 40.0),
    ("401", 15.0),
];

pub(crate) fn reached(
    results: &[(Case, Measured)],
    (resources, one_session, sealing, transit): (&Resources, &OneSession, &Sealing, &Ratios),
) -> Vec<Target> {
    let of = |subject: Subject, at_once: usize| {
        let is_meant = |case: &Case| {
            let as_many = at_once == 0 || case.at_once == at_once;
            case.subject == subject && case.bytes == KIB && as_many
        };
        let found = results.iter().find(|(case, _)| is_meant(case));
        &found.expect("every run measures this case").1
    };
    let service = |operation, connections| of(Subject::Service(operation), connections);
    let token = |operation| of(Subject::Token(operation), 0);
    let at_most =
        |what, unit, measured, most| Target { what, unit, measured, bound: Bound::AtMost(most) };
    let at_least =
        |what, unit, measured, least| Target { what, unit, measured, bound: Bound::AtLeast(least) };
    let mut targets: Vec<Target> = CPU
        .map(|(operation, most)| at_most(operation, "µs CPU", service(operation, 16).cpu(), most))
        .into();
    let (one, many, most) = ("protect RSA-2048", service("protect RSA-2048", 16), 64);
    let single = service(one, 1);
    let commit = of(Subject::Commit, 1).p50;
    let rsa = (service("unprotect RSA-2048", 16), token("rsa-2048-decrypt"));
    let p256 = (service("unprotect P-256", 16), token("p-256-derive"));
    let [sealing_cpu, sealing_rate, sealing_p99] = sealing.ratios;
    targets.extend([
        at_most("protect RSA-2048 at 64", "µs CPU", service(one, most).cpu(), 50.0),
        at_least("protect RSA-2048", "per second", many.rate, 20_000.0),
        at_least("protect RSA-2048 at 64", "per second", service(one, most).rate, 27_000.0),
        at_most("unprotect RSA-2048 (1.1 × token)", "µs CPU", rsa.0.cpu(), 1.1 * rsa.1.service),
        at_least("unprotect RSA-2048 (0.9 × token)", "per second", rsa.0.rate, 0.9 * rsa.1.rate),
        at_least(
            "unprotect RSA-2048 with 1,000 keys (0.9 × token)",
            "per second",
            resources.unprotect.rate,
            0.9 * resources.token.rate,
        ),
        at_most("unprotect P-256 (token + 50)", "µs CPU", p256.0.cpu(), p256.1.service + 50.0),
        at_most(
            "protect/batch RSA-2048 at 64, per item (0.5 × protect)",
            "µs CPU",
            service("protect/batch RSA-2048", most).cpu(),
            0.5 * service(one, most).cpu(),
        ),
        at_least(
            "unprotect/batch RSA-2048, items (0.95 × token)",
            "per second",
            service("unprotect/batch RSA-2048", 16).rate,
            0.95 * rsa.1.rate,
        ),
        at_most(
            "rewrap/batch RSA-2048, per item (1.1 × token)",
            "µs CPU",
            service("rewrap/batch RSA-2048", 16).cpu(),
            1.1 * rsa.1.service,
        ),
        at_least(
            "unprotect/batch RSA-2048 with one session, items (0.95 × token)",
            "per second",
            one_session.unprotect.rate,
            0.95 * one_session.token.rate,
        ),
        at_least(
            "rewrap/batch RSA-2048 with one session, items (token / 1.1)",
            "per second",
            one_session.rewrap.rate,
            one_session.token.rate / 1.1,
        ),
        at_most("protect RSA-2048 at 1, p50 (one commit + 300)", "µs", single.p50, commit + 300.0),
        at_most("protect RSA-2048, p99 (4 × p50)", "µs", many.p99, 4.0 * many.p50),
        at_most("transit encrypt (× encrypt)", "× CPU", transit.at_16, 1.05),
        at_most("transit encrypt at 64 (× encrypt)", "× CPU", transit.at_64, 1.05),
        at_most("sealing on (× off)", "× CPU", sealing_cpu, 1.12),
        at_least("sealing on (× off)", "× per second", sealing_rate, 0.92),
        at_most("sealing on (× off)", "× p99", sealing_p99, 1.3),
        at_most(
            "sealing on, p99 (2.5 × p50)",
            "µs",
            sealing.on.measured.p99,
            2.5 * sealing.on.measured.p50,
        ),
        at_most("sealing on, write-ahead log", "bytes a record", sealing.on.wal, 600.0),
        at_most("memory when idle", "MiB", resources.at_rest, 60.0),
        at_most("memory at 64 connections", "MiB", resources.most(), 150.0),
        at_most("ready with 1,000 keys in the token", "s", resources.started_in, 1.5),
    ]);
    targets
}

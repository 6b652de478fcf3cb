//! The results as Markdown and as JSON.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::measure::{Case, Measured};
use crate::resources::{KEYS, Resources};
use crate::sealing::{Price, Sealing};
use crate::targets::{Bound, Target};

pub(crate) fn markdown(
    results: &[(Case, Measured)],
    resources: &Resources,
    sealing: &Sealing,
    targets: &[Target],
) -> String {
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "{text}").expect("memory");
    line("| Case | Concurrency | KiB | Per second | p50 ms | p99 ms | CPU µs | Service | Postgres | Load generator | Flush µs | Responses |".to_owned());
    line("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|".to_owned());
    for (case, it) in results {
        line(format!(
            "| {} | {} | {} | {:.0} | {:.2} | {:.2} | {:.1} | {:.1} | {:.1} | {:.1} | {:.0} | {} |",
            case.name(),
            case.at_once,
            case.bytes / 1024,
            it.rate,
            it.p50 / 1e3,
            it.p99 / 1e3,
            it.cpu(),
            it.service,
            it.postgres,
            it.generator,
            it.flush,
            statuses(it),
        ));
    }
    line(String::new());
    line(format!(
        "Memory: {:.1} MiB when idle; {} MiB after successive loads with 64 connections. With {KEYS} \
         extra keys in the token: ready after {:.2} s; unprotect RSA-2048 {:.0}/s ({:.0} µs), the token \
         alone {:.0}/s ({:.0} µs).",
        resources.at_rest,
        resources.loaded.iter().map(|it| format!("{it:.1}")).collect::<Vec<_>>().join(", "),
        resources.started_in,
        resources.unprotect.rate,
        resources.unprotect.cpu(),
        resources.token.rate,
        resources.token.service,
    ));
    line(String::new());
    line(prices(sealing));
    line("| Target | Measured | Bound | |".to_owned());
    line("|---|--:|--:|---|".to_owned());
    for target in targets {
        let digits = if target.measured < 10.0 { 2 } else { 0 };
        let (sign, bound) = match target.bound {
            Bound::AtMost(most) => ("≤", most),
            Bound::AtLeast(least) => ("≥", least),
        };
        line(format!(
            "| {}, {} | {:.digits$} | {sign} {:.digits$} | {} |",
            target.what,
            target.unit,
            target.measured,
            bound,
            if target.is_reached() { "reached" } else { "missed" },
        ));
    }
    out
}

/// The rows of the prices of sealing.
pub(crate) fn prices(sealing: &Sealing) -> String {
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "{text}").expect("memory");
    line(
        "| Sealing | Per second | p50 ms | p99 ms | CPU µs | Service | Postgres | WAL bytes |"
            .to_owned(),
    );
    line("|---|--:|--:|--:|--:|--:|--:|--:|".to_owned());
    for (name, Price { measured: it, wal }) in sealing.rows() {
        line(format!(
            "| {name} | {:.0} | {:.2} | {:.2} | {:.1} | {:.1} | {:.1} | {wal:.0} |",
            it.rate,
            it.p50 / 1e3,
            it.p99 / 1e3,
            it.cpu(),
            it.service,
            it.postgres,
        ));
    }
    let (on, off) = (&sealing.on.measured, &sealing.off.measured);
    line(format!(
        "| the difference of on and off | | | | {:.1} | {:.1} | {:.1} | {:.0} |",
        on.cpu() - off.cpu(),
        on.service - off.service,
        on.postgres - off.postgres,
        sealing.on.wal - sealing.off.wal,
    ));
    out
}

pub(crate) fn json(
    results: &[(Case, Measured)],
    resources: &Resources,
    targets: &[Target],
    (rounds, span): (usize, Duration),
) -> Value {
    json!({
        "machine": machine(),
        "commit": output_of("git", &["rev-parse", "HEAD"]),
        "rounds": rounds,
        "spanMs": u64::try_from(span.as_millis()).expect("a span"),
        "results": results.iter().map(|(case, it)| case.json(it)).collect::<Vec<_>>(),
        "resources": resources.json(),
        "targets": targets.iter().map(Target::json).collect::<Vec<_>>(),
    })
}

/// The machine of this run.
pub(crate) fn machine() -> Value {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find(|line| line.starts_with("model name"));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    json!({
        "processor": model.and_then(|line| line.split_once(": ")).map(|(_, name)| name),
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "kernel": output_of("uname", &["-r"]),
        "loadBefore": load.trim(),
        "generator": output_of("h2load", &["--version"]),
    })
}

fn statuses(measured: &Measured) -> String {
    let shown = |(status, count): (&u16, &usize)| format!("{count} × {status}");
    let shown: Vec<String> = measured.statuses.iter().map(shown).collect();
    shown.join(", ")
}

fn output_of(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let stdout = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&stdout).trim().to_owned()
}

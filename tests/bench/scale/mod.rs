//! How the cost of a request grows with what there is: a small table for each, in the terms of
//! `docs/performance.md`.

mod data;
mod machines;
mod replica;

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;
use std::{env, fs};

use serde_json::{Value, json};

use crate::RESULTS;
use crate::measure::Measured;
use crate::report::machine;

/// How long each measurement takes; it is the one in the middle of three.
const SPAN: Duration = Duration::from_millis(1_500);

/// One thing that grows, and what that does.
pub(crate) struct Table {
    name: &'static str,
    /// What the first column counts.
    of: &'static str,
    rows: Vec<(String, &'static str, Measured)>,
}

const ALL: [&str; 7] = [
    "payload",
    "rows",
    "trail",
    "workers",
    "tokens",
    "latency",
    "instances",
];

/// All tables, or the one of that name.
pub(crate) async fn all(only: Option<&str>) {
    assert!(
        only.is_none_or(|name| ALL.contains(&name)),
        "one of {ALL:?}"
    );
    let mut tables = Vec::new();
    for name in ALL
        .into_iter()
        .filter(|name| only.is_none_or(|only| only == *name))
    {
        let table = match name {
            "payload" => data::payload().await,
            "rows" => data::rows().await,
            "trail" => data::trail().await,
            "workers" => machines::workers().await,
            "tokens" => machines::tokens().await,
            "latency" => machines::latency().await,
            _ => machines::instances().await,
        };
        table.print();
        tables.push(table.json());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(RESULTS);
    fs::create_dir_all(&folder).expect("a folder for the results");
    let told = json!({ "machine": machine(), "tables": tables });
    let file = format!(
        "scale{}.json",
        only.map(|name| format!("-{name}")).unwrap_or_default()
    );
    fs::write(folder.join(&file), format!("{told:#}\n")).expect("write the numbers");
    println!("in {RESULTS}: {file}");
}

impl Table {
    fn new(name: &'static str, of: &'static str) -> Self {
        Self {
            name,
            of,
            rows: Vec::new(),
        }
    }

    fn add(&mut self, count: impl Display, what: &'static str, measured: Measured) {
        eprintln!("{}: {count}, {what}", self.name);
        self.rows.push((count.to_string(), what, measured));
    }

    fn print(&self) {
        println!("{}\n", self.name);
        println!(
            "| {} | operation | a second | p50 ms | p99 ms | CPU µs: service | Postgres | flush µs |",
            self.of
        );
        println!("|--:|---|--:|--:|--:|--:|--:|--:|");
        for (count, what, it) in &self.rows {
            println!(
                "| {count} | {what} | {:.0} | {:.2} | {:.2} | {:.1} | {:.1} | {:.0} |",
                it.rate,
                it.p50 / 1e3,
                it.p99 / 1e3,
                it.service,
                it.postgres,
                it.flush
            );
        }
        println!();
    }

    fn json(&self) -> Value {
        let rows = self.rows.iter().map(|(count, what, it)| {
            json!({
                self.of: count,
                "operation": what,
                "ratePerSecond": it.rate.round(),
                "p50Us": it.p50.round(),
                "p99Us": it.p99.round(),
                "cpuUs": { "service": it.service.round(), "postgres": it.postgres.round() },
                "flushUs": it.flush.round(),
                "statuses": it.statuses,
            })
        });
        json!({ "name": self.name, "rows": rows.collect::<Vec<_>>() })
    }
}

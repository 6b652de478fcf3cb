//! How the cost of a request depends on data, sessions, tokens and instances: one table for each.

mod data;
mod fairness;
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

/// The duration of one measurement; the result is the median of three.
const SPAN: Duration = Duration::from_millis(1_500);

/// The results for one growing quantity.
pub(crate) struct Table {
    name: &'static str,
    /// The title of the first column.
    of: &'static str,
    rows: Vec<(String, &'static str, Measured)>,
}

const ALL: [&str; 8] =
    ["payload", "rows", "audit", "workers", "tokens", "latency", "instances", "fairness"];

/// Measures all tables, or the table of that name.
pub(crate) async fn run(only: Option<&str>) {
    assert!(only.is_none_or(|name| ALL.contains(&name)), "one of {ALL:?}");
    let mut tables = Vec::new();
    for name in ALL.into_iter().filter(|name| only.is_none_or(|only| only == *name)) {
        let table = match name {
            "payload" => data::payload().await,
            "rows" => data::rows().await,
            "audit" => data::audit().await,
            "workers" => machines::workers().await,
            "tokens" => machines::tokens().await,
            "latency" => machines::latency().await,
            "instances" => machines::instances().await,
            _ => fairness::fairness().await,
        };
        table.print();
        tables.push(table.json());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(RESULTS);
    fs::create_dir_all(&folder).expect("a folder for the results");
    let report = json!({ "machine": machine(), "tables": tables });
    let file = format!("scale{}.json", only.map(|name| format!("-{name}")).unwrap_or_default());
    fs::write(folder.join(&file), format!("{report:#}\n")).expect("write the numbers");
    println!("written to {RESULTS}: {file}");
}

impl Table {
    fn new(name: &'static str, of: &'static str) -> Self {
        Self { name, of, rows: Vec::new() }
    }

    fn add(&mut self, count: impl Display, what: &'static str, measured: Measured) {
        eprintln!("{}: {count}, {what}", self.name);
        self.rows.push((count.to_string(), what, measured));
    }

    fn print(&self) {
        println!("{}\n", self.name);
        println!(
            "| {} | Operation | Per second | p50 ms | p99 ms | CPU µs: service | Postgres | Flush µs |",
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

//! The metrics of the process under the names that Prometheus clients share, from `/proc`.

use std::fmt;
use std::fs;

use prometheus_client::encoding::NoLabelSet;
use prometheus_client::metrics::MetricType;
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};

use super::page::{Page, count, exact};

/// Writes what the system reports. Without `/proc` there is nothing to write.
pub(super) fn process(page: &mut Page<'_>) -> fmt::Result {
    if let Some(usage) =
        fs::read_to_string("/proc/self/stat").ok().and_then(|stat| Usage::parse(&stat))
    {
        usage.write(page)?;
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        page.gauge("process_open_fds", "Open file descriptors.", count(open.count()))?;
    }
    if let Some(most) = getrlimit(Resource::Nofile).current {
        page.gauge("process_max_fds", "Maximum number of open file descriptors.", exact(most))?;
    }
    Ok(())
}

/// The fields of `/proc/self/stat` that are shown.
struct Usage {
    /// User and system time, in clock ticks.
    ticks: u64,
    /// The start after the start of the system, in clock ticks.
    started: u64,
    virtual_bytes: u64,
    resident_pages: u64,
}

impl Usage {
    /// The name of the program, in parentheses, can contain any character. The next field is the third.
    fn parse(stat: &str) -> Option<Self> {
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse().ok();
        let (user, system): (u64, u64) = (field(14)?, field(15)?);
        Some(Self {
            ticks: user + system,
            started: field(22)?,
            virtual_bytes: field(23)?,
            resident_pages: field(24)?,
        })
    }

    fn write(&self, page: &mut Page<'_>) -> fmt::Result {
        let seconds = |ticks| exact(ticks) / exact(clock_ticks_per_second());
        page.metric(
            "process_cpu_seconds",
            "User and system time of the process in seconds.",
            MetricType::Counter,
            |mut encoder| encoder.encode_counter::<NoLabelSet, _, f64>(&seconds(self.ticks), None),
        )?;
        page.gauge(
            "process_resident_memory_bytes",
            "Resident memory.",
            exact(self.resident_pages) * count(page_size()),
        )?;
        page.gauge("process_virtual_memory_bytes", "Virtual memory.", exact(self.virtual_bytes))?;
        if let Some(boot) = fs::read_to_string("/proc/stat").ok().and_then(|stat| boot(&stat)) {
            page.gauge(
                "process_start_time_seconds",
                "Start of the process, as a Unix time.",
                exact(boot) + seconds(self.started),
            )?;
        }
        Ok(())
    }
}

/// The start of the system as a Unix time, from `/proc/stat`.
fn boot(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_program_can_contain_parentheses() {
        let fields: Vec<String> = (4..53).map(|number| number.to_string()).collect();
        let stat = format!("7 (a) b (c) R {}", fields.join(" "));
        let usage = Usage::parse(&stat).unwrap();
        let found = (usage.ticks, usage.started, usage.virtual_bytes, usage.resident_pages);
        assert_eq!(found, (14 + 15, 22, 23, 24));
        assert!(Usage::parse("7 (a) R 4").is_none());
    }

    #[test]
    fn the_start_of_the_system_is_found() {
        assert_eq!(boot("cpu 1 2\nbtime 1700000000\n"), Some(1_700_000_000));
        assert_eq!(boot("cpu 1 2\n"), None);
    }
}

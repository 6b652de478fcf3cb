//! CPU time and memory of processes, read from `/proc`.

use std::fs;
use std::time::Duration;

/// The unit of times in `/proc` is `USER_HZ`, which is 100 on all current Linux platforms.
const TICKS: u64 = 100;

/// The fields of `/proc/PID/stat` that are used.
struct Stat {
    parent: u32,
    own: u64,
    ended_children: u64,
}

/// The CPU time of a process and all its threads.
pub(crate) fn of_process(id: u32) -> Duration {
    ticks(stat(&id.to_string()).map_or(0, |stat| stat.own))
}

/// The CPU time of children that this process has waited for.
pub(crate) fn of_ended_children() -> Duration {
    ticks(stat("self").map_or(0, |stat| stat.ended_children))
}

/// The CPU time of a process and all its children, including children that have ended.
pub(crate) fn of_process_and_children(id: u32) -> Duration {
    let children = fs::read_dir("/proc").expect("/proc").flatten();
    let children = children.filter_map(|entry| stat(entry.file_name().to_str()?));
    let living: u64 = children.filter(|child| child.parent == id).map(|child| child.own).sum();
    let parent = stat(&id.to_string()).expect("a running process");
    ticks(parent.own + parent.ended_children + living)
}

/// The busy time of all processors, and the part of it that the hypervisor took (steal).
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    busy: u64,
    stolen: u64,
}

impl Machine {
    pub(crate) fn now() -> Self {
        let text = fs::read_to_string("/proc/stat").expect("/proc/stat");
        let line = text.lines().next().expect("all processors");
        // user nice system idle iowait irq softirq steal
        let times: Vec<u64> =
            line.split_whitespace().skip(1).map(|it| it.parse().expect("a number")).collect();
        let stolen = times[7];
        Self { busy: times[..3].iter().chain(&times[5..7]).sum::<u64>() + stolen, stolen }
    }

    /// The steal time since then, in percent of the busy time.
    pub(crate) fn stolen_since(self) -> f64 {
        let now = Self::now();
        (now.stolen - self.stolen) as f64 * 100.0 / (now.busy - self.busy).max(1) as f64
    }
}

/// The parent of a process.
pub(crate) fn parent_of(id: u32) -> u32 {
    stat(&id.to_string()).expect("a running process").parent
}

/// The memory of a process that is in RAM, in bytes.
pub(crate) fn resident(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).expect("a running process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kibibytes.expect("kB").trim().parse::<u64>().expect("a number") * 1024
}

fn stat(process: &str) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before may hold spaces and brackets.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Stat {
        parent: u32::try_from(number(1)?).ok()?,
        own: number(11)? + number(12)?,
        ended_children: number(13)? + number(14)?,
    })
}

fn ticks(count: u64) -> Duration {
    Duration::from_millis(count * 1_000 / TICKS)
}

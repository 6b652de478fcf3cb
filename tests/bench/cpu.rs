//! The processor time of processes, which holds on a noisy machine where rates do not.

use std::fs;
use std::time::Duration;

/// The unit of times in `/proc`: `USER_HZ`, which is 100 wherever Linux runs today.
const TICKS: u64 = 100;

/// What `/proc` tells of one process.
struct Stat {
    parent: u32,
    own: u64,
    buried: u64,
}

/// What a process has used so far, with all its threads.
pub(crate) fn of_process(id: u32) -> Duration {
    ticks(stat(&id.to_string()).map_or(0, |stat| stat.own))
}

/// What the children have used that this process has waited for.
pub(crate) fn of_ended_children() -> Duration {
    ticks(stat("self").map_or(0, |stat| stat.buried))
}

/// What a process and all its children have used, those that have ended included.
pub(crate) fn of_family(id: u32) -> Duration {
    let children = fs::read_dir("/proc").expect("/proc").flatten();
    let children = children.filter_map(|entry| stat(entry.file_name().to_str()?));
    let living: u64 = children
        .filter(|child| child.parent == id)
        .map(|child| child.own)
        .sum();
    let head = stat(&id.to_string()).expect("the head of a family");
    ticks(head.own + head.buried + living)
}

/// How long the processors had work, and how long of that the machine that this one is a part of gave
/// them to others.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    wanted: u64,
    stolen: u64,
}

impl Machine {
    pub(crate) fn now() -> Self {
        let text = fs::read_to_string("/proc/stat").expect("/proc/stat");
        let line = text.lines().next().expect("all processors");
        // user nice system idle iowait irq softirq steal
        let times: Vec<u64> = line
            .split_whitespace()
            .skip(1)
            .map(|it| it.parse().expect("a number"))
            .collect();
        let stolen = times[7];
        Self {
            wanted: times[..3].iter().chain(&times[5..7]).sum::<u64>() + stolen,
            stolen,
        }
    }

    /// The share that was given to others since then, in percent.
    pub(crate) fn stolen_since(self) -> f64 {
        let now = Self::now();
        (now.stolen - self.stolen) as f64 * 100.0 / (now.wanted - self.wanted).max(1) as f64
    }
}

/// The parent of a process.
pub(crate) fn parent_of(id: u32) -> u32 {
    stat(&id.to_string()).expect("a living process").parent
}

/// The memory of a process that is in RAM, in bytes.
pub(crate) fn resident(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).expect("a living process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kibibytes
        .expect("kB")
        .trim()
        .parse::<u64>()
        .expect("a number")
        * 1024
}

fn stat(process: &str) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before may hold spaces and brackets.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    Some(Stat {
        parent: u32::try_from(number(1)?).ok()?,
        own: number(11)? + number(12)?,
        buried: number(13)? + number(14)?,
    })
}

fn ticks(count: u64) -> Duration {
    Duration::from_millis(count * 1_000 / TICKS)
}

//! Profiles the service with `perf` of Linux under a load of one operation.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use crate::RESULTS;
use crate::generator::load;
use crate::instance::Instance;
use testkit::Site;

/// The duration of the recording.
const RECORDED: Duration = Duration::from_secs(8);

/// The number of connections, as for most targets.
const AT_ONCE: usize = 16;

/// The maximum length of a printed line.
const WIDTH: usize = 110;

/// Prints shares of the CPU time by library, by thread and by function, and keeps the recording.
pub(crate) async fn print(operation: &str, bytes: usize) {
    let site = Site::new().await;
    let instance = Instance::start(&site).await;
    let request = instance.request(operation, bytes);
    let service = instance.process.id().to_string();
    let seconds = RECORDED.as_secs().to_string();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(RESULTS);
    fs::create_dir_all(&folder).expect("a folder for the results");
    let recording = folder.join("profile.data");
    let loading = thread::spawn(move || load(&request, AT_ONCE, 2 * RECORDED));
    let status = Command::new("perf")
        .args(["record", "--quiet", "--freq", "1999", "-g", "--pid"])
        .args([service.as_str(), "--output"])
        .arg(&recording)
        .args(["--", "sleep", &seconds])
        .status();
    let status = status.expect("perf, of linux-perf");
    assert!(status.success(), "perf needs permission to record: run as root");
    let load = loading.join().expect("an end of the load");
    println!(
        "{operation}, {bytes} bytes: {:.0} per second, statuses {:?}",
        load.rate, load.statuses
    );
    for by in ["dso", "comm", "symbol"] {
        println!("\nby {by}\n{}", shares(&recording, by));
    }
    println!("written to {RESULTS}: profile.data, for perf report");
}

/// The shares of 0.2 percent and more, without unnamed symbols.
fn shares(recording: &Path, by: &str) -> String {
    let report = Command::new("perf")
        .args(["report", "--stdio", "--no-children", "--call-graph", "none"])
        .args(["--percent-limit", "0.2", "--sort", by, "--input"])
        .arg(recording)
        .stderr(Stdio::null())
        .output();
    let report = report.expect("perf").stdout;
    let report = String::from_utf8_lossy(&report);
    let lines =
        report.lines().filter(|line| !line.starts_with('#') && !line.contains("0x00000000"));
    let lines = lines.map(|line| line.chars().take(WIDTH).collect::<String>());
    let lines = lines.map(|line| line.trim_end().to_owned());
    lines.filter(|line| !line.is_empty()).map(|line| line + "\n").collect()
}

//! Where the service's time goes, function by function: `perf` of Linux, while one operation is asked
//! for all the time.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use crate::RESULTS;
use crate::generator::{Protocol, load};
use crate::place::Place;
use crate::process::Site;

/// How long it is watched, in the middle of the load.
const WATCHED: Duration = Duration::from_secs(8);

/// As many requests at once as the targets are told for.
const AT_ONCE: usize = 16;

/// Of a function's name so much is shown.
const WIDTH: usize = 110;

/// Prints what takes the most, in shares of the service's time: parts, threads, functions. The
/// recording stays, for those who want to know more.
pub(crate) async fn print(operation: &str, bytes: usize) {
    let site = Site::new().await;
    let place = Place::arrange(&site).await;
    let request = place.request(operation, bytes);
    let service = place.process.id().to_string();
    let seconds = WATCHED.as_secs().to_string();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(RESULTS);
    fs::create_dir_all(&folder).expect("a folder for the results");
    let recording = folder.join("profile.data");
    let asked = thread::spawn(move || load(&request, Protocol::Http1, AT_ONCE, 2 * WATCHED));
    let watched = Command::new("perf")
        .args(["record", "--quiet", "--freq", "1999", "-g", "--pid"])
        .args([service.as_str(), "--output"])
        .arg(&recording)
        .args(["--", "sleep", &seconds])
        .status();
    let watched = watched.expect("perf, of linux-perf");
    assert!(watched.success(), "perf may watch what root runs");
    let load = asked.join().expect("an end of the load");
    println!(
        "{operation}, {bytes} bytes: {:.0} a second, answered {:?}",
        load.rate, load.statuses
    );
    for by in ["dso", "comm", "symbol"] {
        println!("\nby {by}\n{}", shares(&recording, by));
    }
    println!("in {RESULTS}: profile.data, for perf report");
}

/// The shares of a fifth of a percent and more, without those that have no name.
fn shares(recording: &Path, by: &str) -> String {
    let told = Command::new("perf")
        .args(["report", "--stdio", "--no-children", "--call-graph", "none"])
        .args(["--percent-limit", "0.2", "--sort", by, "--input"])
        .arg(recording)
        .stderr(Stdio::null())
        .output();
    let told = told.expect("perf").stdout;
    let told = String::from_utf8_lossy(&told);
    let lines = told
        .lines()
        .filter(|line| !line.starts_with('#') && !line.contains("0x00000000"));
    let lines = lines.map(|line| line.chars().take(WIDTH).collect::<String>());
    let lines = lines.map(|line| line.trim_end().to_owned());
    lines
        .filter(|line| !line.is_empty())
        .map(|line| line + "\n")
        .collect()
}

//! Where the service's time goes, function by function: `perf` of Linux, while one operation is asked
//! for all the time.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::generator::{Protocol, load};
use crate::place::Place;
use crate::process::Site;

/// How long it is watched, in the middle of the load.
const WATCHED: Duration = Duration::from_secs(8);

/// As many requests at once as the targets are told for.
const AT_ONCE: usize = 16;

/// Prints the functions that take the most, in shares of the service's time.
pub(crate) async fn print(operation: &str, bytes: usize) {
    let site = Site::new().await;
    let place = Place::arrange(&site).await;
    let request = place.request(operation, bytes);
    let service = place.process.id().to_string();
    let seconds = WATCHED.as_secs().to_string();
    let log = std::env::temp_dir().join("profile");
    let asked = thread::spawn(move || load(&request, Protocol::Http1, AT_ONCE, 2 * WATCHED));
    let watched = Command::new("perf")
        .args([
            "record", "--quiet", "--freq", "1999", "-g", "--pid", &service,
        ])
        .arg("--output")
        .args([
            log.as_os_str(),
            "--".as_ref(),
            "sleep".as_ref(),
            seconds.as_ref(),
        ])
        .status()
        .expect("perf, of linux-perf");
    assert!(watched.success(), "perf may watch what root runs");
    let load = asked.join().expect("an end of the load");
    println!("{operation}, {bytes} bytes: {:.0} a second\n", load.rate);
    let told = Command::new("perf")
        .args(["report", "--stdio", "--no-children", "--call-graph", "none"])
        .args(["--percent-limit", "0.3", "--sort", "dso,symbol", "--input"])
        .arg(&log)
        .stderr(Stdio::null())
        .status();
    assert!(told.expect("perf").success(), "what was recorded is read");
}

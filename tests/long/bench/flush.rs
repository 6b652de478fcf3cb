//! The time the disk takes to flush one page. Every commit waits for a flush.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

/// The number of flushes; the result is their median.
const TIMES: usize = 41;
/// A page of the write-ahead log of Postgres.
const PAGE: [u8; 8192] = [0x5a; 8192];

/// The median time of `fdatasync` after one page, as Postgres does it on Linux. The file is on the
/// file system of the cluster.
pub(crate) fn time() -> Duration {
    let path = env::temp_dir().join("flush");
    let file = File::create(&path).expect("a file");
    file.write_all_at(&[0; 16 * PAGE.len()], 0).expect("room");
    file.sync_all().expect("a disk");
    let mut times: Vec<Duration> = (0..TIMES).map(|turn| one(&file, turn % 16)).collect();
    times.sort_unstable();
    fs::remove_file(path).expect("its end");
    times[TIMES / 2]
}

fn one(file: &File, page: usize) -> Duration {
    let began = Instant::now();
    file.write_all_at(&PAGE, (page * PAGE.len()) as u64).expect("a page");
    file.sync_data().expect("a disk");
    began.elapsed()
}

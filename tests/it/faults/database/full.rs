//! The disk of Postgres is full.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::geteuid;

use crate::faults::fixture::{Fixture, SHORT_LIMITS};
use crate::faults::load::Action;
use testkit::Cluster;
use testkit::Site;

/// The actions that need audit records.
const RECORDED: [Action; 3] = [Action::Protect, Action::Unprotect, Action::Hash];

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_refused_while_the_disk_of_postgres_is_full() {
    if !geteuid().is_root() {
        eprintln!("skipped: requires root to create a small file system");
        return;
    }
    let cluster = Cluster::start().await;
    let disk = Disk::small(cluster.subfolder("disk"), cluster.user());
    let site = Site::on(cluster.through_proxy());
    let fixture = Fixture::at(site, &SHORT_LIMITS).await;
    let path = disk.path().display();
    cluster.run(&format!("CREATE TABLESPACE small LOCATION '{path}'")).await;
    cluster
        .run(
            "DO $$ DECLARE day regclass; BEGIN
               FOR day IN SELECT inhrelid FROM pg_inherits
                           WHERE inhparent = 'crypto_operations_audit'::regclass LOOP
                 EXECUTE format('ALTER TABLE %s SET TABLESPACE small', day);
               END LOOP;
             END $$",
        )
        .await;
    let load = fixture.load();
    load.is_served(&Action::ALL).await;
    disk.fill();
    load.is_refused(&RECORDED).await;
    disk.clear();
    load.is_served(&Action::ALL).await;
    fixture.assert_recorded_once(load.end().await).await;
}

/// A small file system.
struct Disk(PathBuf);

impl Disk {
    fn small(folder: PathBuf, (user, group): (u32, u32)) -> Self {
        let options = format!("size=8m,mode=700,uid={user},gid={group}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(&folder)
            .status();
        assert!(mounted.expect("run mount").success());
        Self(folder)
    }

    fn path(&self) -> &Path {
        &self.0
    }

    /// Fills the file system.
    fn fill(&self) {
        let mut ballast = File::create(self.0.join("ballast")).expect("a file");
        while ballast.write_all(&[0; 4096]).is_ok() {}
    }

    fn clear(&self) {
        fs::remove_file(self.0.join("ballast")).expect("remove the file");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // It is unmounted when it is no longer used.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

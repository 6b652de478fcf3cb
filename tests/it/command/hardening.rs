//! The hardening of the process before it reads its first secret.
//!
//! The password is read from a pipe without a writer. The hardened process waits there until the end
//! of the test.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, geteuid, kill_process};

use testkit::{PATIENCE, Scratch, within};

/// The user ID of an unprivileged user.
const UNPRIVILEGED: u32 = 65_534;

/// A process that waits for its first secret.
struct Waiting {
    folder: Scratch,
    child: Child,
}

impl Waiting {
    /// Starts the process as an unprivileged user in a shell that first runs `before`.
    async fn start(before: &str) -> Self {
        let folder = Scratch::new();
        let pipe = folder.path().join("password");
        let created = Command::new("mkfifo").args(["-m", "666"]).arg(&pipe).status();
        assert!(created.expect("run mkfifo").success());
        let settings = format!(
            "[http]\nlisten = \"127.0.0.1:0\"\n[database]\npassword = {{ file = \"{}\" }}\n",
            pipe.display()
        );
        let config = folder.path().join("sealward.toml");
        fs::write(&config, settings).expect("write the settings");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).expect("open it");
        let log = fs::File::create(folder.path().join("log")).expect("a log");
        let mut command = Command::new("bash");
        command
            .args(["-c", &format!("{before}; exec \"$@\""), "start"])
            .arg(program(&folder))
            .arg("serve")
            .env_clear()
            .env("SEALWARD_CONFIG", &config)
            .current_dir(folder.path())
            .stderr(log);
        drop_root(&mut command);
        let waiting = Self { folder, child: command.spawn().expect("start the service") };
        // All hardening except memory locking is complete.
        within(PATIENCE, async || waiting.status("NoNewPrivs") == "1").await;
        waiting
    }

    /// A value from the process status of the kernel.
    fn status(&self, name: &str) -> String {
        let status = fs::read_to_string(self.proc("status")).expect("its status");
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map(|rest| rest.trim_start_matches(':').trim().to_owned()).unwrap_or_default()
    }

    fn proc(&self, file: &str) -> PathBuf {
        Path::new("/proc").join(self.child.id().to_string()).join(file)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).expect("its log")
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // An error means that the test has already ended it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A copy of the binary that every user can run.
fn program(folder: &Scratch) -> PathBuf {
    let built = testkit::program();
    if !geteuid().is_root() {
        return built;
    }
    let copy = folder.path().join("sealward");
    fs::copy(&built, &copy).expect("copy the binary");
    copy
}

/// Root bypasses the checks, so the test uses another user.
fn drop_root(command: &mut Command) {
    if geteuid().is_root() {
        command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    }
}

/// Whether another process of the same user can read a file in /proc.
fn can_read(file: &Path) -> bool {
    let mut reader = Command::new("head");
    reader.args(["-c", "1"]).arg(file);
    drop_root(&mut reader);
    reader.stdout(Stdio::null()).stderr(Stdio::null());
    reader.status().expect("run head").success()
}

#[tokio::test]
async fn core_dumps_and_new_privileges_are_disabled() {
    let mut waiting = Waiting::start("ulimit -S -c hard").await;
    let limits = fs::read_to_string(waiting.proc("limits")).expect("its limits");
    let cores = limits.lines().find(|line| line.starts_with("Max core file size"));
    let cores: Vec<_> = cores.expect("a limit").split_whitespace().collect();
    assert_eq!(cores, ["Max", "core", "file", "size", "0", "0", "bytes"]);
    assert_eq!(waiting.status("NoNewPrivs"), "1");
    let id = i32::try_from(waiting.child.id()).expect("a process id");
    kill_process(Pid::from_raw(id).expect("a process id"), Signal::ABORT).expect("send SIGABRT");
    let ended = waiting.child.wait().expect("its end");
    assert_eq!(ended.signal(), Some(6));
    assert!(!ended.core_dumped());
    let left = fs::read_dir(waiting.folder.path()).expect("its folder");
    let names: Vec<_> = left.map(|entry| entry.expect("a file").file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().starts_with("core")), "{names:?}");
}

#[tokio::test]
async fn no_thread_gains_privileges() {
    let waiting = Waiting::start(":").await;
    let threads = || -> Vec<String> {
        let tasks = fs::read_dir(waiting.proc("task")).expect("its threads");
        let statuses =
            tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("status")).ok());
        statuses
            .filter_map(|status| {
                let line = status.lines().find_map(|line| line.strip_prefix("NoNewPrivs:"));
                line.map(|value| value.trim().to_owned())
            })
            .collect()
    };
    within(PATIENCE, async || threads().len() > 1).await;
    assert!(threads().iter().all(|value| value == "1"), "{:?}", threads());
}

#[tokio::test]
async fn huge_pages_are_disabled() {
    let waiting = Waiting::start(":").await;
    assert_eq!(waiting.status("THP_enabled"), "0");
}

#[tokio::test]
async fn processes_of_the_same_user_cannot_read_its_memory() {
    let waiting = Waiting::start(":").await;
    let mut other = Command::new("sleep");
    other.arg("600").env("A", "B");
    drop_root(&mut other);
    let mut other = other.spawn().expect("run sleep");
    let of_other = Path::new("/proc").join(other.id().to_string());
    // These files are readable for other processes of the same user, but not for this one.
    within(PATIENCE, async || can_read(&of_other.join("environ"))).await;
    other.kill().expect("end sleep");
    other.wait().expect("its end");
    for file in ["environ", "mem", "maps"] {
        assert!(!can_read(&waiting.proc(file)), "{file}");
    }
}

#[tokio::test]
async fn memory_that_cannot_be_locked_is_reported_with_the_remedy() {
    let waiting = Waiting::start("ulimit -l 0").await;
    within(PATIENCE, async || waiting.log().contains("set LimitMEMLOCK=infinity for this service"))
        .await;
    assert_eq!(waiting.status("VmLck"), "0 kB");
}

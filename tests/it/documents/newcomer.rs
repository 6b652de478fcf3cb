//! A newcomer: a copy of the repository, and a service as `./dev up` leaves it.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::process::{Process, Site};
use crate::support::superuser;

use super::markdown::top;

/// Does what `./dev up` does once its service is ready, with the service that is given.
const DEMO: &str = r#"
    root=$1 here=$1 state=$2 url=$3 program=$4
    cd "$root"
    . deploy/dev/say.sh
    . deploy/dev/up.sh
    . deploy/dev/demo.sh
    demo
"#;

pub(super) struct Newcomer {
    site: Site,
    service: Process,
}

impl Newcomer {
    pub(super) async fn new() -> Self {
        let site = Site::new().await;
        let service = Process::start(&site).await;
        let newcomer = Self { site, service };
        let demo = newcomer
            .shell(top())
            .args(["-euo", "pipefail", "-c", DEMO, "demo"])
            .args([top(), newcomer.site.folder()])
            .arg(newcomer.service.url(""))
            .arg(env!("CARGO_BIN_EXE_sealward"))
            .output()
            .expect("run the demo");
        assert!(demo.status.success(), "{}", told(&demo));
        newcomer
    }

    /// A folder that looks like a fresh copy of the repository beside the running service; with
    /// the libraries that `npm install` would bring.
    pub(super) fn copy_of_the_repository(&self, name: &str) -> PathBuf {
        let folder = self.site.folder().join("copies").join(name);
        fs::create_dir_all(&folder).expect("a folder");
        for entry in fs::read_dir(top()).expect("the repository") {
            let entry = entry.expect("an entry");
            let name = entry.file_name();
            let name = name.to_str().expect("a name of text");
            if name != "target" && !name.starts_with('.') {
                symlink(entry.path(), folder.join(name)).expect("a link");
            }
        }
        symlink(self.site.folder(), folder.join(".dev")).expect("a link");
        symlink(libraries(), folder.join("node_modules")).expect("a link");
        folder
    }

    /// Runs a document's script in that folder, to the first command that fails. What it leaves
    /// running ends with it.
    pub(super) fn read(&self, folder: &Path, script: &str) -> Output {
        let [out, err] = ["printed", "complained"].map(|name| folder.join(name));
        let mut shell = self
            .shell(folder)
            .args(["-euo", "pipefail", "-c", script, "document"])
            .stdin(Stdio::null())
            .stdout(File::create(&out).expect("a file"))
            .stderr(File::create(&err).expect("a file"))
            .process_group(0)
            .spawn()
            .expect("run a shell");
        let status = shell.wait().expect("its end");
        let group = i32::try_from(shell.id()).ok().and_then(Pid::from_raw);
        // There is no group any more where nothing was left running.
        let _ = kill_process_group(group.expect("a group"), Signal::KILL);
        Output {
            status,
            stdout: fs::read(out).expect("what it printed"),
            stderr: fs::read(err).expect("what it complained of"),
        }
    }

    /// A shell in that folder. It knows how to reach Postgres, and nothing of this process.
    pub(super) fn shell(&self, folder: &Path) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_sealward"));
        let programs = program.parent().expect("a folder of programs");
        let mut shell = Command::new("timeout");
        shell
            .args(["--foreground", "900", "bash"])
            .current_dir(folder)
            .env_clear()
            .env("PATH", format!("{}:{}", programs.display(), path()))
            .env("HOME", folder)
            .env("LANG", "C.UTF-8")
            .envs(["A", "B", "METRICS", "PORT"].map(|name| (name, free_port())))
            .envs(superuser());
        shell
    }
}

/// A port that nobody has. Below those that the system gives to whoever asks for any, so that it
/// stays free until it is used.
fn free_port() -> String {
    loop {
        let port = rand::random_range(10_000..32_000_u16);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port.to_string();
        }
    }
}

/// What a run said, for whoever must find out why it failed.
pub(super) fn told(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{}\n{out}\n{err}", output.status)
}

#[allow(
    clippy::disallowed_methods,
    reason = "a person's shell finds its programs as this one does"
)]
fn path() -> String {
    std::env::var("PATH").expect("where programs are")
}

#[allow(
    clippy::disallowed_methods,
    reason = "where ./dev test put the libraries"
)]
fn libraries() -> PathBuf {
    let home = std::env::var_os("SEALWARD_TEST_INTEROP");
    let home = home.expect("SEALWARD_TEST_INTEROP names them; ./dev test sets it");
    PathBuf::from(home).join("node_modules")
}

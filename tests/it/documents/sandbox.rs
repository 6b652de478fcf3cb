//! A copy of the repository and a service in the state of `./dev up`.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use testkit::superuser;
use testkit::{Process, Site};

use super::markdown::top;

/// The last step of `./dev up`, applied to the given service.
const DEMO: &str = r#"
    root=$1 here=$1 state=$2 url=$3 program=$4
    cd "$root"
    . deploy/dev/output.sh
    . deploy/dev/up.sh
    . deploy/dev/demo.sh
    demo
"#;

pub(super) struct Sandbox {
    service: Process,
    site: Site,
}

impl Sandbox {
    pub(super) async fn new() -> Self {
        let site = Site::new().await;
        site.add_settings("[transit]\nenabled = true\n");
        site.run(&["init"]).success();
        let keys = site.run(&["audit", "init"]).success().stdout;
        site.write("audit-keys", &keys);
        let service = Process::start(&site).await;
        let sandbox = Self { site, service };
        let demo = sandbox
            .shell(top())
            .envs(sandbox.site.environment())
            .args(["-euo", "pipefail", "-c", DEMO, "demo"])
            .args([top(), sandbox.site.folder()])
            .arg(sandbox.service.url(""))
            .arg(testkit::program())
            .output()
            .expect("run the demo");
        assert!(demo.status.success(), "{}", describe(&demo));
        sandbox
    }

    /// A folder like a fresh clone next to the running service, with the libraries that
    /// `npm install` and `pip install` provide.
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
        symlink(libraries().join("node_modules"), folder.join("node_modules")).expect("a link");
        folder
    }

    /// Runs a document's script in that folder until a command fails. Kills its remaining
    /// processes at the end.
    pub(super) fn run(&self, folder: &Path, script: &str) -> Output {
        let [out, err] = ["stdout", "stderr"].map(|name| folder.join(name));
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
        // The group no longer exists if the script left no process.
        let _ = kill_process_group(group.expect("a group"), Signal::KILL);
        Output {
            status,
            stdout: fs::read(out).expect("its standard output"),
            stderr: fs::read(err).expect("its standard error"),
        }
    }

    /// A shell in that folder with access to Postgres and without the environment of this process.
    pub(super) fn shell(&self, folder: &Path) -> Command {
        let program = testkit::program();
        let programs = program.parent().expect("a folder of programs");
        let python = libraries().join("venv/bin");
        let mut shell = Command::new("timeout");
        shell
            .args(["--foreground", "900", "bash"])
            .current_dir(folder)
            .env_clear()
            .env("PATH", format!("{}:{}:{}", programs.display(), python.display(), path()))
            .env("HOME", folder)
            .env("LANG", "C.UTF-8")
            .envs(["A", "B", "METRICS", "PORT"].map(|name| (name, free_port())))
            .envs(superuser());
        shell
    }
}

/// A free port below the ephemeral range, so that it stays free until it is used.
fn free_port() -> String {
    loop {
        let port = rand::random_range(10_000..32_000_u16);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port.to_string();
        }
    }
}

/// Status and output of a command, for failure messages.
pub(super) fn describe(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{}\n{out}\n{err}", output.status)
}

#[allow(clippy::disallowed_methods, reason = "the shell uses the PATH of this process")]
fn path() -> String {
    std::env::var("PATH").expect("PATH is set")
}

#[allow(clippy::disallowed_methods, reason = "./dev test sets the folder of the libraries")]
fn libraries() -> PathBuf {
    let home = std::env::var_os("SEALWARD_TEST_INTEROP");
    let home = home.expect("SEALWARD_TEST_INTEROP is not set; use ./dev test");
    PathBuf::from(home)
}

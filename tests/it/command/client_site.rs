//! A running service, and the commands that call its runtime API.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use testkit::{Destination, Exit, Process, Scratch, program};

/// A service with an application, and a folder for its files.
pub(super) struct ClientSite {
    pub(super) process: Process,
    pub(super) destination: Destination,
    folder: Scratch,
    _site: testkit::Site,
}

impl ClientSite {
    pub(super) async fn new() -> Self {
        let site = testkit::Site::new().await;
        let process = Process::start(&site).await;
        let (destination, key) = {
            let (destination, alice) = process.bound_application().await;
            (destination, alice.key.expect("its key"))
        };
        let folder = Scratch::new();
        fs::write(folder.path().join("key"), key).expect("write the key");
        Self { process, destination, folder, _site: site }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("write a file");
        path
    }

    pub(super) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("read a file")
    }

    /// The names of the files besides the API key.
    pub(super) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.retain(|name| name != "key");
        names.sort();
        names
    }

    /// A command in the folder of the files, with the address and the API key.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("SEALWARD_URL", self.process.url(""))
            .env("SEALWARD_API_KEY_FILE", "key");
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Exit {
        self.run_with(arguments, b"")
    }

    /// Runs a command with this standard input.
    pub(super) fn run_with(&self, arguments: &[&str], input: &[u8]) -> Exit {
        self.bytes_of(arguments, input).into()
    }

    /// The same with output that is not text.
    pub(super) fn bytes_of(&self, arguments: &[&str], input: &[u8]) -> std::process::Output {
        let mut command = self.command(arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("run the binary");
        let mut stdin = child.stdin.take().expect("its standard input");
        // A command that needs no input may have exited.
        let _ = stdin.write_all(input);
        drop(stdin);
        child.wait_with_output().expect("its output")
    }
}

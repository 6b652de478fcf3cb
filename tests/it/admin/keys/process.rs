//! The service as a process that can be killed, on a token and a database of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use faulty_token::{Control, FOLDER};
use serde_json::Value;
use sqlx::{ConnectOptions as _, PgConnection};

use crate::support::{Database, softhsm_module, within};

/// For everything that is waited for; a machine under load takes its time.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

const LABEL: &str = "crash";

/// What a process stands on.
pub(super) struct Site {
    /// The token is reached through a module that can hang.
    pub(super) token: Control,
    database: Database,
    folder: PathBuf,
    admin_key: String,
}

impl Site {
    pub(super) async fn new() -> Self {
        let name = format!("sealward-crash-{:032x}", rand::random::<u128>());
        let folder = std::env::temp_dir().join(name);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("softhsm/make-token");
        let mut made = Command::new(script);
        run(made.arg(folder.join("softhsm")).arg(LABEL));
        let mut site = Self {
            token: Control::new(folder.join("faults"), softhsm_module()),
            database: Database::new().await,
            folder,
            admin_key: String::new(),
        };
        let settings = format!(
            "environment = \"development\"\n\
             [http]\nlisten = \"127.0.0.1:0\"\n\
             {}\
             [log]\nformat = \"json\"\n\
             [[hsm.tokens]]\nmodule = \"{}\"\nlabel = \"{LABEL}\"\npin = {{ file = \"{}\" }}\n",
            site.database.settings(),
            Control::module().display(),
            site.folder.join("softhsm/pin").display(),
        );
        fs::write(site.folder.join("sealward.toml"), settings).expect("the settings");
        let wanted = ["api-key", "create", "--type", "admin", "--name", "test"];
        let key = run(site.command().args(wanted));
        key.trim().clone_into(&mut site.admin_key);
        site
    }

    pub(super) async fn connect(&self) -> PgConnection {
        let connection = self.database.options().connect();
        connection.await.expect("a connection")
    }

    /// What `sealward doctor` reports, whether well or ill.
    pub(super) fn doctor(&self) -> Value {
        let output = self.command().args(["doctor", "--json"]).output();
        let output = output.expect("the doctor comes");
        json(&String::from_utf8(output.stdout).expect("text"))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealward"));
        command
            .env_clear()
            .env("SEALWARD_CONFIG", self.folder.join("sealward.toml"))
            .env("SOFTHSM2_CONF", self.folder.join("softhsm/softhsm2.conf"))
            .env(FOLDER, self.token.folder());
        command
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // A folder left behind fails no test.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The service, until it is killed, at the latest when this is dropped.
pub(super) struct Process {
    child: Child,
    log: PathBuf,
    address: String,
    admin_key: String,
}

impl Process {
    /// Starts the service and waits until it is ready.
    pub(super) async fn start(site: &Site) -> Self {
        let log = site
            .folder
            .join(format!("{:032x}.log", rand::random::<u128>()));
        let written = File::create(&log).expect("a log");
        let also = written.try_clone().expect("a log");
        let child = site
            .command()
            .arg("serve")
            .stdin(Stdio::null())
            .stdout(written)
            .stderr(also)
            .spawn()
            .expect("the service starts");
        let mut process = Self {
            child,
            log,
            address: String::new(),
            admin_key: site.admin_key.clone(),
        };
        within(PATIENCE, async || process.address_told().is_some()).await;
        process.address = process.address_told().expect("an address");
        process
    }

    /// Ends it at once, as a power cut does.
    pub(super) fn kill(mut self) {
        self.end();
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("the log")
    }

    pub(super) fn get(&self, path: &str) -> Value {
        let request = ureq::get(self.url(path)).header("Authorization", self.authorization());
        let mut answer = request.call().expect("an answer");
        json(&answer.body_mut().read_to_string().expect("a body"))
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Value {
        let sent = post(self.url(path), &self.authorization(), body);
        json(&sent.expect("an answer"))
    }

    /// Posts on a thread of its own, which does not mind if no answer comes.
    pub(super) fn post_aside(&self, path: &str, body: Value) -> JoinHandle<()> {
        let (url, authorization) = (self.url(path), self.authorization());
        std::thread::spawn(move || drop(post(url, &authorization, &body)))
    }

    fn address_told(&self) -> Option<String> {
        let log = self.log();
        let lines = log
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let mut ready = lines.filter(|line: &Value| line["message"] == "ready");
        ready.next()?["address"].as_str().map(ToOwned::to_owned)
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn authorization(&self) -> String {
        format!("Bearer {}", self.admin_key)
    }

    fn end(&mut self) {
        // One that has ended already is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn post(url: String, authorization: &str, body: &Value) -> Result<String, ureq::Error> {
    let request = ureq::post(url)
        .header("Authorization", authorization)
        .header("Content-Type", "application/json");
    request.send(body.to_string())?.body_mut().read_to_string()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {complaint}");
    String::from_utf8(output.stdout).expect("text")
}

//! A W3C WebDriver client for chromedriver, which starts and controls Chromium.
//!
//! The tests need only a few JSON requests of the protocol. The existing crates would enable
//! `preserve_order` of `serde_json` in all tests, unlike in the shipped binary, or add a second
//! version of `http` and of `cookie`.

use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{self, Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use serde_json::{Value, json};
use ureq::Agent;

/// The time limit for the browser on a loaded machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// Short, because Chromium makes a socket below it, and the path of a socket has at most 107 bytes.
const PREFIX: &str = "sealward-web-";

/// A Chromium with its own profile. Dropping this value removes both.
pub(super) struct Driver {
    process: Child,
    // Kept open, because the driver exits if it cannot write to its output.
    _stdout: BufReader<ChildStdout>,
    home: PathBuf,
    agent: Agent,
    /// The URL of the session.
    session: String,
}

/// An error response of the driver: the error name and message.
#[derive(Debug, thiserror::Error)]
#[error("{0}: {1}")]
pub(super) struct Refused(String, String);

impl Driver {
    pub(super) fn start() -> Self {
        sweep();
        let home = env::temp_dir().join(format!(
            "{PREFIX}{}-{:08x}",
            process::id(),
            rand::random::<u32>()
        ));
        fs::create_dir(&home).expect("a folder for the profile");
        let errors = home.join("errors");
        let mut process = Command::new(program("SEALWARD_TEST_CHROMEDRIVER"))
            .arg("--port=0")
            // Chromium writes its temporary files there.
            .env("HOME", &home)
            .env("TMPDIR", &home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&errors).expect("a file for errors"))
            .process_group(0)
            .spawn()
            .expect("start chromedriver");
        let mut output = BufReader::new(process.stdout.take().expect("an output"));
        let port = port(&mut output).unwrap_or_else(|| {
            panic!("chromedriver does not start: {:?}", fs::read_to_string(&errors))
        });
        let config = Agent::config_builder()
            .proxy(None)
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .build();
        let mut driver = Self {
            process,
            _stdout: output,
            agent: config.new_agent(),
            session: format!("http://127.0.0.1:{port}/session"),
            home,
        };
        let opened = driver.call("POST", "", &capabilities(&driver.home));
        let opened = opened.expect("Chromium starts");
        let id = opened["sessionId"].as_str().expect("a session");
        driver.session = format!("{}/{id}", driver.session);
        driver
    }

    /// Sends one command to the session.
    pub(super) fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value, Refused> {
        let address = format!("{}{path}", self.session);
        let answer = match method {
            "GET" => self.agent.get(&address).call(),
            "DELETE" => self.agent.delete(&address).call(),
            _ => self.agent.post(&address).send(body.to_string().as_bytes()),
        };
        let mut answer =
            answer.map_err(|error| Refused("no answer".to_owned(), error.to_string()))?;
        let text = answer.body_mut().read_to_vec().expect("a whole answer");
        let mut response: Value = serde_json::from_slice(&text).expect("an answer in JSON");
        let value = response["value"].take();
        if answer.status().is_success() {
            return Ok(value);
        }
        let part = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        Err(Refused(part("error"), part("message")))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // First an orderly shutdown, then a kill. Errors mean that the process has already exited.
        let _ = self.call("DELETE", "", &Value::Null);
        let id = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        if let Some(id) = id {
            let _ = kill_process_group(id, Signal::KILL);
        }
        let _ = self.process.wait();
        // A process of the browser can still write files. The next test removes the folder.
        let _ = fs::remove_dir_all(&self.home);
    }
}

/// The port of a driver that starts.
fn port(output: &mut impl BufRead) -> Option<u16> {
    output.lines().find_map(|line| {
        let line = line.expect("a line");
        let port = line.split("started successfully on port ").nth(1)?;
        Some(port.trim_end_matches('.').parse().expect("a port"))
    })
}

fn capabilities(home: &Path) -> Value {
    let profile = format!("--user-data-dir={}", home.join("profile").display());
    let mut arguments = vec![
        "--headless=new",
        "--disable-gpu",
        // Containers have little shared memory.
        "--disable-dev-shm-usage",
        "--disable-breakpad",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--no-default-browser-check",
        "--password-store=basic",
        "--hide-scrollbars",
        "--force-device-scale-factor=1",
        "--lang=en-US",
        &profile,
    ];
    // The sandbox of Chromium does not support root, the usual user in containers.
    if geteuid().is_root() {
        arguments.push("--no-sandbox");
    }
    let options = json!({ "binary": program("SEALWARD_TEST_CHROMIUM"), "args": arguments });
    json!({ "capabilities": { "alwaysMatch": {
        "browserName": "chrome",
        "acceptInsecureCerts": true,
        "goog:chromeOptions": options,
        "timeouts": { "pageLoad": PATIENCE.as_millis(), "script": PATIENCE.as_millis() },
    } } })
}

/// Removes the profiles of interrupted tests.
fn sweep() {
    let Ok(entries) = fs::read_dir(env::temp_dir()) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let process = rest.and_then(|rest| rest.split('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Another process can remove them at the same time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the tests read this variable instead of settings")]
fn program(variable: &str) -> PathBuf {
    let named = env::var_os(variable);
    named.unwrap_or_else(|| panic!("{variable} is not set: ./dev test sets it")).into()
}

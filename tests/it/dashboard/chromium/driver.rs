//! The process that starts Chromium and drives it: chromedriver, spoken to in W3C WebDriver.
//!
//! The protocol is a few JSON requests, and this client all of it that is needed. The crates for it
//! would have every test run on another `serde_json` than is shipped (by its `preserve_order`), or
//! bring a second `http` and two `cookie`s.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{self, Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use std::{env, fs};

use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use serde_json::{Value, json};
use ureq::Agent;

/// A loaded machine takes its time to start a browser and to draw a page.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

const PREFIX: &str = "sealward-it-chromium-";

/// One Chromium with a profile of its own. Both are gone with this.
pub(super) struct Driver {
    process: Child,
    // Nobody reads it after the start, but a driver that could not write to it would end.
    _said: BufReader<ChildStdout>,
    home: PathBuf,
    agent: Agent,
    /// The address of the one session.
    session: String,
}

/// What the driver answered instead: the name of an error, and what it says.
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
        let mut process = Command::new(named("SEALWARD_TEST_CHROMEDRIVER"))
            .arg("--port=0")
            // Whatever Chromium leaves behind, it leaves there.
            .env("HOME", &home)
            .env("TMPDIR", &home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("start chromedriver");
        let mut said = BufReader::new(process.stdout.take().expect("what it says"));
        let port = port(&mut said);
        let config = Agent::config_builder()
            .proxy(None)
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .build();
        let mut driver = Self {
            process,
            _said: said,
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
        let mut told: Value = serde_json::from_slice(&text).expect("an answer in JSON");
        let value = told["value"].take();
        if answer.status().is_success() {
            return Ok(value);
        }
        let part = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        Err(Refused(part("error"), part("message")))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // In good order if it can be, and in any case: what has ended already cannot be ended again.
        let _ = self.call("DELETE", "", &Value::Null);
        let id = i32::try_from(self.process.id())
            .ok()
            .and_then(Pid::from_raw);
        if let Some(id) = id {
            let _ = kill_process_group(id, Signal::KILL);
        }
        let _ = self.process.wait();
        // The last of a browser's processes may still be writing; the next test sweeps.
        let _ = fs::remove_dir_all(&self.home);
    }
}

fn port(said: &mut impl BufRead) -> u16 {
    let mut lines = said.lines();
    loop {
        let line = lines.next().expect("chromedriver starts").expect("a line");
        let port = line.split("started successfully on port ").nth(1);
        if let Some(port) = port {
            return port.trim_end_matches('.').parse().expect("a port");
        }
    }
}

fn capabilities(home: &Path) -> Value {
    let profile = format!("--user-data-dir={}", home.join("profile").display());
    let mut arguments = vec![
        "--headless=new",
        "--disable-gpu",
        // Containers have little of it.
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
    // Chromium's sandbox refuses to work for root, whom containers are run as.
    if geteuid().is_root() {
        arguments.push("--no-sandbox");
    }
    let options = json!({ "binary": named("SEALWARD_TEST_CHROMIUM"), "args": arguments });
    json!({ "capabilities": { "alwaysMatch": {
        "browserName": "chrome",
        "acceptInsecureCerts": true,
        "goog:chromeOptions": options,
        "timeouts": { "pageLoad": PATIENCE.as_millis(), "script": PATIENCE.as_millis() },
    } } })
}

/// Removes the profiles of tests that have ended without doing so.
fn sweep() {
    let Ok(entries) = fs::read_dir(env::temp_dir()) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let process = rest.and_then(|rest| rest.split('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Another process may sweep at the same time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "the tests have no settings but these"
)]
fn named(variable: &str) -> PathBuf {
    let named = env::var_os(variable);
    named
        .unwrap_or_else(|| panic!("{variable} is not set: ./dev test sets it"))
        .into()
}

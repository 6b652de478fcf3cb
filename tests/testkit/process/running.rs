//! A running service.

use std::fs::{self, File};
use std::io::{Write as _, stderr};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use engine::web_client::client;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use ureq::http::Response;
use ureq::{Agent, Body};

use super::Site;
use crate::{Authority, Exposition, PATIENCE, within};

/// A process of the service. Dropping this value kills it.
pub struct Process {
    child: Child,
    log: PathBuf,
    address: String,
    client: Client,
}

/// An administrator client.
#[derive(Clone)]
struct Client {
    agent: Agent,
    /// Scheme, host and port.
    origin: String,
    authorization: String,
}

impl Process {
    /// Starts the service and waits until it is ready.
    pub async fn start(site: &Site) -> Self {
        Self::start_with(site, &[]).await
    }

    /// Starts the service with these settings overridden by their variables.
    pub async fn start_with(site: &Site, variables: &[(&str, &str)]) -> Self {
        Self::start_after(":", site, variables).await
    }

    /// Starts the service in a shell that first runs `before`.
    pub async fn start_after(before: &str, site: &Site, variables: &[(&str, &str)]) -> Self {
        let command = site.command_after(before, &["serve"]);
        let mut process = Self::spawn(command, site, variables);
        within(PATIENCE, async || {
            let status = process.exit_status();
            assert!(status.is_none(), "it exited: {}", process.log());
            process.is_ready()
        })
        .await;
        process
    }

    /// Starts the service over TLS as `localhost`, with a certificate of `authority`.
    pub async fn start_over_tls(site: &Site, authority: &Authority) -> Self {
        let issued = authority.server("localhost").write(site.folder());
        let [certificate, key] = issued
            .each_ref()
            .map(|file| file.to_str().expect("a path of text"));
        let variables = [
            ("SEALWARD_HTTP_TLS_CERTIFICATE", certificate),
            ("SEALWARD_HTTP_TLS_KEY", key),
        ];
        let mut process = Self::start_with(site, &variables).await;
        let trusted = crate::certificate(&authority.certificate());
        process.client.agent = client(Some(&[trusted]), PATIENCE);
        let (_, port) = process.address.rsplit_once(':').expect("a port");
        process.client.origin = format!("https://localhost:{port}");
        process
    }

    /// Starts the service without waiting. The start can fail.
    pub fn begin(site: &Site, variables: &[(&str, &str)]) -> Self {
        Self::spawn(site.command(&["serve"]), site, variables)
    }

    fn spawn(mut command: Command, site: &Site, variables: &[(&str, &str)]) -> Self {
        let authorization = format!("Bearer {}", site.admin_key());
        let log = site.file(&format!("{:032x}.log", rand::random::<u128>()));
        let stdout = File::create(&log).expect("a log");
        let stderr = stdout.try_clone().expect("a log");
        let child = command
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .expect("the service starts");
        Self {
            child,
            log,
            address: String::new(),
            client: Client {
                agent: client(None, PATIENCE),
                origin: String::new(),
                authorization,
            },
        }
    }

    /// Whether the log contains the `ready` message, which names the address.
    pub fn is_ready(&mut self) -> bool {
        if let Some(address) = self.ready_field("address") {
            self.client.origin = format!("http://{address}");
            self.address = address;
        }
        !self.address.is_empty()
    }

    /// The exit status, if it has exited.
    pub fn exit_status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("its state")
    }

    /// The listen address.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn url(&self, path: &str) -> String {
        self.client.url(path)
    }

    /// The process ID.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process, like a power failure.
    pub fn kill(mut self) {
        self.end();
    }

    /// Sends SIGTERM, like a supervisor, and returns the exit code.
    pub fn terminate(mut self) -> Option<i32> {
        self.signal(Signal::TERM);
        let ended = self.child.wait().expect("its end");
        assert_eq!(ended.signal(), None, "{}", self.log());
        ended.code()
    }

    pub fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.id()).ok().and_then(Pid::from_raw);
        kill_process(id.expect("a process id"), signal).expect("send a signal");
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("the log")
    }

    /// Sends a request as administrator and returns the body of the response, also of an error.
    pub fn get(&self, path: &str) -> Value {
        self.client.get(path)
    }

    /// The status of the response to the same request.
    pub fn status(&self, path: &str) -> u16 {
        self.client.status(path)
    }

    pub fn post(&self, path: &str, body: &Value) -> Value {
        let sent = self.client.post(path, body);
        sent.expect("an answer")
    }

    /// Deletes a resource as administrator.
    pub fn delete(&self, path: &str) {
        let request = self.client.agent.delete(self.url(path));
        let request = request.header("Authorization", &self.client.authorization);
        assert_eq!(request.call().expect("an answer").status(), 204, "{path}");
    }

    /// Posts with another API key.
    pub fn post_as(&self, key: &str, path: &str, body: &Value) -> Value {
        let client = Client {
            authorization: format!("Bearer {key}"),
            ..self.client.clone()
        };
        client.post(path, body).expect("an answer")
    }

    /// Posts on a separate thread and ignores the response.
    pub fn post_in_background(&self, path: &str, body: Value) -> JoinHandle<()> {
        let (client, path) = (self.client.clone(), path.to_owned());
        std::thread::spawn(move || drop(client.post(&path, &body)))
    }

    /// The page of the metrics listener.
    pub fn metrics(&self) -> Exposition {
        let address = self.metrics_address().expect("an address");
        let page = ureq::get(format!("http://{address}/metrics")).call();
        let text = page.expect("metrics").body_mut().read_to_string();
        Exposition::parse(&text.expect("text"))
    }

    /// The address of the metrics listener, if there is one.
    pub fn metrics_address(&self) -> Option<String> {
        self.ready_field("metrics")
    }

    /// The address of the listener of probes, if there is one.
    pub fn probes_address(&self) -> Option<String> {
        self.ready_field("probes")
    }

    /// A field of the `ready` message.
    fn ready_field(&self, what: &str) -> Option<String> {
        let log = self.log();
        let lines = log
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let mut ready = lines.filter(|line: &Value| line["message"] == "ready");
        ready.next()?[what].as_str().map(ToOwned::to_owned)
    }

    fn end(&mut self) {
        // An error means that the process has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[allow(
    clippy::print_stderr,
    reason = "a failed test shows the log of its process"
)]
impl Drop for Process {
    fn drop(&mut self) {
        self.end();
        // A second panic would end all tests.
        if std::thread::panicking()
            && let Ok(log) = fs::read_to_string(&self.log)
        {
            let log = format!("the log of the process:\n{log}");
            let _ = stderr().write_all(log.as_bytes());
        }
    }
}

impl Client {
    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    fn get(&self, path: &str) -> Value {
        let mut answer = self.answer(path);
        json(&answer.body_mut().read_to_string().expect("a body"))
    }

    fn status(&self, path: &str) -> u16 {
        self.answer(path).status().as_u16()
    }

    fn answer(&self, path: &str) -> Response<Body> {
        let request = self.agent.get(self.url(path));
        let request = request.header("Authorization", &self.authorization);
        request.call().expect("an answer")
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value, ureq::Error> {
        let request = self.agent.post(self.url(path));
        let request = request
            .header("Authorization", &self.authorization)
            .header("Content-Type", "application/json");
        let mut answer = request.send(body.to_string())?;
        Ok(json(&answer.body_mut().read_to_string()?))
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

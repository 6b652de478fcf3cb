//! A running service.

use std::fs::{self, File};
use std::io::{Write as _, stderr};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use axum::body::to_bytes;
use axum::http::Request;
use engine::web_client::client;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use ureq::Agent;

use super::Site;
use crate::clients::{Application, Client, Service};
use crate::{Answer, Authority, Exposition, PATIENCE, conformance, within};

/// A process of the service. Dropping this value kills it.
pub struct Process {
    child: Child,
    log: PathBuf,
    address: String,
    admin_key: String,
    agent: Agent,
    /// Scheme, host and port.
    origin: String,
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
        let [certificate, key] =
            issued.each_ref().map(|file| file.to_str().expect("a path of text"));
        let variables =
            [("SEALWARD_HTTP_TLS_CERTIFICATE", certificate), ("SEALWARD_HTTP_TLS_KEY", key)];
        let mut process = Self::start_with(site, &variables).await;
        let trusted = crate::certificate(&authority.certificate());
        process.agent = client(Some(&[trusted]), PATIENCE);
        let (_, port) = process.address.rsplit_once(':').expect("a port");
        process.origin = format!("https://localhost:{port}");
        process
    }

    /// Starts the service without waiting. The start can fail.
    pub fn begin(site: &Site, variables: &[(&str, &str)]) -> Self {
        Self::spawn(site.command(&["serve"]), site, variables)
    }

    fn spawn(mut command: Command, site: &Site, variables: &[(&str, &str)]) -> Self {
        let admin_key = site.admin_key().to_owned();
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
            admin_key,
            agent: client(None, PATIENCE),
            origin: String::new(),
        }
    }

    /// Whether the log contains the `ready` message, which names the address.
    pub fn is_ready(&mut self) -> bool {
        if let Some(address) = self.ready_field("address") {
            self.origin = format!("http://{address}");
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
        format!("{}{path}", self.origin)
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

    /// A client with the admin key.
    pub fn admin(&self) -> Client<'_> {
        self.client(&self.admin_key)
    }

    /// A client with this API key.
    pub fn client(&self, key: &str) -> Client<'_> {
        Service::Process(self).client(key)
    }

    /// A client without an API key.
    pub fn anonymous(&self) -> Client<'_> {
        Client::new(Service::Process(self), None)
    }

    /// Builds an application. Awaiting it creates the service and the API key.
    pub fn application(&self, name: &str) -> Application<'_> {
        Application::new(Service::Process(self), name)
    }

    /// Creates a service and returns its ID.
    pub async fn service(&self, name: &str) -> String {
        self.admin().create_service(name).await
    }

    /// Generates a key of `service` in the token and returns its ID.
    pub async fn key(&self, service: &str, usage: &str, algorithm: &str) -> String {
        self.admin().create_key(service, usage, algorithm).await
    }

    /// Sends a request unchanged.
    pub async fn send(&self, request: Request<axum::body::Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let request = self.located(request).await;
        let agent = self.agent.clone();
        let sent = tokio::task::spawn_blocking(move || exchange(&agent, request));
        let answer = sent.await.expect("a task").expect("an answer");
        conformance::check(&method, &path, &answer);
        answer
    }

    /// Sends a request as administrator on a separate thread and ignores the response.
    pub async fn post_in_background(&self, path: &str, body: &Value) -> JoinHandle<()> {
        let request = Request::post(path)
            .header("authorization", format!("Bearer {}", self.admin_key))
            .header("content-type", "application/json")
            .body(body.to_string().into());
        let request = self.located(request.expect("a request")).await;
        let agent = self.agent.clone();
        std::thread::spawn(move || drop(exchange(&agent, request)))
    }

    /// The request with its whole body and the address of this process.
    async fn located(&self, request: Request<axum::body::Body>) -> Request<Vec<u8>> {
        let (mut parts, body) = request.into_parts();
        let uri = self.url(&parts.uri.to_string());
        parts.uri = uri.parse().expect("a URL");
        let body = to_bytes(body, usize::MAX).await.expect("a whole body");
        Request::from_parts(parts, body.into())
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
        let lines = log.lines().filter_map(|line| serde_json::from_str(line).ok());
        let mut ready = lines.filter(|line: &Value| line["message"] == "ready");
        ready.next()?[what].as_str().map(ToOwned::to_owned)
    }

    fn end(&mut self) {
        // An error means that the process has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[allow(clippy::print_stderr, reason = "a failed test shows the log of its process")]
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

fn exchange(agent: &Agent, request: Request<Vec<u8>>) -> Result<Answer, ureq::Error> {
    let sent = match request.body().is_empty() {
        true => agent.run(request.map(|_| ())),
        false => agent.run(request),
    };
    let (parts, mut body) = sent?.into_parts();
    let bytes = body.read_to_vec()?;
    Ok(Answer {
        status: parts.status,
        headers: parts.headers,
        body: String::from_utf8_lossy(&bytes).into_owned(),
        bytes,
    })
}

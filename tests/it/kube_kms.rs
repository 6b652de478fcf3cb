//! `sealward kube-kms`: the plugin and a real service.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use formats::clock::{Clock, Timestamp};
use rustix::process::{Pid, Signal, kill_process};
use sealward_client::{Client, Credential};
use sealward_kube_kms::client::{Code, Kubernetes};
use sealward_kube_kms::{Plugin, Socket};
use testkit::{Exit, PATIENCE, Process, Scratch, Site, program, within};

const SEED: [u8; 32] = [7; 32];
/// The time after which a plugin probes again.
const PROBED_AGAIN: Duration = Duration::from_secs(31);

/// A service with the key of a cluster, and the folder of a node.
struct Node {
    process: Process,
    service: String,
    key: String,
    api_key_id: String,
    folder: Scratch,
    _site: Site,
}

impl Node {
    async fn new() -> Self {
        let site = Site::new().await;
        let process = Process::start(&site).await;
        let folder = Scratch::new();
        let (service, api_key_id) = {
            let kubernetes = process.application("kubernetes").await;
            fs::write(folder.path().join("key"), kubernetes.key.expect("its key")).expect("a file");
            (kubernetes.service.expect("its service"), kubernetes.key_id.expect("its ID"))
        };
        let key = process.key(&service, "data", "AES-256").await;
        Self { process, service, key, api_key_id, folder, _site: site }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A plugin in this process, whose time only the test moves.
    async fn plugin(&self) -> (Kubernetes, Clock) {
        let clock = Clock::held_at(Timestamp::from_millis(0));
        let credential = Credential::file(self.path("key"));
        let sealward = Client::builder(self.process.url("")).credential(credential).build();
        let plugin = Plugin::new(&sealward.expect("a client"), clock.clone());
        let socket = Socket::bind(&self.path("kms.sock")).expect("a socket");
        tokio::spawn(plugin.serve(socket, std::future::pending()));
        let kubernetes = Kubernetes::connect(&self.path("kms.sock")).await;
        (kubernetes.expect("a connection"), clock)
    }

    /// The command, with these options instead of the usual ones.
    fn command(&self, options: &[(&str, &str)]) -> Command {
        let (url, key) = (self.process.url(""), self.path("key"));
        let socket = self.path("kms.sock");
        let usual = [
            ("--url", url.as_str()),
            ("--api-key-file", key.to_str().expect("text")),
            ("--socket", socket.to_str().expect("text")),
        ];
        let mut command = Command::new(program());
        command.arg("kube-kms").env_clear();
        for (name, value) in usual {
            let other = options.iter().find(|(option, _)| *option == name);
            command.args([name, other.map_or(value, |(_, other)| other)]);
        }
        command
    }

    fn run(&self, options: &[(&str, &str)]) -> Exit {
        self.command(options).output().expect("run the binary").into()
    }
}

/// A running binary, which is killed at the end.
struct Running(Child);

impl Running {
    fn start(node: &Node) -> Self {
        Self(node.command(&[]).stderr(Stdio::piped()).spawn().expect("run the binary"))
    }

    /// Sends SIGTERM, and waits for its end.
    fn terminate(mut self) -> Exit {
        let id = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw).expect("a process ID");
        kill_process(id, Signal::TERM).expect("send a signal");
        let mut errors = String::new();
        let stderr = self.0.stderr.as_mut().expect("its standard error");
        std::io::Read::read_to_string(stderr, &mut errors).expect("text");
        let status = self.0.wait().expect("its end");
        let (stdout, stderr) = (Vec::new(), errors.into_bytes());
        std::process::Output { status, stdout, stderr }.into()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_shows_and_what_was_encrypted_stays_readable() {
    let node = Node::new().await;
    let (kubernetes, clock) = node.plugin().await;
    assert_eq!(kubernetes.status().await.expect("a status").key_id, node.key);
    let old = kubernetes.encrypt(&SEED, "uid-old").await.expect("a ciphertext");
    assert_eq!((&old.key_id, old.ciphertext.len()), (&node.key, 61));

    let next = node.process.key(&node.service, "data", "AES-256").await;
    clock.advance(PROBED_AGAIN);
    assert_eq!(kubernetes.status().await.expect("a status").key_id, next);
    let new = kubernetes.encrypt(&SEED, "uid-new").await.expect("a ciphertext");
    assert_eq!(new.key_id, next);
    for encrypted in [&old, &new] {
        let decrypted = kubernetes.decrypt(encrypted, "uid-read").await.expect("a plaintext");
        assert_eq!(decrypted.plaintext, SEED);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_has_the_ids_of_kubernetes_and_of_probes() {
    let node = Node::new().await;
    let (kubernetes, _) = node.plugin().await;
    for _ in 0..3 {
        kubernetes.status().await.expect("a status");
    }
    kubernetes.encrypt(&SEED, "3f2a-uid").await.expect("a ciphertext");
    let admin = node.process.admin();
    for id in ["kube-kms-probe", "3f2a-uid"] {
        let found = admin.get(&format!("/admin/audit?requestId={id}")).await.ok();
        let records = found.json()["items"].as_array().expect("records").clone();
        assert_eq!(records.len(), 1, "{id}: {records:?}");
        assert_eq!(
            (&records[0]["operation_type"], &records[0]["key_id"]),
            (&"encrypt".into(), &node.key.clone().into())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_ciphertext_is_not_decrypted() {
    let node = Node::new().await;
    let (kubernetes, _) = node.plugin().await;
    kubernetes.status().await.expect("a status");
    let good = kubernetes.encrypt(&SEED, "uid").await.expect("a ciphertext");
    for place in 1..good.ciphertext.len() {
        let mut changed = good.clone();
        changed.ciphertext[place] ^= 1;
        let refused = kubernetes.decrypt(&changed, "uid").await.expect_err("a refusal");
        assert_eq!(refused.code(), Code::DataLoss, "byte {place}: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_credential_in_the_file_needs_no_restart() {
    let node = Node::new().await;
    let (kubernetes, clock) = node.plugin().await;
    kubernetes.status().await.expect("a status");
    let admin = node.process.admin();
    let revoked = admin.delete(&format!("/admin/api-keys/{}", node.api_key_id)).await;
    assert_eq!(revoked.status.as_u16(), 204);
    clock.advance(PROBED_AGAIN);
    for refused in [
        kubernetes.status().await.expect_err("a refusal"),
        kubernetes.encrypt(&SEED, "uid").await.expect_err("a refusal"),
    ] {
        assert_eq!(refused.code(), Code::Unauthenticated, "{refused}");
        assert!(refused.message().contains("401 AUTHENTICATION_FAILED"), "{refused}");
    }
    let body = serde_json::json!({ "name": "next", "type": "live", "serviceId": node.service });
    let created = admin.post("/admin/api-keys", body).await.created();
    fs::write(node.path("key"), created.text("secret")).expect("a file");
    clock.advance(PROBED_AGAIN);
    kubernetes.status().await.expect("a status");
    kubernetes.encrypt(&SEED, "uid").await.expect("a ciphertext");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_sealward_each_call_fails_within_3_seconds() {
    let node = Node::new().await;
    let (kubernetes, clock) = node.plugin().await;
    kubernetes.status().await.expect("a status");
    let encrypted = kubernetes.encrypt(&SEED, "uid").await.expect("a ciphertext");
    node.process.kill();
    clock.advance(PROBED_AGAIN);
    let began = Instant::now();
    let status = kubernetes.status().await.expect_err("a refusal");
    let encrypt = kubernetes.encrypt(&SEED, "uid").await.expect_err("a refusal");
    let decrypt = kubernetes.decrypt(&encrypted, "uid").await.expect_err("a refusal");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    for refused in [status, encrypt, decrypt] {
        assert_eq!(refused.code(), Code::Unavailable, "{refused}");
        assert!(refused.message().contains("cannot reach Sealward"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_serves_until_sigterm_and_removes_its_socket() {
    let node = Node::new().await;
    let running = Running::start(&node);
    let socket = node.path("kms.sock");
    within(PATIENCE, async || Kubernetes::connect(&socket).await.is_ok()).await;
    let kubernetes = Kubernetes::connect(&socket).await.expect("a connection");
    assert_eq!(kubernetes.status().await.expect("a status").key_id, node.key);
    kubernetes.encrypt(&SEED, "uid-of-kubernetes").await.expect("a ciphertext");
    let ended = running.terminate().success();
    assert!(!socket.exists());
    let lines: Vec<serde_json::Value> =
        ended.stderr.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.iter().any(|line| line["uid"] == "uid-of-kubernetes"), "{lines:?}");
    let key = fs::read_to_string(node.path("key")).expect("the API key");
    assert!(!ended.stderr.contains(&key));
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_options_end_with_one_line() {
    let node = Node::new().await;
    let path = |name: &str| node.path(name).to_str().expect("text").to_owned();
    let long = path(&"x".repeat(108));
    let _held = UnixListener::bind(node.path("held.sock")).expect("a socket");
    fs::create_dir(node.path("open")).expect("a folder");
    fs::set_permissions(node.path("open"), Permissions::from_mode(0o777)).expect("its mode");
    for (code, option, value, text) in [
        (78, "--api-key-file", path("missing"), "cannot read the credential in"),
        (78, "--url", "http://example.com".to_owned(), "must begin with https://"),
        (78, "--socket", long, "Linux allows at most 107"),
        (78, "--socket", path("key"), "exists and is no socket"),
        (78, "--socket", path("open/kms.sock"), "other users can replace the socket"),
        (1, "--socket", path("held.sock"), "another process listens on"),
        (1, "--socket", path("missing/kms.sock"), "No such file or directory"),
    ] {
        let ended = node.run(&[(option, &value)]);
        let lines: Vec<_> = ended.stderr.lines().filter(|it| it.starts_with("sealward:")).collect();
        assert_eq!(lines.len(), 1, "{}", ended.stderr);
        ended.failure(code, &[text]);
    }
    assert!(fs::read_to_string(node.path("key")).expect("the API key").starts_with("sk_live_"));
}

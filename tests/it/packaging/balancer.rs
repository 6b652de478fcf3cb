//! The configuration of the load balancer, verified with HAProxy.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use engine::settings::{Http, TlsFiles};
use formats::clock::Clock;
use futures_util::future::select_all;
use sealward::server::Tls;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use testkit::{PATIENCE, Scratch, World, within};

use super::{read, settings, succeed, top};

/// A running HAProxy.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Creates the secrets of the load balancer and of the instances.
fn prepare(secrets: &Path) {
    let owner = Scratch::new();
    let mut prepare = Command::new(top().join("deploy/container/prepare"));
    succeed(prepare.args([secrets, owner.path()]));
}

/// HAProxy with its configuration and this instance.
fn haproxy(secrets: &Path, listen: SocketAddr, instance: SocketAddr) -> Command {
    let mut command = Command::new("/usr/sbin/haproxy");
    command
        .arg("-f")
        .arg(top().join("deploy/haproxy.cfg"))
        .env("SEALWARD_LISTEN", listen.to_string())
        .env("SEALWARD_A", instance.to_string())
        .env("SEALWARD_B", instance.to_string())
        .env("SEALWARD_TLS", secrets.join("tls"));
    command
}

fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.local_addr().expect("an address")
}

async fn connect(from: [u8; 4], to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((from, 0).into())?;
    socket.connect(to).await
}

/// Starts HAProxy and waits until it listens.
async fn started(secrets: &Path, listen: SocketAddr, instance: SocketAddr) -> Running {
    let started = haproxy(secrets, listen, instance).arg("-db").spawn();
    let running = Running(started.expect("HAProxy"));
    let is_listening = async || connect([127, 0, 0, 1], listen).await.is_ok();
    within(PATIENCE, is_listening).await;
    running
}

#[test]
fn haproxy_accepts_its_configuration_with_the_generated_certificates() {
    let secrets = Scratch::new();
    // The second run finds existing files.
    for _ in 0..2 {
        prepare(secrets.path());
    }
    let password = std::fs::read(secrets.path().join("database-password")).expect("a password");
    assert_eq!(password.len(), 32);
    let address = SocketAddr::from(([127, 0, 0, 1], 8443));
    succeed(haproxy(secrets.path(), address, address).arg("-c"));
}

#[tokio::test]
async fn the_load_balancer_limits_the_connections_of_a_client() {
    const CLIENT: [u8; 4] = [127, 0, 0, 2];
    let (secrets, address) = (Scratch::new(), free_address());
    prepare(secrets.path());
    let _running = started(secrets.path(), address, free_address()).await;
    let mut open = Vec::new();
    for _ in 0..=128 {
        open.push(connect(CLIENT, address).await.expect("a connection"));
    }
    // HAProxy closes one without a TLS handshake.
    let closed = select_all(open.iter_mut().map(|it| Box::pin(it.read_u8())));
    assert!(closed.await.0.is_err());
    let is_open = |it: &TcpStream| {
        let read = it.try_read(&mut [0]);
        read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    };
    assert_eq!(open.iter().filter(|it| is_open(it)).count(), 128);
}

#[tokio::test]
async fn the_load_balancer_limits_the_concurrent_requests_of_a_client() {
    let (secrets, address) = (Scratch::new(), free_address());
    prepare(secrets.path());
    // The kernel accepts its connections, and nobody answers.
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let instance = silent.local_addr().expect("an address");
    let _running = started(secrets.path(), address, instance).await;
    let answered = tokio::process::Command::new("curl")
        .args(["-s", "-k", "-Z", "--http2", "--parallel-max", "200"])
        .args(["-o", "/dev/null", "-w", "%{http_code}\n"])
        .arg(format!("https://{address}/[1-200]"))
        .output();
    let answered = answered.await.expect("run curl").stdout;
    let answered = String::from_utf8(answered).expect("statuses");
    let refused = answered.lines().filter(|status| *status == "429").count();
    assert!((1..=72).contains(&refused), "{answered}");
}

/// A client uses HTTP/2, and the instance receives HTTP/1.1.
#[tokio::test(flavor = "multi_thread")]
async fn the_load_balancer_serves_clients_with_http_2() {
    let (secrets, address) = (Scratch::new(), free_address());
    prepare(secrets.path());
    let tls = secrets.path().join("tls");
    let files = TlsFiles {
        certificate: tls.join("sealward.crt"),
        key: tls.join("sealward.key"),
        client_ca: None,
        client_crl: None,
        spiffe: Vec::new(),
    };
    let world = World::new().await;
    let files = Tls::load(Clock::system(), files).expect("a certificate");
    let instance = world.served(Some(files)).await;
    let _running = started(secrets.path(), address, instance).await;
    let ca = tls.join("ca.crt");
    let get = async |version: &str| {
        let answered = tokio::process::Command::new("curl")
            .args(["-s", version, "-w", " %{http_version} %{http_code}", "--cacert"])
            .arg(&ca)
            .arg(format!("https://localhost:{}/livez", address.port()))
            .output();
        String::from_utf8(answered.await.expect("run curl").stdout).expect("text")
    };
    // HAProxy needs a moment to find that the instance is ready.
    within(PATIENCE, async || get("--http2").await.ends_with(" 200")).await;
    assert_eq!(get("--http2").await, r#"{"status":"ok"} 2 200"#);
    assert_eq!(get("--http1.1").await, r#"{"status":"ok"} 1.1 200"#);
}

#[test]
fn the_documented_proxy_for_http_2_is_the_load_balancer() {
    let documents = read("docs/operations.md");
    let section = documents.split("### Clients with HTTP/2\n").nth(1);
    let snippet = section.and_then(|it| it.split("```text\n").nth(1));
    let snippet = snippet.and_then(|it| it.split("```").next());
    let config = read("deploy/haproxy.cfg");
    let lines = snippet.expect("a snippet").lines();
    let missing: Vec<_> = lines.filter(|line| !config.contains(line)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[tokio::test]
async fn haproxy_forwards_no_bare_line_feed() {
    let (folder, address) = (Scratch::new(), free_address());
    let instance = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let instance = instance.expect("a port");
    let config = folder.path().join("haproxy.cfg");
    let forwarding = format!(
        "defaults\n mode http\n timeout connect 5s\n timeout client 60s\n timeout server 60s\n\
         listen proxy\n bind {address}\n server a {}\n",
        instance.local_addr().expect("an address")
    );
    std::fs::write(&config, forwarding).expect("write the configuration");
    let mut command = Command::new("/usr/sbin/haproxy");
    let _running = Running(command.arg("-db").arg("-f").arg(config).spawn().expect("HAProxy"));
    within(PATIENCE, async || TcpStream::connect(address).await.is_ok()).await;
    let mut client = TcpStream::connect(address).await.expect("a connection");
    let request = b"GET /livez HTTP/1.1\nHost: it\r\nX: a\nY: b\n\n";
    client.write_all(request).await.expect("it listens");
    let (mut forwarded, _) = instance.accept().await.expect("a connection");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(forwarded.read_u8().await.expect("a request"));
    }
    let head = String::from_utf8(head).expect("text").to_lowercase();
    assert!(!head.replace("\r\n", "").contains('\n'), "{head:?}");
    for line in ["get /livez http/1.1", "host: it", "x: a", "y: b"] {
        assert!(head.split("\r\n").any(|it| it == line), "{head:?}");
    }
}

#[test]
fn instances_have_connections_left_for_health_checks() {
    let config = read("deploy/haproxy.cfg");
    let most = config.split("default-server maxconn ").nth(1);
    let most = most.and_then(|rest| rest.lines().next()).expect("a limit");
    let most: u32 = most.parse().expect("a number");
    assert!(most < Http::default().max_connections);
}

#[test]
fn health_checks_detect_a_shutdown_before_the_instance_exits() {
    let config = read("deploy/haproxy.cfg");
    let mut lines = config.lines().map(str::trim);
    let checks = lines.find(|line| line.starts_with("default-server check "));
    let words: Vec<_> = checks.expect("its checks").split(' ').collect();
    let number = |name: &str| -> u32 {
        let place = words.iter().position(|word| *word == name);
        let number = words[place.expect(name) + 1].trim_end_matches('s');
        number.parse().expect("a number")
    };
    let seconds = number("inter") + (number("fall") - 1) * number("fastinter");
    let detected_after = Duration::from_secs(seconds.into());
    assert!(settings("deploy/compose/sealward.toml").drain_delay() > detected_after);
}

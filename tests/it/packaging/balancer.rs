//! The configuration of the load balancer, verified with HAProxy.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use engine::settings::Http;
use futures_util::future::select_all;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpSocket, TcpStream};

use crate::support::{PATIENCE, Scratch, within};

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

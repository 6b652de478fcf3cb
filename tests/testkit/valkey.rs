//! A Valkey server for one test: Debian's redis-server without persistence.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use engine::ratelimit::Limiter;
use engine::settings::{RateLimit, Span};
use formats::clock::Clock;

use super::waiting::PATIENCE;
use super::{Authority, Proxy, within};

/// The password of the server.
pub const PASSWORD: &str = "valkey-password-7c9e";

/// A server behind a proxy that simulates network faults.
pub struct Valkey {
    process: Child,
    folder: PathBuf,
    pub proxy: Proxy,
    port: u16,
    over_tls: bool,
}

impl Valkey {
    /// Starts a server on this machine.
    pub async fn start() -> Self {
        Self::start_in(folder(), &[]).await
    }

    /// Starts a server that accepts only TLS, with a certificate for `localhost`.
    pub async fn over_tls() -> Self {
        let authority = Authority::new();
        // TLS requires a port, and another process can take a free port first. Tries new ports until
        // the server starts. A server that did not start removes its folder.
        loop {
            let folder = folder();
            fs::write(folder.join("ca.pem"), authority.certificate()).expect("write a certificate");
            let issued = authority.server("localhost").write(&folder);
            let [certificate, key] = issued.map(|file| file.display().to_string());
            let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
            let port = free.local_addr().expect("its address").port();
            drop(free);
            let port_text = port.to_string();
            let tls = [
                ["--tls-port", &port_text],
                ["--tls-cert-file", &certificate],
                ["--tls-key-file", &key],
                ["--tls-auth-clients", "no"],
            ];
            let mut server = Self::start_in(folder, &tls.concat()).await;
            if server.process.try_wait().expect("its state").is_none() {
                (server.port, server.over_tls) = (port, true);
                return server;
            }
        }
    }

    async fn start_in(folder: PathBuf, more: &[&str]) -> Self {
        let socket = folder.join("socket");
        let mut process = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--appendonly", "no"])
            .args(["--requirepass", PASSWORD, "--unixsocket"])
            .arg(&socket)
            .args(more)
            .current_dir(&folder)
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server starts");
        within(PATIENCE, async || {
            let ended = process.try_wait().expect("its state").is_some();
            ended || std::os::unix::net::UnixStream::connect(&socket).is_ok()
        })
        .await;
        let (port, proxy) = Proxy::for_socket(socket).await;
        Self { process, folder, proxy, port, over_tls: false }
    }

    /// The settings for this server.
    pub fn settings(&self) -> RateLimit {
        let scheme = if self.over_tls { "rediss" } else { "redis" };
        RateLimit {
            url: Some(format!("{scheme}://localhost:{}", self.port)),
            ca: self.over_tls.then(|| self.folder.join("ca.pem")),
            // A loaded machine can delay responses.
            timeout: Span::seconds(2),
            ..RateLimit::default()
        }
    }

    /// The settings section for a process.
    pub fn section(&self) -> String {
        format!(
            "[ratelimit]\nurl = \"redis://localhost:{}\"\npassword = {{ value = \"{PASSWORD}\" }}\ntimeout = \"2s\"\n",
            self.port
        )
    }

    /// A limiter that is connected to this server.
    pub async fn limiter(&self, clock: Clock) -> Limiter {
        let limiter = super::world::limiter(&clock, Some(&self.settings()));
        limiter.find_shared().await;
        limiter
    }
}

impl Drop for Valkey {
    fn drop(&mut self) {
        // Errors do not matter: the process is killed and its folder is in /tmp.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn folder() -> PathBuf {
    let name = format!("sealward-valkey-{:032x}", rand::random::<u128>());
    let folder = std::env::temp_dir().join(name);
    let created = fs::DirBuilder::new().mode(0o700).create(&folder);
    created.expect("a folder");
    folder
}

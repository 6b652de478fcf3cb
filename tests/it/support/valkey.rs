//! A Valkey of a test's own: Debian's redis-server, which keeps nothing.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sealward::clock::Clock;
use sealward::ratelimit::Limiter;
use sealward::settings::{RateLimit, Span};

use super::{Authority, Proxy, within};

/// What it asks of those who connect.
pub(crate) const PASSWORD: &str = "tell-no-one-7c9e";

/// For its start, on a machine under load.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server behind a proxy, which can fall silent and hang up.
pub(crate) struct Valkey {
    process: Child,
    folder: PathBuf,
    pub(crate) proxy: Proxy,
    port: u16,
    over_tls: bool,
}

impl Valkey {
    /// A server on this machine.
    pub(crate) async fn start() -> Self {
        Self::start_in(folder(), &[]).await
    }

    /// The same, spoken to over TLS alone, with a certificate for `localhost`.
    pub(crate) async fn over_tls() -> Self {
        let folder = folder();
        let authority = Authority::new();
        fs::write(folder.join("ca.pem"), authority.certificate()).expect("write a certificate");
        let papers = authority.server("localhost").write(&folder);
        let [certificate, key] = papers.map(|file| file.display().to_string());
        // TLS has no sockets in folders, and a port of its own might be taken by then: this one is
        // taken anew until the server has it.
        loop {
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
            let mut server = Self::start_in(folder.clone(), &tls.concat()).await;
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
        let (port, proxy) = Proxy::in_front_of_socket(socket).await;
        Self {
            process,
            folder,
            proxy,
            port,
            over_tls: false,
        }
    }

    /// The settings that lead to it.
    pub(crate) fn settings(&self) -> RateLimit {
        let scheme = if self.over_tls { "rediss" } else { "redis" };
        RateLimit {
            url: Some(format!("{scheme}://localhost:{}", self.port)),
            ca: self.over_tls.then(|| self.folder.join("ca.pem")),
            // Others compile at the same time: what is late here is not slow.
            timeout: Span::seconds(2),
            ..RateLimit::default()
        }
    }

    /// The section of the settings of a process that leads to it.
    pub(crate) fn section(&self) -> String {
        format!(
            "[ratelimit]\nurl = \"redis://localhost:{}\"\npassword = {{ value = \"{PASSWORD}\" }}\ntimeout = \"2s\"\n",
            self.port
        )
    }

    /// A limiter that shares its buckets here, and has found them.
    pub(crate) async fn limiter(&self, clock: Clock) -> Limiter {
        let limiter = super::world::limiter(&clock, Some(&self.settings()));
        limiter.find_shared().await;
        limiter
    }
}

impl Drop for Valkey {
    fn drop(&mut self) {
        // It is killed whatever it is doing, and its folder is in /tmp.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn folder() -> PathBuf {
    let name = format!("sealward-valkey-{:032x}", rand::random::<u128>());
    let folder = std::env::temp_dir().join(name);
    let made = fs::DirBuilder::new().mode(0o700).create(&folder);
    made.expect("a folder");
    folder
}

//! A TCP proxy in front of Postgres or another server that simulates network faults: silence,
//! latency and closed connections.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;

use super::statements::{Messages, Statements};

/// Forwards connections until `silence`, which holds back data in flight.
pub struct Proxy {
    is_open: watch::Sender<bool>,
    delay: watch::Sender<Duration>,
    close_connections: broadcast::Sender<()>,
    /// The statements of clients of Postgres.
    statements: Option<Statements>,
    _forwarding: JoinSet<()>,
}

/// The address of the server.
enum Target {
    Socket(PathBuf),
    Host(String, u16),
}

impl Proxy {
    /// A proxy for the server in `options`, and options that use the proxy.
    pub async fn for_server(options: &PgConnectOptions) -> (PgConnectOptions, Self) {
        let target = match options.get_socket() {
            Some(folder) => Target::Socket(folder.join(format!(".s.PGSQL.{}", options.get_port()))),
            None => Target::Host(options.get_host().to_owned(), options.get_port()),
        };
        let (port, proxy) = Self::to(target, Some(Statements::default())).await;
        let through = options.clone().host("127.0.0.1").port(port);
        (through, proxy)
    }

    /// A proxy for a Unix socket, and its local port.
    pub async fn for_socket(socket: PathBuf) -> (u16, Self) {
        Self::to(Target::Socket(socket), None).await
    }

    /// A proxy for a TCP address, and its local port.
    pub async fn for_address(address: SocketAddr) -> (u16, Self) {
        Self::to(Target::Host(address.ip().to_string(), address.port()), None).await
    }

    async fn to(target: Target, statements: Option<Statements>) -> (u16, Self) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let (is_open, gate) = watch::channel(true);
        let (delay, pace) = watch::channel(Duration::ZERO);
        let (close_connections, _) = broadcast::channel(1);
        let mut forwarding = JoinSet::new();
        let mode = Mode { gate, pace, statements: statements.clone() };
        forwarding.spawn(accept(listener, target, mode, close_connections.clone()));
        let proxy = Self { is_open, delay, close_connections, statements, _forwarding: forwarding };
        (port, proxy)
    }

    /// Stops forwarding without closing connections.
    pub fn stall(&self) {
        self.is_open.send_replace(false);
    }

    /// Stops forwarding and closes every connection.
    pub fn close_connections(&self) {
        self.stall();
        // Sending fails only if there is no connection.
        let _ = self.close_connections.send(());
    }

    /// The number of executions of statements whose text contains `part`.
    pub fn executed(&self, part: &str) -> u64 {
        let statements = self.statements.as_ref();
        statements.expect("a proxy of Postgres").executed(part)
    }

    /// Delays data in both directions.
    pub fn slow_down(&self, delay: Duration) {
        self.delay.send_replace(delay);
    }

    /// Forwards again, starting with the data that was held back.
    pub fn resume(&self) {
        self.is_open.send_replace(true);
    }
}

/// The current forwarding mode.
#[derive(Clone)]
struct Mode {
    gate: watch::Receiver<bool>,
    pace: watch::Receiver<Duration>,
    statements: Option<Statements>,
}

async fn accept(
    listener: TcpListener,
    target: Target,
    mode: Mode,
    close_connections: broadcast::Sender<()>,
) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        // If the server is unavailable, the proxy closes the client connection.
        let ended = [close_connections.subscribe(), close_connections.subscribe()];
        match &target {
            Target::Socket(socket) => {
                if let Ok(server) = UnixStream::connect(socket).await {
                    let (from, to) = server.into_split();
                    join(&mut connections, client, (from, to), &mode, ended);
                }
            }
            Target::Host(host, port) => {
                if let Ok(server) = TcpStream::connect((host.as_str(), *port)).await {
                    let (from, to) = server.into_split();
                    join(&mut connections, client, (from, to), &mode, ended);
                }
            }
        }
    }
}

fn join(
    connections: &mut JoinSet<()>,
    client: TcpStream,
    (from_server, to_server): (
        impl AsyncRead + Unpin + Send + 'static,
        impl AsyncWrite + Unpin + Send + 'static,
    ),
    mode: &Mode,
    [mut there, mut back]: [broadcast::Receiver<()>; 2],
) {
    let (from_client, to_client) = client.into_split();
    let messages = mode.statements.as_ref().map(Statements::messages);
    let forwarding = forward(from_client, to_server, mode.clone(), messages);
    connections.spawn(async move {
        tokio::select! { () = forwarding => {}, _ = there.recv() => {} }
    });
    let forwarding = forward(from_server, to_client, mode.clone(), None);
    connections.spawn(async move {
        tokio::select! { () = forwarding => {}, _ = back.recv() => {} }
    });
}

async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    Mode { mut gate, pace, .. }: Mode,
    mut messages: Option<Messages>,
) {
    let mut bytes = vec![0; 16 * 1024];
    while let Ok(read) = from.read(&mut bytes).await {
        if let Some(messages) = &mut messages {
            messages.read(&bytes[..read]);
        }
        let delay = *pace.borrow();
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if read == 0
            || gate.wait_for(|is_open| *is_open).await.is_err()
            || to.write_all(&bytes[..read]).await.is_err()
        {
            return;
        }
    }
}

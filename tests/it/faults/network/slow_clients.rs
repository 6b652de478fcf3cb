//! Clients that are slow with headers, responses or the next request.

use std::net::SocketAddr;
use std::time::Duration;

use sealward::server::Timeouts;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use testkit::{PATIENCE, World, within};

const SHORT: Timeouts = Timeouts {
    headers: Duration::from_secs(1),
    idle: Duration::from_secs(2),
    age: Duration::from_secs(3_600),
};

/// Whether a request on a new connection is answered.
async fn is_served(address: SocketAddr) -> bool {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        let request = b"GET /livez HTTP/1.1\r\nHost: it\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        std::io::Result::Ok(answer.starts_with("HTTP/1.1 200 OK"))
    };
    exchange.await.unwrap_or(false)
}

/// Waits until the server closes the connection, and ignores all data.
async fn is_ended(stream: &mut TcpStream) {
    let mut bytes = [0; 1024];
    let ended = async { while stream.read(&mut bytes).await.is_ok_and(|read| read > 0) {} };
    let ended = tokio::time::timeout(PATIENCE, ended).await;
    ended.expect("the connection ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn incomplete_headers_do_not_block_other_clients() {
    const CONNECTIONS: u32 = 8;
    let world = World::new().await;
    let (address, connections) = world.with_limits(CONNECTIONS, SHORT).await;
    let mut slow_clients = JoinSet::new();
    // Twice as many connections as allowed.
    for _ in 0..CONNECTIONS * 2 {
        slow_clients.spawn(async move {
            let mut stream = TcpStream::connect(address).await.expect("a connection");
            let sent = stream.write_all(b"GET /livez HTTP/1.1\r\nHost: it\r\nX: ");
            sent.await.expect("send data");
            let (mut from, mut to) = stream.split();
            let trickle = async {
                while to.write_all(b"x").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            let mut answer = Vec::new();
            tokio::select! {
                () = trickle => {}
                // A reset also ends the connection.
                _ = from.read_to_end(&mut answer) => {}
            }
            assert!(answer.is_empty(), "{answer:?}");
        });
    }
    within(PATIENCE, async || connections.open() == CONNECTIONS as usize).await;
    within(PATIENCE, async || is_served(address).await).await;
    assert!(connections.waits() > 0);
    while let Some(ended) = slow_clients.join_next().await {
        ended.expect("a slow client is disconnected");
    }
    within(PATIENCE, async || connections.open() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_clients_are_disconnected() {
    let world = World::new().await;
    let (address, connections) = world.with_limits(8, SHORT).await;
    // No data, a part of a request, and no data after a response.
    let prefixes: [&[u8]; 3] =
        [b"", b"GET /livez HTTP/1.1\r\nHost", b"GET /livez HTTP/1.1\r\nHost: it\r\n\r\n"];
    for prefix in prefixes {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(prefix).await.expect("send data");
        is_ended(&mut stream).await;
    }
    within(PATIENCE, async || connections.open() == 0).await;
    assert!(is_served(address).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_do_not_read_responses_are_disconnected() {
    let world = World::new().await;
    let (address, connections) = world.with_limits(8, SHORT).await;
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a small buffer");
    let mut stream = socket.connect(address).await.expect("a connection");
    // The client requests a long document repeatedly without reading it.
    let request = b"GET /openapi.json HTTP/1.1\r\nHost: it\r\n\r\n";
    let pending = async { while stream.write_all(request).await.is_ok() {} };
    let pending = tokio::time::timeout(PATIENCE, pending).await;
    pending.expect("the client is disconnected");
    within(PATIENCE, async || connections.open() == 0).await;
    assert!(is_served(address).await);
}

//! Clients who take their time with headers, with answers, or with the next request.

use std::net::SocketAddr;
use std::time::Duration;

use sealward::server::Patience;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use crate::process::PATIENCE;
use crate::support::{World, within};

const SHORT: Patience = Patience {
    headers: Duration::from_secs(1),
    idle: Duration::from_secs(2),
    age: Duration::from_secs(3_600),
};

/// Whether somebody is answered, on a new connection.
async fn is_served(address: SocketAddr) -> bool {
    let asked = async {
        let mut stream = TcpStream::connect(address).await?;
        let request = b"GET /livez HTTP/1.1\r\nHost: it\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        std::io::Result::Ok(answer.starts_with("HTTP/1.1 200 OK"))
    };
    asked.await.unwrap_or(false)
}

/// Waits until the other side has ended the connection; what it says before that is passed over.
async fn is_ended(stream: &mut TcpStream) {
    let mut bytes = [0; 1024];
    let ended = async { while stream.read(&mut bytes).await.is_ok_and(|read| read > 0) {} };
    let ended = tokio::time::timeout(PATIENCE, ended).await;
    ended.expect("the connection is ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn incomplete_headers_do_not_block_other_clients() {
    const PLACES: u32 = 8;
    let world = World::new().await;
    let (address, connections) = world.guarded(PLACES, SHORT).await;
    let mut dawdling = JoinSet::new();
    // Twice as many as there are places.
    for _ in 0..PLACES * 2 {
        dawdling.spawn(async move {
            let mut stream = TcpStream::connect(address).await.expect("a connection");
            let began = stream.write_all(b"GET /livez HTTP/1.1\r\nHost: it\r\nX: ");
            began.await.expect("it listens");
            let (mut from, mut to) = stream.split();
            let drip = async {
                while to.write_all(b"x").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            let mut answer = Vec::new();
            tokio::select! {
                () = drip => {}
                // A reset is an end as well.
                _ = from.read_to_end(&mut answer) => {}
            }
            assert!(answer.is_empty(), "{answer:?}");
        });
    }
    within(PATIENCE, async || connections.open() == PLACES as usize).await;
    within(PATIENCE, async || is_served(address).await).await;
    assert!(connections.waits() > 0);
    while let Some(ended) = dawdling.join_next().await {
        ended.expect("who dawdles is sent away");
    }
    within(PATIENCE, async || connections.open() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_clients_are_disconnected() {
    let world = World::new().await;
    let (address, connections) = world.guarded(8, SHORT).await;
    // Nothing at all, the beginning of HTTP/2, and nothing more after an answer.
    let beginnings: [&[u8]; 3] = [
        b"",
        b"PRI * HTTP/2.0\r\n\r\nSM",
        b"GET /livez HTTP/1.1\r\nHost: it\r\n\r\n",
    ];
    for beginning in beginnings {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(beginning).await.expect("it listens");
        is_ended(&mut stream).await;
    }
    within(PATIENCE, async || connections.open() == 0).await;
    assert!(is_served(address).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_do_not_read_responses_are_disconnected() {
    let world = World::new().await;
    let (address, connections) = world.guarded(8, SHORT).await;
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a small buffer");
    let mut stream = socket.connect(address).await.expect("a connection");
    // The document is long, and asked for again and again without being read.
    let request = b"GET /openapi.json HTTP/1.1\r\nHost: it\r\n\r\n";
    let asking = async { while stream.write_all(request).await.is_ok() {} };
    let asking = tokio::time::timeout(PATIENCE, asking).await;
    asking.expect("it is sent away");
    within(PATIENCE, async || connections.open() == 0).await;
    assert!(is_served(address).await);
}

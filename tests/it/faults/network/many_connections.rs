//! The connections of one client address, and their age.

use std::net::SocketAddr;
use std::time::Duration;

use engine::settings::Http;
use sealward::server::Timeouts;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use testkit::{PATIENCE, World, within};

const USUAL: Timeouts = Timeouts {
    headers: Duration::from_secs(60),
    idle: Duration::from_secs(60),
    age: Duration::from_secs(3_600),
};

const REQUEST: &[u8] = b"GET /livez HTTP/1.1\r\nHost: it\r\n\r\n";

async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.expect("a connection")
}

/// Sends a request and returns the response; it is empty once the connection is closed.
async fn ask(stream: &mut TcpStream) -> String {
    if stream.write_all(REQUEST).await.is_err() {
        return String::new();
    }
    read_response(stream).await
}

async fn read_response(stream: &mut TcpStream) -> String {
    let mut response = String::new();
    let mut bytes = [0; 4096];
    while !response.ends_with('}') {
        match stream.read(&mut bytes).await {
            Ok(read) if read > 0 => response.push_str(&String::from_utf8_lossy(&bytes[..read])),
            _ => break,
        }
    }
    response
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_has_a_maximum_of_connections() {
    let world = World::new().await;
    let http = Http { max_connections_per_address: 2, ..Http::default() };
    let (address, connections) = world.limited(8, USUAL, &http).await;
    let (mut first, mut second) = (connect(address).await, connect(address).await);
    assert!(ask(&mut first).await.starts_with("HTTP/1.1 200"));
    assert!(ask(&mut second).await.starts_with("HTTP/1.1 200"));
    assert_eq!(ask(&mut connect(address).await).await, "");
    assert_eq!(connections.refused(), 1);
    assert_eq!(connections.open(), 2);

    drop(first);
    within(PATIENCE, async || connections.open() == 1).await;
    assert!(ask(&mut connect(address).await).await.starts_with("HTTP/1.1 200"));
    assert!(ask(&mut second).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_proxy_has_no_maximum_of_connections() {
    let world = World::new().await;
    let http = Http {
        max_connections_per_address: 1,
        trusted_proxies: vec!["127.0.0.0/8".parse().expect("a network")],
        ..Http::default()
    };
    let (address, connections) = world.limited(8, USUAL, &http).await;
    let mut streams = Vec::new();
    for _ in 0..4 {
        let mut stream = connect(address).await;
        assert!(ask(&mut stream).await.starts_with("HTTP/1.1 200"));
        streams.push(stream);
    }
    assert_eq!(connections.refused(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_closes_at_its_maximum_age_after_the_request_in_flight() {
    let world = World::new().await;
    let timeouts = Timeouts { age: Duration::from_millis(300), ..USUAL };
    let (address, connections) = world.with_limits(8, timeouts).await;
    let mut in_flight = connect(address).await;
    let half = b"POST /api/v1/protect HTTP/1.1\r\nHost: it\r\nContent-Type: application/json\r\n\
                 Content-Length: 2\r\n\r\n{";
    in_flight.write_all(half).await.expect("it listens");
    within(PATIENCE, async || connections.open() == 1).await;

    // Two lifetimes of busy connections are longer than the age of the first one.
    for _ in 0..2 {
        let mut busy = connect(address).await;
        within(PATIENCE, async || ask(&mut busy).await.is_empty()).await;
    }
    assert_eq!(connections.open(), 1, "the request in flight");
    in_flight.write_all(b"}").await.expect("it is read");
    let response = read_response(&mut in_flight).await;
    assert!(response.starts_with("HTTP/1.1 401"), "{response}");
    assert!(response.to_lowercase().contains("connection: close"), "{response}");
    within(PATIENCE, async || connections.open() == 0).await;
}

//! Bodies that are refused before they are read.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use testkit::{UNPROTECT_BATCH, World};

/// Less than the largest body, and more than the buffers of a connection.
const SIZE: usize = 30 << 20;

/// A proxy could treat a connection that closes while it sends as a failure of the instance.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_still_sends_its_body_receives_the_refusal() {
    let world = World::new().await;
    let address = world.served(None).await;
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let head = format!(
        "POST {UNPROTECT_BATCH} HTTP/1.1\r\nhost: it\r\nauthorization: Bearer nonsense\r\n\
         content-type: application/json\r\ncontent-length: {SIZE}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.expect("the service reads the headers");
    stream.write_all(&vec![b' '; SIZE]).await.expect("the service reads the body");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("the service closes without a reset");
    assert!(response.starts_with("HTTP/1.1 401 "), "{response}");
    assert!(response.contains("\r\nconnection: close\r\n"), "{response}");
}

/// A client that keeps connections would send its next request into a connection that closes.
#[tokio::test(flavor = "multi_thread")]
async fn a_response_before_the_body_says_that_the_connection_closes() {
    let world = World::new().await;
    let address = world.served(None).await;
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let head = "POST /nowhere HTTP/1.1\r\nhost: it\r\ncontent-length: 2\r\n\r\n";
    stream.write_all(head.as_bytes()).await.expect("the service reads the headers");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("the service closes without a reset");
    assert!(response.starts_with("HTTP/1.1 404 "), "{response}");
    assert!(response.contains("\r\nconnection: close\r\n"), "{response}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_whose_body_has_arrived_stays_open() {
    let world = World::new().await;
    let address = world.served(None).await;
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let request = format!(
        "POST {UNPROTECT_BATCH} HTTP/1.1\r\nhost: it\r\ncontent-type: application/json\r\n\
         content-length: 2\r\n\r\n{{}}"
    );
    for _ in 0..2 {
        stream.write_all(request.as_bytes()).await.expect("the connection is open");
        let mut response = Vec::new();
        while !response.ends_with(b"}") {
            let mut part = [0; 4_096];
            let read = stream.read(&mut part).await.expect("a response");
            assert!(read > 0, "the connection is closed");
            response.extend_from_slice(&part[..read]);
        }
        let response = String::from_utf8_lossy(&response);
        assert!(response.starts_with("HTTP/1.1 401 "), "{response}");
        assert!(!response.contains("connection: close"), "{response}");
    }
}

/// A read would ask the client for the body that nobody needs.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_body_is_not_asked_for() {
    let world = World::new().await;
    let address = world.served(None).await;
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let head =
        "POST /nowhere HTTP/1.1\r\nhost: it\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n";
    stream.write_all(head.as_bytes()).await.expect("the service reads the headers");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("the service closes without a reset");
    assert!(response.starts_with("HTTP/1.1 404 "), "{response}");
    assert!(response.contains("\r\nconnection: close\r\n"), "{response}");
}

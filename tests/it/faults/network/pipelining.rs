//! Clients that send further requests before they receive responses.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use sealward::server::Timeouts;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use testkit::World;

const USUAL: Timeouts = Timeouts {
    headers: Duration::from_secs(60),
    idle: Duration::from_secs(60),
    age: Duration::from_secs(3_600),
};

/// The number of requests of the endless client.
const REQUESTS: usize = 200_000;

/// The service has one thread here.
#[tokio::test]
async fn endless_requests_of_one_connection_do_not_block_others() {
    let world = World::new().await;
    let (address, _) = world.with_limits(8, USUAL).await;
    let mut to = TcpStream::connect(address).expect("a connection");
    let mut from = to.try_clone().expect("a descriptor");
    let reading = thread::spawn(move || {
        let mut bytes = vec![0; 64 * 1024];
        while from.read(&mut bytes).is_ok_and(|read| read > 0) {}
    });
    let closing = to.try_clone().expect("a descriptor");
    let sending = thread::spawn(move || {
        let many = b"GET /livez HTTP/1.1\r\nHost: it\r\n\r\n".repeat(1_000);
        for _ in 0..REQUESTS / 1_000 {
            if to.write_all(&many).is_err() {
                break;
            }
        }
    });
    for _ in 0..10 {
        let stream = tokio::net::TcpStream::connect(address).await;
        let mut stream = stream.expect("a connection");
        let request = b"GET /livez HTTP/1.1\r\nHost: it\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.expect("it listens");
        let mut response = String::new();
        let read = stream.read_to_string(&mut response).await;
        read.expect("a response");
        assert!(response.starts_with("HTTP/1.1 200 OK"), "{response}");
    }
    assert!(!sending.is_finished(), "the others waited for this client");
    closing.shutdown(std::net::Shutdown::Both).expect("an open connection");
    sending.join().expect("a sender");
    reading.join().expect("a reader");
}

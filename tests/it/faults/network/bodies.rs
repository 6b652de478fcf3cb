//! Endless and slow request bodies.

use std::time::Duration;

use engine::settings::Limits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::faults::fixture::Fixture;
use crate::faults::load::Action;
use testkit::Site;
use testkit::{PATIENCE, PROTECT};

/// The size of an endless body.
const ENDLESS: usize = 100 << 20;

/// The kernel buffers some megabytes on each side of a connection. The service must not receive more than these and the
/// largest body, which it discards so that the client receives the refusal.
const BUFFERED: usize = 32 << 20;

/// The maximum growth of memory for all senders, in KiB. A body can have one MiB.
const GROWTH: u64 = 48 << 10;

const SENDERS: usize = 8;

/// Sends the headers of a protect request and a chunked body until the service stops reading. Returns
/// the number of sent bytes and the response.
async fn send_chunks(fixture: &Fixture, chunk: &str, pause: Duration) -> (usize, String) {
    let stream = TcpStream::connect(&fixture.client.address).await;
    let (mut from, mut to) = stream.expect("a connection").into_split();
    let head = format!(
        "POST {PROTECT} HTTP/1.1\r\nHost: it\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        fixture.client.key
    );
    to.write_all(head.as_bytes()).await.expect("send data");
    let chunk = format!("{:x}\r\n{chunk}\r\n", chunk.len());
    let sending = tokio::spawn(async move {
        let mut sent = 0;
        while sent < ENDLESS && to.write_all(chunk.as_bytes()).await.is_ok() {
            sent += chunk.len();
            tokio::time::sleep(pause).await;
        }
        sent
    });
    let mut answer = Vec::new();
    let reading = tokio::time::timeout(PATIENCE, from.read_to_end(&mut answer));
    // A reset also ends the connection.
    drop(reading.await.expect("the connection ends"));
    let sent = tokio::time::timeout(PATIENCE, sending).await;
    let sent = sent.expect("the service stops reading").expect("a sender");
    (sent, String::from_utf8(answer).expect("text"))
}

/// Sends the headers and one byte of a management request. Returns the response.
async fn send_slowly_to_management(fixture: &Fixture) -> String {
    let stream = TcpStream::connect(&fixture.client.address).await;
    let mut stream = stream.expect("a connection");
    let request = format!(
        "POST /admin/services HTTP/1.1\r\nHost: it\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        fixture.site().admin_key()
    );
    stream.write_all(request.as_bytes()).await.expect("send");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("a response");
    response
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_bodies_of_management_requests_are_refused() {
    let limit = [("SEALWARD_LIMITS_REQUEST_TIMEOUT", "10s")];
    let fixture = Fixture::at(Site::new().await, &limit).await;
    let response = tokio::time::timeout(PATIENCE, send_slowly_to_management(&fixture)).await;
    let response = response.expect("the request times out");
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
    assert!(response.contains("connection: close"), "{response}");
    assert!(response.contains("REQUEST_TIMEOUT"), "{response}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_body_is_refused_and_not_read() {
    let limit = [("SEALWARD_LIMITS_REQUEST_TIMEOUT", "10s")];
    let fixture = Fixture::at(Site::new().await, &limit).await;
    let before = fixture.memory("VmHWM");
    let chunk = " ".repeat(64 << 10);
    let all = (0..SENDERS).map(|_| send_chunks(&fixture, &chunk, Duration::ZERO));
    // A slow body has the same time limit as any other request.
    let slow = send_chunks(&fixture, " ", Duration::from_millis(100));
    let ((_, late), all) = tokio::join!(slow, futures_util::future::join_all(all));
    assert!(late.starts_with("HTTP/1.1 408 "), "{late:?}");
    assert!(late.contains("connection: close"), "{late:?}");
    assert!(late.contains("REQUEST_TIMEOUT"), "{late:?}");
    let largest = Limits::default().largest_body();
    for (sent, answer) in all {
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer:?}");
        assert!(answer.contains("PAYLOAD_TOO_LARGE"), "{answer:?}");
        assert!(sent < BUFFERED + largest, "{sent} bytes were accepted");
    }
    let growth = fixture.memory("VmHWM") - before;
    assert!(growth < GROWTH, "{growth} KiB");

    let load = fixture.load();
    load.is_served(&Action::ALL).await;
    fixture.assert_recorded_once(load.end().await).await;
}

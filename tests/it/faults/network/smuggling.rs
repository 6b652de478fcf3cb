//! Requests that two parsers can interpret differently. If a proxy interprets a part as a body, the
//! service must not interpret it as a request.

use std::net::SocketAddr;
use std::time::Duration;

use sealward::server::Timeouts;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use testkit::{PATIENCE, World};

const SHORT: Timeouts = Timeouts {
    headers: Duration::from_secs(2),
    idle: Duration::from_secs(2),
    age: Duration::from_secs(3_600),
};

/// The hidden request.
const HIDDEN: &str = "GET /livez HTTP/1.1\r\nHost: hidden\r\n\r\n";

/// The statuses of all responses on one connection until it closes.
async fn statuses(address: SocketAddr, bytes: &str) -> Vec<u16> {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(bytes.as_bytes()).await.expect("send data");
    let mut answers = Vec::new();
    // A reset also ends the connection.
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answers));
    drop(read.await.expect("the connection ends"));
    let answers = String::from_utf8_lossy(&answers);
    // A response has the HTTP version of its request.
    let prefixes = answers.split("HTTP/1.").skip(1);
    prefixes.map(|answer| answer[2..5].parse().expect("a status")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelined_requests_are_answered_in_order() {
    let world = World::new().await;
    let (address, _) = world.with_limits(64, SHORT).await;
    let plain = "POST /livez HTTP/1.1\r\nHost: it\r\nContent-Length: 5\r\n\r\nhello";
    let chunked = "POST /livez HTTP/1.1\r\nHost: it\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    for first in [plain, chunked] {
        assert_eq!(statuses(address, &format!("{first}{HIDDEN}")).await, [405, 200]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ambiguous_length_closes_the_connection() {
    let world = World::new().await;
    let (address, _) = world.with_limits(64, SHORT).await;
    // With two lengths, the encoding is used. The rest of the connection is not parsed.
    for headers in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 100\r\nTransfer-Encoding: chunked",
    ] {
        let request =
            format!("POST /livez HTTP/1.1\r\nHost: it\r\n{headers}\r\n\r\n0\r\n\r\n{HIDDEN}");
        assert_eq!(statuses(address, &request).await, [405], "{headers:?}");
    }
    for headers in [
        "Content-Length: 0\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 0",
        "Content-Length: 0, 5",
        "Content-Length: +5",
        "Content-Length: -5",
        "Content-Length: 0x5",
        "Content-Length: 5 5",
        "Content-Length: ",
        "Content-Length : 0",
        "Content-Length: 99999999999999999999999",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: identity, chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Host: other",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding: \x0bchunked",
        "Transfer-Encoding:\r\n chunked",
        "Transfer-Encoding : chunked",
        " Transfer-Encoding: chunked",
        "Transfer\\Encoding: chunked",
        "X: a\rTransfer-Encoding: chunked",
        "X: a\0b",
    ] {
        let request =
            format!("POST /livez HTTP/1.1\r\nHost: it\r\n{headers}\r\n\r\n0\r\n\r\n{HIDDEN}");
        assert_eq!(statuses(address, &request).await, [400], "{headers:?}");
    }
    let http_1_0 =
        format!("POST /livez HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}");
    assert_eq!(statuses(address, &http_1_0).await, [400]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_a_host_is_the_last_of_its_connection() {
    let world = World::new().await;
    let (address, _) = world.with_limits(64, SHORT).await;
    let hostless = "GET /livez HTTP/1.1\r\n\r\n";
    assert_eq!(statuses(address, &format!("{hostless}{HIDDEN}")).await, [400]);
    let http_1_0 = "GET /livez HTTP/1.0\r\n\r\n";
    assert_eq!(statuses(address, http_1_0).await, [200]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_host_is_the_last_request_of_its_connection() {
    let world = World::new().await;
    let (address, _) = world.with_limits(64, SHORT).await;
    for host in [
        "a b",
        "a,b",
        "user@it",
        "@it",
        "it/path",
        "it?query",
        "it#part",
        "it:port",
        "it:1:2",
        "it:99999",
        "[::1",
        "http://it",
        "it\tit",
    ] {
        for line in [format!("Host: {host}"), format!("Host: it\r\nHost: {host}")] {
            let request = format!("GET /livez HTTP/1.1\r\n{line}\r\n\r\n{HIDDEN}");
            assert_eq!(statuses(address, &request).await, [400], "{line:?}");
        }
        let http_1_0 = format!("GET /livez HTTP/1.0\r\nHost: {host}\r\n\r\n");
        assert_eq!(statuses(address, &http_1_0).await, [400], "{host:?}");
    }
    let with_a_user = format!("GET http://user@it/livez HTTP/1.1\r\nHost: it\r\n\r\n{HIDDEN}");
    assert_eq!(statuses(address, &with_a_user).await, [400]);
    for host in ["it", "it:", "it:8443", "a_b.example.", "127.0.0.1:80", "[::1]:443", ""] {
        let request = format!("GET /livez HTTP/1.1\r\nHost: {host}\r\n\r\n{HIDDEN}");
        assert_eq!(statuses(address, &request).await, [200, 200], "{host:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ambiguous_head_is_answered_with_the_error_of_the_api() {
    let world = World::new().await;
    let (address, _) = world.with_limits(64, SHORT).await;
    for (head, field) in [
        ("GET /dashboard HTTP/1.1", "Host"),
        (
            "POST /api/v1/protect HTTP/1.1\r\nHost: it\r\nTransfer-Encoding: gzip, chunked",
            "Transfer-Encoding",
        ),
    ] {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        let request = format!("{head}\r\nX-Request-Id: it\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it listens");
        let mut response = String::new();
        stream.read_to_string(&mut response).await.expect("a response");
        assert!(response.contains("x-request-id: it\r\n"), "{response}");
        assert!(response.contains("connection: close\r\n"), "{response}");
        let (_, body) = response.split_once("\r\n\r\n").expect("a body");
        let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
        assert_eq!(body["error"]["code"], "INVALID_REQUEST");
        assert_eq!(body["error"]["details"][0]["field"], field);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_feed_alone_ends_a_line_and_hides_no_header() {
    let world = World::new().await;
    let (address, _) = world.with_limits(64, SHORT).await;
    // According to RFC 9112, section 2.2, the text after it is a header.
    for headers in [
        "X: a\nContent-Length: 5\r\n\r\nhello",
        "X: a\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "Content-Length: 5\n\nhello",
    ] {
        let request = format!("POST /livez HTTP/1.1\r\nHost: it\r\n{headers}{HIDDEN}");
        assert_eq!(statuses(address, &request).await, [405, 200], "{headers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_chunks_end_the_connection() {
    let world = World::new().await;
    let (address, _) = world.with_limits(64, SHORT).await;
    for chunks in [
        "5\nhello\r\n0\r\n\r\n",
        "5;a\nb\r\nhello\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        "+5\r\nhello\r\n0\r\n\r\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        "\r\n5\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n",
        "5\r\nhelloxx0\r\n\r\n",
        "10000000000000005\r\nhello\r\n0\r\n\r\n",
    ] {
        // This endpoint reads its body and refuses the invalid chunk.
        let request = format!(
            "POST /api/v1/protect HTTP/1.1\r\nHost: it\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n{chunks}{HIDDEN}"
        );
        assert_eq!(statuses(address, &request).await, [400], "{chunks:?}");
    }
}

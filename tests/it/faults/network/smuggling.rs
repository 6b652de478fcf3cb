//! Requests that two readers may take for different ones. Behind a proxy that reads them otherwise,
//! the second reader must not find a request where the first found a body.

use std::net::SocketAddr;
use std::time::Duration;

use sealward::server::Patience;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::process::PATIENCE;
use crate::support::World;

const SHORT: Patience = Patience {
    headers: Duration::from_secs(2),
    idle: Duration::from_secs(2),
    age: Duration::from_secs(3_600),
};

/// What would be smuggled in.
const HIDDEN: &str = "GET /livez HTTP/1.1\r\nHost: hidden\r\n\r\n";

/// The statuses of all answers on one connection, until it is ended.
async fn statuses(address: SocketAddr, bytes: &str) -> Vec<u16> {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream
        .write_all(bytes.as_bytes())
        .await
        .expect("it listens");
    let mut answers = Vec::new();
    // A reset is an end as well.
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answers));
    drop(read.await.expect("the connection is ended"));
    let answers = String::from_utf8_lossy(&answers);
    // The version of an answer is that of its request.
    let beginnings = answers.split("HTTP/1.").skip(1);
    beginnings
        .map(|answer| answer[2..5].parse().expect("a status"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelined_requests_are_answered_in_order() {
    let world = World::new().await;
    let (address, _) = world.guarded(64, SHORT).await;
    let plain = "POST /livez HTTP/1.1\r\nHost: it\r\nContent-Length: 5\r\n\r\nhello";
    let chunked = "POST /livez HTTP/1.1\r\nHost: it\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    for first in [plain, chunked] {
        assert_eq!(
            statuses(address, &format!("{first}{HIDDEN}")).await,
            [405, 200]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ambiguous_length_closes_the_connection() {
    let world = World::new().await;
    let (address, _) = world.guarded(64, SHORT).await;
    // Two lengths, of which the encoding wins; nothing after it is taken for a request.
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
    let of_old =
        format!("POST /livez HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}");
    assert_eq!(statuses(address, &of_old).await, [400]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_a_host_is_the_last_of_its_connection() {
    let world = World::new().await;
    let (address, _) = world.guarded(64, SHORT).await;
    let hostless = "GET /livez HTTP/1.1\r\n\r\n";
    assert_eq!(
        statuses(address, &format!("{hostless}{HIDDEN}")).await,
        [400]
    );
    let of_old = "GET /livez HTTP/1.0\r\n\r\n";
    assert_eq!(statuses(address, of_old).await, [200]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_feed_alone_ends_a_line_and_hides_no_header() {
    let world = World::new().await;
    let (address, _) = world.guarded(64, SHORT).await;
    // As RFC 9112, section 2.2, has it: what stands after it is a header, and counts as one.
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
    let (address, _) = world.guarded(64, SHORT).await;
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
        // An address that reads its body, and is refused for what that is.
        let request = format!(
            "POST /api/v1/protect HTTP/1.1\r\nHost: it\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n{chunks}{HIDDEN}"
        );
        assert_eq!(statuses(address, &request).await, [400], "{chunks:?}");
    }
}

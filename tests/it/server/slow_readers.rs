//! Clients that read a long response slowly or not at all, with and without TLS.

use std::convert::Infallible;
use std::future::pending;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::get;
use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};
use sealward::server::{Connections, Timeouts, listen};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::site::Site;
use testkit::{HOST, PATIENCE, SecureClient, within};

const TIMEOUTS: Timeouts = Timeouts {
    headers: Duration::from_secs(2),
    idle: Duration::from_secs(2),
    age: Duration::from_secs(3_600),
};

/// More than the system buffers.
const LENGTH: usize = 32 << 20;
const PART: usize = 16 << 10;

trait Stream: AsyncRead + AsyncWrite + Unpin {}
impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// Two long responses, the second one in parts.
fn router() -> Router {
    let part = || Ok::<_, Infallible>(Bytes::from_static(&[0; PART]));
    let parts = move || stream::repeat_with(part).take(LENGTH / PART);
    Router::new()
        .route("/whole", get(async || vec![0; LENGTH]))
        .route("/parts", get(async move || Body::from_stream(parts())))
}

/// Starts a listener.
async fn serve(site: Option<&Site>) -> (SocketAddr, Connections) {
    let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listener = listen("http.listen", any_port).await.expect("a port");
    let tls = site.map(|site| site.tls().expect("a certificate"));
    let listener = listener.over(tls).with(TIMEOUTS);
    let (address, connections) = (listener.address(), listener.connections());
    // The task ends with the runtime of the test.
    tokio::spawn(listener.serve(router(), pending(), Duration::ZERO, Duration::ZERO));
    (address, connections)
}

/// Requests a response and reads its head.
async fn begin(address: SocketAddr, site: Option<&Site>, path: &str) -> Box<dyn Stream> {
    let mut stream: Box<dyn Stream> = match site {
        None => Box::new(TcpStream::connect(address).await.expect("a connection")),
        Some(site) => {
            let client = SecureClient::trusting(&site.authority);
            Box::new(client.stream(address).await.expect("a connection"))
        }
    };
    let request = format!("GET {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("a reader");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a response"));
    }
    assert!(head.starts_with(b"HTTP/1.1 200 OK\r\n"));
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_stops_reading_is_disconnected() {
    let site = Site::new();
    for site in [None, Some(&site)] {
        let (address, connections) = serve(site).await;
        let both = join_all(["/whole", "/parts"].map(|path| begin(address, site, path))).await;
        assert_eq!(connections.open(), 2);
        within(PATIENCE, async || connections.open() == 0).await;
        drop(both);
    }
}

/// Reads for longer than the idle timeout, in equal parts. Returns the length.
async fn length_read_slowly(mut stream: Box<dyn Stream>) -> usize {
    let (mut bytes, mut length) = (vec![0; LENGTH / 100], 0);
    while stream.read_exact(&mut bytes).await.is_ok() {
        length += bytes.len();
        tokio::time::sleep(TIMEOUTS.idle / 30).await;
    }
    length
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_reads_slowly_receives_the_whole_response() {
    let site = Site::new();
    let mut lengths = Vec::new();
    for (site, path) in
        [(None, "/whole"), (None, "/parts"), (Some(&site), "/whole"), (Some(&site), "/parts")]
    {
        let (address, _) = serve(site).await;
        let stream = begin(address, site, path).await;
        lengths.push(length_read_slowly(stream));
    }
    for length in join_all(lengths).await {
        assert!(length > LENGTH * 98 / 100, "{length} bytes");
    }
}

//! HTTP/2, which no listener supports.

use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;

use testkit::{Authority, HOST, PATIENCE, SecureClient};
use testkit::{Process, Site};

/// The preface of a client and its empty SETTINGS frame.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

const ALL: &[(&str, &str)] =
    &[("SEALWARD_METRICS_LISTEN", "127.0.0.1:0"), ("SEALWARD_HTTP_PROBE_LISTEN", "127.0.0.1:0")];

/// Sends these parts and returns all responses until the connection ends in order.
async fn responses<S>(mut stream: S, parts: &[&[u8]]) -> String
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    for part in parts {
        stream.write_all(part).await.expect("it reads");
        stream.flush().await.expect("it reads");
    }
    let mut responses = String::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_string(&mut responses));
    read.await.expect("the end").expect("responses and no reset");
    responses
}

/// Asserts that the last response refuses the request.
fn is_refused(response: &str) {
    assert!(response.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{response}");
    for part in ["connection: close\r\n", "content-length: 0\r\n"] {
        assert!(response.contains(part), "{response}");
    }
    assert!(response.ends_with("\r\n\r\n"), "{response}");
}

async fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).await.expect("a connection");
    stream.set_nodelay(true).expect("an open connection");
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn no_listener_answers_the_preface_of_http_2() {
    let site = Site::new().await;
    let process = Process::start_with(&site, ALL).await;
    let listeners = [
        ("API", Some(process.address().to_owned())),
        ("metrics", process.metrics_address()),
        ("probes", process.probes_address()),
    ];
    let request = format!("GET /livez HTTP/1.1\r\nHost: {HOST}\r\n\r\n");
    for (name, address) in listeners {
        let address = address.expect(name).parse().expect(name);
        let (first, rest) = PREFACE.split_at(5);
        for parts in [&[PREFACE][..], &[first, rest], &[&PREFACE[..18]]] {
            is_refused(&responses(connect(address).await, parts).await);
        }
        let both = [request.as_bytes(), PREFACE].concat();
        for parts in [&[request.as_bytes(), PREFACE][..], &[&both]] {
            let later = responses(connect(address).await, parts).await;
            let (first, refused) = later.rsplit_once("HTTP/1.1 400 ").expect(name);
            assert!(first.starts_with("HTTP/1.1 "), "{later}");
            is_refused(&format!("HTTP/1.1 400 {refused}"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_listener_over_tls_refuses_the_preface_of_http_2() {
    let site = Site::new().await;
    let authority = Authority::new();
    let files = authority.server(HOST).write(site.folder());
    let [certificate, key] = files.each_ref().map(|file| file.to_str().expect("a path of text"));
    let tls = [("SEALWARD_HTTP_TLS_CERTIFICATE", certificate), ("SEALWARD_HTTP_TLS_KEY", key)];
    let process = Process::start_with(&site, &tls).await;
    let address = process.address().parse().expect("an address");
    for offered in [&["http/1.1"][..], &[]] {
        let versions = rustls::DEFAULT_VERSIONS;
        let client = SecureClient::with_versions(&authority, versions, offered, None);
        let stream = client.stream(address).await.expect("a connection");
        is_refused(&responses(stream, &[PREFACE]).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_to_http_2_is_ignored() {
    let site = Site::new().await;
    let process = Process::start(&site).await;
    let address = process.address().parse().expect("an address");
    let request = format!(
        "GET /livez HTTP/1.1\r\nHost: {HOST}\r\nConnection: Upgrade, HTTP2-Settings, close\r\n\
         Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n"
    );
    let answered = responses(connect(address).await, &[request.as_bytes()]).await;
    assert!(answered.starts_with("HTTP/1.1 200 OK\r\n"), "{answered}");
}

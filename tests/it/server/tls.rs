//! TLS versions, cipher suites and client certificates.

use std::io;
use std::net::Ipv4Addr;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::routing::get;
use formats::clock::Clock;
use rustls::version::{TLS12, TLS13};
use rustls::{AlertDescription, ProtocolVersion, SupportedProtocolVersion};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::site::{Serving, Site};
use testkit::{Authority, HOST, IssuedCertificate, PROTECT, SecureClient, World};

fn router() -> Router {
    Router::new().route("/", get(async || "here"))
}

#[tokio::test]
async fn both_tls_versions_are_supported() {
    let site = Site::new();
    let serving = Serving::start(site.tls().unwrap(), router()).await;
    let both: &[_] = &[&TLS13, &TLS12];
    for (versions, agreed) in [
        (both, ProtocolVersion::TLSv1_3),
        (&[&TLS13], ProtocolVersion::TLSv1_3),
        (&[&TLS12], ProtocolVersion::TLSv1_2),
    ] {
        let client = SecureClient::with_versions(&site.authority, versions, &["http/1.1"], None);
        let mut connection = client.connect(serving.address).await.unwrap();
        assert_eq!(connection.version, Some(agreed));
        assert_eq!(connection.get("/").await.unwrap().ok().body, "here");
    }
    assert!(serving.end().await);
}

#[tokio::test]
async fn http_1_1_is_the_only_application_protocol() {
    let site = Site::new();
    let serving = Serving::start(site.tls().unwrap(), router()).await;
    for version in [&TLS13, &TLS12] {
        let offering = |protocols: &[&str]| {
            SecureClient::with_versions(&site.authority, &[version], protocols, None)
        };
        let chosen: Option<&[u8]> = Some(b"http/1.1");
        for (offered, expected) in
            [(&["h2", "http/1.1"][..], chosen), (&["http/1.1"], chosen), (&[], None)]
        {
            let mut connection = offering(offered).connect(serving.address).await.unwrap();
            assert_eq!(connection.protocol.as_deref(), expected, "{offered:?}");
            assert_eq!(connection.get("/").await.unwrap().ok().body, "here");
        }
        let refused = offering(&["h2"]).stream(serving.address).await;
        let refused = refused.unwrap_err().into_inner().unwrap();
        let alert = rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol);
        assert_eq!(refused.downcast_ref(), Some(&alert));
    }
}

#[tokio::test]
async fn a_request_has_at_most_100_header_fields_of_limited_length() {
    let site = Site::new();
    let serving = Serving::start(site.tls().unwrap(), router()).await;
    let client = SecureClient::trusting(&site.authority);
    // `Host` is one of them.
    for (fields, length, status) in [
        (99, 1, StatusCode::OK),
        (100, 1, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE),
        (1, 60 << 10, StatusCode::OK),
        (1, 128 << 10, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE),
    ] {
        let mut connection = client.connect(serving.address).await.unwrap();
        let mut request = Request::get(format!("https://{HOST}/"));
        for _ in 0..fields {
            request = request.header("x-field", "x".repeat(length));
        }
        let answer = connection.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.unwrap().status, status, "{fields} fields");
    }
    assert!(serving.end().await);
}

/// The type of the first record of the server after a client hello, and its description if it is an
/// alert.
async fn first_response(serving: &Serving, hello: &[u8]) -> (u8, u8) {
    let mut stream = TcpStream::connect(serving.address).await.unwrap();
    stream.write_all(hello).await.unwrap();
    let mut record = [0; 7];
    stream.read_exact(&mut record).await.unwrap();
    (record[0], record[6])
}

/// A client hello with this maximum version and only this suite.
fn hello(version: [u8; 2], suite: [u8; 2]) -> Vec<u8> {
    // ECDSA with P-256 and SHA-256, like the certificate.
    let extensions = [
        &[0, 13, 0, 4, 0, 2, 4, 3][..],
        &[0, 10, 0, 4, 0, 2, 0, 23],
        &[0, 11, 0, 2, 1, 0],
        &[0, 23, 0, 0],
    ]
    .concat();
    let length = u8::try_from(extensions.len()).unwrap();
    let body = [&version[..], &[7; 32], &[0], &[0, 2], &suite, &[1, 0], &[0, length], &extensions]
        .concat();
    let length = u8::try_from(body.len()).unwrap();
    [&[22, 3, 1, 0, length + 4, 1, 0, 0, length][..], &body].concat()
}

#[tokio::test]
async fn old_versions_and_weak_suites_are_refused() {
    const HANDSHAKE: u8 = 22;
    const ALERT: u8 = 21;
    const HANDSHAKE_FAILURE: u8 = 40;
    const PROTOCOL_VERSION: u8 = 70;
    const STRONG: [u8; 2] = [0xc0, 0x2b];
    let site = Site::new();
    let serving = Serving::start(site.tls().unwrap(), router()).await;
    let (kind, _) = first_response(&serving, &hello([3, 3], STRONG)).await;
    assert_eq!(kind, HANDSHAKE, "TLS 1.2 with ECDHE and AES-GCM");
    for (name, version) in [("TLS 1.1", [3, 2]), ("TLS 1.0", [3, 1]), ("SSL 3", [3, 0])] {
        let response = first_response(&serving, &hello(version, STRONG)).await;
        assert_eq!(response, (ALERT, PROTOCOL_VERSION), "{name}");
    }
    let weak = [
        ("RSA key exchange, AES-CBC", [0x00, 0x2f]),
        ("RSA key exchange, AES-GCM", [0x00, 0x9c]),
        ("ECDHE, AES-CBC", [0xc0, 0x09]),
        ("ECDHE, 3DES", [0xc0, 0x08]),
        ("ECDHE, RC4", [0xc0, 0x07]),
        ("ECDHE, no encryption", [0xc0, 0x06]),
    ];
    for (name, suite) in weak {
        let response = first_response(&serving, &hello([3, 3], suite)).await;
        assert_eq!(response, (ALERT, HANDSHAKE_FAILURE), "{name}");
    }
}

#[tokio::test]
async fn a_tls_listener_refuses_plain_http() {
    let site = Site::new();
    let serving = Serving::start(site.tls().unwrap(), router()).await;
    let mut stream = TcpStream::connect(serving.address).await.unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: {HOST}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    // The server can reset the connection because of unread data.
    let _ = stream.read_to_end(&mut response).await;
    assert_ne!(response.first(), Some(&b'H'), "{response:?}");
}

/// Whether the server accepts a client with this certificate.
async fn accepts(site: &Site, serving: &Serving, issued: Option<&IssuedCertificate>) -> bool {
    let client = match issued {
        Some(issued) => SecureClient::with_certificate(&site.authority, issued),
        None => SecureClient::trusting(&site.authority),
    };
    // A TLS 1.3 client receives the refusal when it reads.
    let response: Result<_, io::Error> = async {
        let mut connection = client.connect(serving.address).await?;
        connection.get("/").await.map_err(io::Error::other)
    }
    .await;
    response.is_ok_and(|answer| answer.status == StatusCode::OK)
}

#[tokio::test]
async fn client_certificates_are_required_if_configured() {
    let clients = Authority::new();
    let site = Site::new().with_client_authority(&clients);
    let serving = Serving::start(site.tls().unwrap(), router()).await;
    assert!(accepts(&site, &serving, Some(&clients.client())).await);
    let wrong = [
        ("none", None),
        ("another authority's", Some(Authority::new().client())),
        ("the server's authority's", Some(site.authority.client())),
        ("an expired one", Some(clients.expired_client())),
        ("a server's", Some(clients.server("client"))),
    ];
    for (name, issued) in wrong {
        assert!(!accepts(&site, &serving, issued.as_ref()).await, "{name}");
    }
}

#[tokio::test]
async fn revoked_client_certificates_are_refused() {
    let clients = Authority::new();
    let (valid, revoked) = (clients.client(), clients.client());
    let list = clients.revocation_list(&[&revoked]);
    let site = Site::new().with_client_authority(&clients).with_list(&list);
    let tls = site.tls().unwrap();
    assert!(tls.lists_end().unwrap() > Clock::system().now());
    let serving = Serving::start(tls, router()).await;
    assert!(accepts(&site, &serving, Some(&valid)).await);
    assert!(!accepts(&site, &serving, Some(&revoked)).await);
    assert!(!accepts(&site, &serving, None).await);
}

#[tokio::test]
async fn a_revocation_list_does_not_affect_other_authorities() {
    let (clients, others) = (Authority::new(), Authority::new());
    let site = Site::new().with_client_authority(&clients).with_list(&others.revocation_list(&[]));
    let serving = Serving::start(site.tls().unwrap(), router()).await;
    assert!(!accepts(&site, &serving, Some(&clients.client())).await);
    assert!(!accepts(&site, &serving, Some(&others.client())).await);
}

#[tokio::test]
async fn allowed_networks_apply_to_the_client_address() {
    let world = World::new().await;
    let destination = world.some_destination().await;
    let caller = world
        .application("caller")
        .bound_to(&destination.policy)
        .with("allowedCidrs", json!(["127.0.0.2/32"]))
        .await;
    let site = Site::new();
    let serving = Serving::start(site.tls().unwrap(), world.front()).await;
    let ask = async |from: [u8; 4]| {
        let client = SecureClient::trusting(&site.authority).from(Ipv4Addr::from(from));
        let mut connection = client.connect(serving.address).await.unwrap();
        let request = Request::post(format!("https://{HOST}{PROTECT}"))
            .header("authorization", format!("Bearer {}", caller.key.as_ref().unwrap()))
            .header("content-type", "application/json")
            // There is no trusted proxy, so this header has no effect.
            .header("x-forwarded-for", "127.0.0.2")
            .body(Body::from(r#"{"payload":1}"#))
            .unwrap();
        connection.send(request).await.unwrap()
    };
    let answer = ask([127, 0, 0, 2]).await.ok();
    let request = answer.text("requestId");
    let recorded: Vec<(String, i16)> = sqlx::query_as(
        "SELECT host(client_address), response_status FROM crypto_operations_audit \
         WHERE request_id = $1",
    )
    .bind(&request)
    .fetch_all(&world.pool)
    .await
    .unwrap();
    assert_eq!(recorded, [("127.0.0.2".to_owned(), 200)]);
    ask([127, 0, 0, 3]).await.refused(401, "AUTHENTICATION_FAILED");
}

#[tokio::test]
async fn cookies_and_pages_require_tls_in_browsers() {
    let world = World::new().await;
    let site = Site::new();
    let serving = Serving::start(site.tls().unwrap(), world.front()).await;
    let mut browser =
        SecureClient::trusting(&site.authority).connect(serving.address).await.unwrap();
    let page = browser.get("/dashboard/sign-in").await.unwrap().ok();
    let cookie = page.header("set-cookie");
    assert!(cookie.starts_with("__Host-sealward="), "{cookie}");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict; Secure"), "{cookie}");
    assert_eq!(page.header("strict-transport-security"), "max-age=31536000");
}

#[tokio::test]
async fn incomplete_handshakes_do_not_delay_the_shutdown() {
    let site = Site::new();
    let serving = Serving::start(site.tls().unwrap(), router()).await;
    let silent = TcpStream::connect(serving.address).await.unwrap();
    // The listener has accepted it when a later connection is served.
    let client = SecureClient::trusting(&site.authority);
    let mut later = client.connect(serving.address).await.unwrap();
    later.get("/").await.unwrap().ok();
    drop(later);
    assert!(serving.end().await);
    drop(silent);
}

#[tokio::test]
async fn a_silent_client_is_disconnected() {
    let site = Site::new();
    let serving = Serving::start(site.tls().unwrap(), router()).await;
    let mut silent = TcpStream::connect(serving.address).await.unwrap();
    let mut response = Vec::new();
    silent.read_to_end(&mut response).await.unwrap();
    assert_eq!(response, b"");
}

/// Whether the second connection of a client with this certificate resumes the session of the first one.
async fn resumes(
    site: &Site,
    version: &'static SupportedProtocolVersion,
    issued: Option<&IssuedCertificate>,
) -> bool {
    let serving = Serving::start(site.tls().unwrap(), router()).await;
    let client = SecureClient::with_versions(&site.authority, &[version], &["http/1.1"], issued);
    let mut first = client.connect(serving.address).await.unwrap();
    // Its tickets arrive before the response.
    first.get("/").await.unwrap().ok();
    assert!(!first.is_resumed);
    let mut second = client.connect(serving.address).await.unwrap();
    second.get("/").await.unwrap().ok();
    second.is_resumed
}

#[tokio::test]
async fn sessions_of_client_certificates_are_not_resumed() {
    let clients = Authority::new();
    let issued = clients.client();
    for version in [&TLS13, &TLS12] {
        let without = Site::new();
        assert!(resumes(&without, version, None).await, "{version:?}");
        let site = Site::new().with_client_authority(&clients);
        let site = site.with_list(&clients.revocation_list(&[]));
        assert!(!resumes(&site, version, Some(&issued)).await, "{version:?}");
    }
}

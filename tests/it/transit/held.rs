//! Refused renewals in loops, as agents of a revoked credential make them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use engine::settings::{Auth, Http};
use formats::clock::Clock;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::Site;
use testkit::{PATIENCE, World, within};

/// Sends a request on a connection, and returns the status; none if the connection closes without an answer.
async fn exchange(stream: &mut TcpStream, request: &str) -> Option<u16> {
    head_of_answer(stream, request).await?.get(9..12)?.parse().ok()
}

/// Sends a request on a connection, and returns the status line and the headers of the answer.
async fn head_of_answer(stream: &mut TcpStream, request: &str) -> Option<String> {
    stream.write_all(request.as_bytes()).await.ok()?;
    let (mut read, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        read.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&read);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().ok())?
        });
        if body.len() >= length.unwrap_or_default() {
            return Some(head.to_owned());
        }
    }
}

fn renewal(token: &str) -> String {
    format!(
        "PUT /v1/auth/token/renew-self HTTP/1.1\r\nhost: test\r\nx-vault-token: {token}\r\n\
         content-length: 2\r\n\r\n{{}}"
    )
}

/// Renews again after each answer until it is told to stop. After a connection has closed, it opens another one.
async fn looping(
    address: SocketAddr,
    token: String,
    answered: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
) {
    let request = renewal(&token);
    while !stop.load(Ordering::Relaxed) {
        let Ok(mut stream) = TcpStream::connect(address).await else { continue };
        while !stop.load(Ordering::Relaxed) {
            if exchange(&mut stream, &request).await.is_none() {
                break;
            }
            answered.fetch_add(1, Ordering::Relaxed);
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_of_renewals_has_one_answer_a_second() {
    let site = Site::new().await;
    site.world.admin().delete(&format!("/admin/api-keys/{}", site.key_id)).await.gone();
    let address = site.world.served(None).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let began = Instant::now();
    for _ in 0..3 {
        assert_eq!(exchange(&mut stream, &renewal(&site.token)).await, Some(403));
    }
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(3), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ninth_refusal_of_an_address_closes_its_connection_without_an_answer() {
    let site = Site::new().await;
    let address = site.world.served(None).await;
    let answers = (0..12).map(|_| async move {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let answer = exchange(&mut stream, &renewal("nonsense")).await;
        // Nothing follows on a connection that closed.
        let rest = timeout(PATIENCE, stream.read(&mut [0; 1])).await;
        (answer, answer.is_none().then_some(rest))
    });
    // Connections with an answer stay open.
    let answers = answers.map(|answer| timeout(Duration::from_secs(5), answer));
    let answers = futures_util::future::join_all(answers).await;
    let closed = answers.iter().filter(|it| matches!(it, Ok((None, _)))).count();
    assert_eq!(closed, 4, "{answers:?}");
}

/// A proxy could treat a closed connection as a failure of the instance.
#[tokio::test(flavor = "multi_thread")]
async fn the_ninth_refusal_of_a_client_of_a_trusted_proxy_has_an_answer() {
    let trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let http = Http { trusted_proxies, ..Http::default() };
    let world = World::with_certificates(Clock::system(), Auth::default(), http).await;
    let address = world.served(None).await;
    let answers = (0..12).map(|number| async move {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let client = "host: test\r\nx-forwarded-for: 192.0.2.1";
        let renewal = renewal("nonsense").replace("host: test", client);
        let log_in = renewal.replace("PUT", "POST").replace("token/renew-self", "jwt/login");
        let request = if number % 2 == 0 { log_in } else { renewal };
        head_of_answer(&mut stream, &request).await.expect("an answer")
    });
    let answers = futures_util::future::join_all(answers).await;
    let limited: Vec<_> = answers.iter().filter(|it| it.starts_with("HTTP/1.1 429 ")).collect();
    assert_eq!(limited.len(), 4, "{answers:?}");
    for head in limited {
        assert!(head.contains("retry-after: 1"), "{head}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn three_hundred_loops_leave_other_callers_unharmed() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let revoked = site.world.application("revoked").await;
    site.world.revoke(&revoked).await;
    let address = site.world.served(None).await;
    let (answered, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let token = revoked.key.clone().unwrap();
    let loops: Vec<_> = (0..300)
        .map(|_| tokio::spawn(looping(address, token.clone(), answered.clone(), stop.clone())))
        .collect();
    within(PATIENCE, async || answered.load(Ordering::Relaxed) >= 8).await;
    let began = Instant::now();
    let before = answered.load(Ordering::Relaxed);
    let body = json!({ "plaintext": "aGVsbG8=" }).to_string();
    let request = format!(
        "POST /v1/transit/encrypt/orders HTTP/1.1\r\nhost: test\r\nx-vault-token: {}\r\n\
         content-length: {}\r\n\r\n{body}",
        site.token,
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    for _ in 0..40 {
        assert_eq!(exchange(&mut stream, &request).await, Some(200));
    }
    let seconds = began.elapsed().as_secs_f64() + 1.0;
    let refusals = answered.load(Ordering::Relaxed) - before;
    assert!(refusals as f64 <= 8.0 * seconds + 8.0, "{refusals} in {seconds}");
    stop.store(true, Ordering::Relaxed);
    for task in loops {
        task.abort();
    }
}

/// Bodies of log-ins that do not arrive.
#[tokio::test(flavor = "multi_thread")]
async fn slow_log_ins_delay_no_identified_caller() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let address = site.world.served(None).await;
    let log_in = |body: &str| {
        format!(
            "POST /v1/auth/approle/login HTTP/1.1\r\nhost: test\r\ncontent-length: 2\r\n\r\n{body}"
        )
    };
    let connect = async || TcpStream::connect(address).await.unwrap();
    let mut slow = JoinSet::new();
    for _ in 0..64 {
        let request = log_in("{");
        // A body that takes too long is refused, and the next one follows.
        slow.spawn(async move {
            loop {
                let mut stream = TcpStream::connect(address).await.unwrap();
                exchange(&mut stream, &request).await;
            }
        });
    }
    within(PATIENCE, async || exchange(&mut connect().await, &log_in("{}")).await == Some(503))
        .await;
    let asked = |start: &str| {
        format!(
            "{start} HTTP/1.1\r\nhost: test\r\nx-vault-token: {}\r\ncontent-length: 2\r\n\r\n{{}}",
            site.token
        )
    };
    for start in ["GET /v1/transit/keys/orders", "POST /v1/transit/random"] {
        assert_eq!(exchange(&mut connect().await, &asked(start)).await, Some(200), "{start}");
    }
}

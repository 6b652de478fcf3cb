//! Accepts connections, applies timeouts, and drains at shutdown.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Version, header};
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use ipnet::IpNet;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::connections::{Connections, OpenConnection, Quota};
use super::framing;
use super::front::Answers;
use super::pace::{Exchanges, Overdue, Pace, Patience, Streams};
use super::stream::Stream;
use super::tls::{Presented, Tls};
use engine::ratelimit::network_of;
use engine::settings::Http;
use engine::web::{ClientAddress, OverTls};

/// The interval and the timeout of HTTP/2 pings on silent connections.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// The maximum number of open streams per HTTP/2 connection.
const STREAMS: u32 = 128;
/// The number of bytes of a request body that arrive before they are read.
const STREAM_WINDOW: u32 = 128 * 1024;
/// The same for all bodies of a connection. Unread bodies of one client of a proxy delay no others.
const CONNECTION_WINDOW: u32 = STREAMS * STREAM_WINDOW;
/// A connection closes after this number of early resets, and of streams with errors, of its client.
const RESETS: usize = 32;
const ERRORS: usize = 1_024;
/// The maximum size of HTTP/2 headers, and of the HTTP/1 read buffer.
const HEADERS: u32 = 32 * 1024;
/// The pause when the system has no file descriptors left.
const BREATH: Duration = Duration::from_millis(50);

/// A bound address that is not served yet.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    tls: Option<Tls>,
    connections: Connections,
    patience: Patience,
}

/// The address cannot be bound.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address} ({setting}): {source}; is another program using this port?")]
pub struct CannotListen {
    setting: &'static str,
    address: SocketAddr,
    source: io::Error,
}

/// Binds `address`, which comes from `setting`.
///
/// # Errors
/// The system refuses it.
pub async fn listen(setting: &'static str, address: SocketAddr) -> Result<Listener, CannotListen> {
    let refused = |source| CannotListen {
        setting,
        address,
        source,
    };
    let socket = TcpListener::bind(address).await.map_err(refused)?;
    let address = socket.local_addr().map_err(refused)?;
    let usual = Http::default();
    Ok(Listener {
        socket,
        address,
        tls: None,
        connections: Connections::at_most(usual.max_connections, Quota::of(&usual)),
        patience: Patience::of(&usual),
    })
}

impl Listener {
    /// The address, with the actual port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Uses TLS if it is configured.
    #[must_use]
    pub fn over(self, tls: Option<Tls>) -> Self {
        Self { tls, ..self }
    }

    /// Sets the maximum number of connections, in total and per client address.
    #[must_use]
    pub fn for_at_most(self, connections: u32, http: &Http) -> Self {
        Self {
            connections: Connections::at_most(connections, Quota::of(http)),
            ..self
        }
    }

    /// Sets the timeouts of clients.
    #[must_use]
    pub fn with(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// Its connections, for metrics.
    #[must_use]
    pub fn connections(&self) -> Connections {
        self.connections.clone()
    }

    /// Serves until `stop` resolves, and then for `delay`, closing each connection after its
    /// response. Afterwards requests in flight have `patience` to finish. Returns whether all of
    /// them did.
    pub async fn serve(
        self,
        front: impl Answers,
        stop: impl Future<Output = ()>,
        delay: Duration,
        patience: Duration,
    ) -> bool {
        let (ending, is_ending) = watch::channel(());
        let door = Door {
            protocol: protocol(),
            tls: self.tls,
            front,
            exchanges: Exchanges::default(),
            proxies: self.connections.proxies(),
            patience: self.patience,
            is_leaving: Arc::default(),
            is_ending,
        };
        let stop = async {
            stop.await;
            door.is_leaving.store(true, Ordering::Relaxed);
            tokio::time::sleep(delay).await;
        };
        tokio::pin!(stop);
        loop {
            let came = async {
                let slot = self.connections.slot().await;
                (slot, self.socket.accept().await)
            };
            tokio::select! {
                () = &mut stop => break,
                (slot, accepted) = came => match (slot, accepted) {
                    (Some(slot), Ok((stream, peer))) => {
                        if let Some(connection) = slot.open_connection(peer.ip()) {
                            tokio::spawn(door.clone().admit(stream, peer, connection));
                        }
                    }
                    (None, _) => break,
                    (_, Err(error)) => {
                        tracing::warn!(%error, "cannot accept a connection: raise LimitNOFILE= if this lasts");
                        tokio::time::sleep(BREATH).await;
                    }
                },
            }
        }
        drop(self.socket);
        drop(ending);
        tokio::time::timeout(patience, self.connections.wait_until_empty())
            .await
            .is_ok()
    }
}

type Protocol = auto::Builder<Streams>;

fn protocol() -> Protocol {
    let mut protocol = auto::Builder::new(Streams);
    protocol
        .http1()
        .timer(TokioTimer::new())
        // The pace enforces timeouts and distinguishes missing headers from idle connections.
        .header_read_timeout(None)
        .max_buf_size(HEADERS as usize * 2)
        // Pipelining would buffer all responses for a client that does not read.
        .pipeline_flush(false);
    protocol
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .max_concurrent_streams(STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_pending_accept_reset_streams(RESETS)
        .max_local_error_reset_streams(ERRORS)
        .max_header_list_size(HEADERS);
    protocol
}

/// The state that all connections share.
#[derive(Clone)]
struct Door<A> {
    protocol: Protocol,
    tls: Option<Tls>,
    front: A,
    exchanges: Exchanges,
    /// Networks of trusted proxies.
    proxies: Arc<[IpNet]>,
    patience: Patience,
    /// Whether each response closes its connection.
    is_leaving: Arc<AtomicBool>,
    /// The sender is dropped when the listener ends.
    is_ending: watch::Receiver<()>,
}

impl<A: Answers> Door<A> {
    /// Serves one connection until it closes.
    async fn admit(self, stream: TcpStream, peer: SocketAddr, connection: OpenConnection) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%peer, %error, "cannot set TCP_NODELAY on a connection");
        }
        let Some(tls) = &self.tls else {
            return self.converse(stream, peer, None, connection).await;
        };
        let presented = Presented::before_handshake(tls);
        let mut is_ending = self.is_ending.clone();
        let handshake = tokio::time::timeout(self.patience.headers, tls.acceptor().accept(stream));
        // Shutdown does not wait for connections in the TLS handshake.
        let agreed = tokio::select! {
            agreed = handshake => agreed.unwrap_or_else(|late| Err(late.into())),
            _ = is_ending.changed() => return,
        };
        match agreed {
            Ok(stream) => {
                let presented = presented.by(stream.get_ref().1);
                self.converse(stream, peer, Some(presented), connection)
                    .await;
            }
            Err(error) => tracing::debug!(%peer, %error, "a TLS handshake failed"),
        }
    }

    async fn converse<S>(
        self,
        stream: S,
        peer: SocketAddr,
        mut tls: Option<Presented>,
        connection: OpenConnection,
    ) where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (front, is_leaving) = (self.front, self.is_leaving);
        let (exchanges, proxies) = (self.exchanges, self.proxies);
        let pace = Pace::begin();
        let over_tls = tls.is_some().then_some(OverTls);
        let certificate = tls.as_ref().and_then(Presented::certificate);
        let stream = Stream::new(stream, connection, pace.clone());
        let asking = pace.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            if let Some(over_tls) = over_tls {
                request.extensions_mut().insert(over_tls);
            }
            if let Some(certificate) = &certificate {
                request.extensions_mut().insert(certificate.clone());
            }
            // HTTP/2 sends GOAWAY instead.
            let may_close = request.version() < Version::HTTP_2;
            let asked = asking.asked(may_close);
            let is_leaving = is_leaving.clone();
            let body = request.body().size_hint().upper();
            let unread = body.unwrap_or(u64::MAX).min(STREAM_WINDOW.into());
            let request = request.map(|body| Body::new(asking.coming(body, may_close)));
            let (front, refused) = (front.clone(), framing::refused_head(&request));
            let (exchanges, proxies) = (exchanges.clone(), Arc::clone(&proxies));
            async move {
                let mut exchange = exchanges.begin(|| {
                    let ClientAddress(client) = ClientAddress::of_request(&request, &proxies);
                    network_of(client)
                });
                if let Some(exchange) = &mut exchange {
                    exchange.admit(unread).await;
                }
                let mut answer = match refused {
                    None => front.answer(request).await,
                    Some(refused) => front.refuse(refused, request).await,
                };
                if may_close && (refused.is_some() || is_leaving.load(Ordering::Relaxed)) {
                    let headers = answer.headers_mut();
                    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                if let Some(exchange) = &mut exchange {
                    exchange.hold(&answer).await;
                }
                Ok::<_, Infallible>(answer.map(|body| asked.answered(body, exchange)))
            }
        });
        let connection = self
            .protocol
            .serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let aged = tokio::time::sleep(age_of(peer, self.patience.age));
        tokio::pin!(aged);
        let (mut is_ending, mut goes) = (self.is_ending, false);
        loop {
            tokio::select! {
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(%peer, %error, "a connection ended early");
                    }
                    return;
                }
                _ = is_ending.changed(), if !goes => goes = true,
                () = &mut aged, if !goes => goes = true,
                () = revoked(&mut tls) => {
                    tracing::info!(%peer, "a connection is closed: its client certificate is no longer accepted");
                    return;
                }
                overdue = pace.overdue(self.patience) => {
                    if goes || overdue == Overdue::Stalled {
                        tracing::debug!(%peer, "a client timed out");
                        return;
                    }
                    goes = true;
                }
            }
            connection.as_mut().graceful_shutdown();
            pace.last_wait();
        }
    }
}

/// Resolves when the certificate of a client is no longer accepted.
async fn revoked(presented: &mut Option<Presented>) {
    match presented {
        Some(presented) => presented.revoked().await,
        None => std::future::pending().await,
    }
}

/// The age at which a connection closes. The ports of clients spread it over a tenth of the maximum.
fn age_of(peer: SocketAddr, maximum: Duration) -> Duration {
    maximum - maximum / 1_000 * u32::from(peer.port() % 100)
}

#[cfg(test)]
mod tests;

//! Accepts connections, applies timeouts, and drains at shutdown.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, header};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::bodies::{RequestBody, ResponseBody, UnreadBody};
use super::connections::{Connections, OpenConnection};
use super::framing;
use super::front::Answers;
use super::stream::{LINGER, Stream};
use super::timers::{ConnectionTimers, TimedOut, Timeouts};
use super::tls::{PresentedCertificate, Tls};
use engine::settings::{Http, Limits};
use engine::web::{OverTls, Unanswered};

/// The maximum size of the headers of a request, and of the parts of a response that are not sent.
const BUFFER: usize = 64 * 1024;
/// The response to a client of HTTP/2.
const NOT_HTTP_2: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
/// The pause when the system has no file descriptors left.
const PAUSE: Duration = Duration::from_millis(50);

/// The bytes of the framing of a chunked body and of a request after it, in addition to the largest body.
const FRAMING: usize = 1024 * 1024;

/// A bound address that is not served yet.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    tls: Option<Tls>,
    connections: Connections,
    timeouts: Timeouts,
    leftover: usize,
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
pub async fn listen(setting: &'static str, address: SocketAddr) -> Result<Listener, CannotListen> {
    let refused = |source| CannotListen { setting, address, source };
    let socket = TcpListener::bind(address).await.map_err(refused)?;
    let address = socket.local_addr().map_err(refused)?;
    let usual = Http::default();
    Ok(Listener {
        socket,
        address,
        tls: None,
        connections: Connections::at_most(usual.max_connections, &usual),
        timeouts: Timeouts::of(&usual),
        leftover: leftover(&Limits::default()),
    })
}

impl Listener {
    /// The address, with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Uses TLS if it is configured.
    pub fn over(self, tls: Option<Tls>) -> Self {
        Self { tls, ..self }
    }

    /// Sets the maximum number of connections, in total and per client address.
    pub fn for_at_most(self, connections: u32, http: &Http) -> Self {
        Self { connections: Connections::at_most(connections, http), ..self }
    }

    /// Sets the timeouts of clients.
    pub fn with(self, timeouts: Timeouts) -> Self {
        Self { timeouts, ..self }
    }

    /// Receives the rest of bodies up to these limits after a response that did not wait for it. Otherwise a client
    /// that still sends does not receive the response.
    pub fn receiving(self, limits: &Limits) -> Self {
        Self { leftover: leftover(limits), ..self }
    }

    /// Its connections, for metrics.
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
        let server = ConnectionServer {
            protocol: protocol(),
            tls: self.tls,
            front,
            timeouts: self.timeouts,
            leftover: self.leftover,
            is_draining: Arc::default(),
            is_ending,
        };
        let stop = async {
            stop.await;
            server.is_draining.store(true, Ordering::Relaxed);
            tokio::time::sleep(delay).await;
        };
        tokio::pin!(stop);
        loop {
            let came = async {
                // Only this loop opens connections, so the place stays free.
                self.connections.wait_for_place().await;
                self.socket.accept().await
            };
            tokio::select! {
                () = &mut stop => break,
                accepted = came => match accepted {
                    Ok((stream, peer)) => {
                        if let Some(connection) = self.connections.open_for(peer.ip()) {
                            tokio::spawn(server.clone().accept(stream, peer, connection));
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection: raise LimitNOFILE= if this lasts");
                        tokio::time::sleep(PAUSE).await;
                    }
                },
            }
        }
        drop(self.socket);
        drop(ending);
        tokio::time::timeout(patience, self.connections.wait_until_empty()).await.is_ok()
    }
}

fn protocol() -> http1::Builder {
    let mut protocol = http1::Builder::new();
    protocol
        // The timers of the connection distinguish missing headers from idle connections.
        .header_read_timeout(None)
        .max_buf_size(BUFFER)
        // Pipelining would buffer all responses for a client that does not read.
        .pipeline_flush(false);
    protocol
}

/// The state that all connections share.
#[derive(Clone)]
struct ConnectionServer<A> {
    protocol: http1::Builder,
    tls: Option<Tls>,
    front: A,
    timeouts: Timeouts,
    leftover: usize,
    /// Whether each response closes its connection.
    is_draining: Arc<AtomicBool>,
    /// The sender is dropped when the listener ends.
    is_ending: watch::Receiver<()>,
}

impl<A: Answers> ConnectionServer<A> {
    /// Serves one connection until it closes.
    async fn accept(self, stream: TcpStream, peer: SocketAddr, connection: OpenConnection) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%peer, %error, "cannot set TCP_NODELAY on a connection");
        }
        let Some(tls) = &self.tls else {
            return self.serve(stream, peer, None, connection).await;
        };
        let presented = PresentedCertificate::before_handshake(tls);
        let mut is_ending = self.is_ending.clone();
        let handshake = tokio::time::timeout(self.timeouts.headers, tls.acceptor().accept(stream));
        // Shutdown does not wait for connections in the TLS handshake.
        let agreed = tokio::select! {
            agreed = handshake => agreed.unwrap_or_else(|late| Err(late.into())),
            _ = is_ending.changed() => return,
        };
        match agreed {
            Ok(stream) => {
                let presented = presented.by(stream.get_ref().1);
                self.serve(stream, peer, Some(presented), connection).await;
            }
            Err(error) => tracing::debug!(%peer, %error, "a TLS handshake failed"),
        }
    }

    async fn serve<S>(
        self,
        stream: S,
        peer: SocketAddr,
        mut tls: Option<PresentedCertificate>,
        connection: OpenConnection,
    ) where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (front, is_draining) = (self.front, self.is_draining);
        let timers = ConnectionTimers::start();
        let over_tls = tls.is_some().then_some(OverTls);
        let certificate = tls.as_ref().and_then(PresentedCertificate::certificate);
        let stream = Stream::new(stream, connection, timers.clone(), self.leftover);
        let of_requests = timers.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            if let Some(over_tls) = over_tls {
                request.extensions_mut().insert(over_tls);
            }
            if let Some(certificate) = &certificate {
                request.extensions_mut().insert(certificate.clone());
            }
            let exchange = of_requests.begin_exchange();
            let (timers, unread) = (of_requests.clone(), UnreadBody::default());
            let rest = unread.clone();
            let request = request.map(|body| Body::new(RequestBody::new(body, timers, unread)));
            // A read would ask a client that expects 100 Continue for its body.
            let is_expecting = request.headers().contains_key(header::EXPECT);
            let (front, is_draining) = (front.clone(), is_draining.clone());
            async move {
                let refused = framing::refused_head(&request);
                let mut response = match refused {
                    None => front.answer(request).await,
                    Some(refused) => front.refuse(refused, request).await,
                };
                if response.extensions().get::<Unanswered>().is_some() {
                    return Err(Unanswered);
                }
                // While the rest of a body can arrive, the connection takes no other request.
                let is_over = if is_expecting { rest.discard() } else { rest.skip().await };
                if refused.is_some() || !is_over || is_draining.load(Ordering::Relaxed) {
                    let headers = response.headers_mut();
                    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Unanswered>(response.map(|body| ResponseBody::new(body, exchange)))
            }
        });
        let mut connection = self.protocol.serve_connection(TokioIo::new(stream), service);
        let aged = tokio::time::sleep(age_of(peer, self.timeouts.age));
        tokio::pin!(aged);
        let (mut is_ending, mut is_closing) = (self.is_ending, false);
        loop {
            tokio::select! {
                ended = &mut connection => {
                    if let Err(error) = ended {
                        tracing::debug!(%peer, %error, "a connection ended early");
                        if error.is_parse_version_h2() {
                            refuse_http_2(connection.into_parts().io.into_inner()).await;
                        }
                    }
                    return;
                }
                _ = is_ending.changed(), if !is_closing => is_closing = true,
                () = &mut aged, if !is_closing => is_closing = true,
                () = revoked(&mut tls) => {
                    tracing::info!(%peer, "a connection is closed: its client certificate is no longer accepted");
                    return;
                }
                timed_out = timers.timed_out(self.timeouts) => {
                    if is_closing || timed_out == TimedOut::Incomplete {
                        tracing::debug!(%peer, "a client timed out");
                        return;
                    }
                    is_closing = true;
                }
            }
            Pin::new(&mut connection).graceful_shutdown();
            timers.close();
        }
    }
}

/// How many bytes are received and discarded after the last response of a connection.
fn leftover(limits: &Limits) -> usize {
    limits.largest_body().saturating_add(FRAMING)
}

/// Refuses a client of HTTP/2. The parser detects its preface, but sends no response.
async fn refuse_http_2<S>(mut stream: Stream<S>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let response = async {
        stream.write_all(NOT_HTTP_2).await?;
        stream.shutdown().await
    };
    // A client that does not read receives no response.
    let _ = tokio::time::timeout(LINGER, response).await;
}

/// Resolves when the certificate of a client is no longer accepted.
async fn revoked(presented: &mut Option<PresentedCertificate>) {
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

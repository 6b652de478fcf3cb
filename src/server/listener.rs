//! Connections: accepted, bounded in time, drained at the end.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Version, header};
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::ServiceExt as _;

use super::tls::Tls;
use crate::client_address::OverTls;

/// A client that takes longer than this to agree on TLS is not one.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// A client that takes longer than this to send its headers is not one.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// A silent HTTP/2 connection is asked for a sign of life after this long, and given as long again.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// Streams that one HTTP/2 connection may have open.
const STREAMS: u32 = 128;
/// Streams that a peer may reset before its connection is closed.
const RESETS: usize = 32;
/// Bytes of headers on HTTP/2, and of everything read ahead on HTTP/1.
const HEADERS: u32 = 32 * 1024;
/// How long to wait when the system has no descriptors left.
const BREATH: Duration = Duration::from_millis(50);

/// A bound address, not served yet.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    tls: Option<Tls>,
}

/// Nothing can be served at an address.
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
/// When the system refuses it.
pub async fn listen(setting: &'static str, address: SocketAddr) -> Result<Listener, CannotListen> {
    let refused = |source| CannotListen {
        setting,
        address,
        source,
    };
    let socket = TcpListener::bind(address).await.map_err(refused)?;
    let address = socket.local_addr().map_err(refused)?;
    Ok(Listener {
        socket,
        address,
        tls: None,
    })
}

impl Listener {
    /// Where it listens; the port is the real one where the settings left the choice to the system.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same, speaking TLS alone where there is one.
    #[must_use]
    pub fn over(self, tls: Option<Tls>) -> Self {
        Self { tls, ..self }
    }

    /// Serves until `stop` resolves, and so much longer as the `delay` is, each answer then being the
    /// last of its connection. Afterwards requests in flight may end within `patience`. Answers
    /// whether all of them did.
    pub async fn serve(
        self,
        router: Router,
        stop: impl Future<Output = ()>,
        delay: Duration,
        patience: Duration,
    ) -> bool {
        let drain = GracefulShutdown::new();
        let (ending, is_ending) = watch::channel(());
        let door = Door {
            protocol: protocol(),
            tls: self.tls,
            router,
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
            tokio::select! {
                () = &mut stop => break,
                accepted = self.socket.accept() => match accepted {
                    Ok((stream, peer)) => {
                        tokio::spawn(door.clone().admit(stream, peer, drain.watcher()));
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection: raise LimitNOFILE= if this lasts");
                        tokio::time::sleep(BREATH).await;
                    }
                },
            }
        }
        drop(self.socket);
        drop(ending);
        tokio::time::timeout(patience, drain.shutdown())
            .await
            .is_ok()
    }
}

type Protocol = auto::Builder<TokioExecutor>;

fn protocol() -> Protocol {
    let mut protocol = auto::Builder::new(TokioExecutor::new());
    protocol
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(HEADERS as usize * 2)
        .pipeline_flush(true);
    protocol
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .max_concurrent_streams(STREAMS)
        .max_pending_accept_reset_streams(RESETS)
        .max_local_error_reset_streams(RESETS)
        .max_header_list_size(HEADERS);
    protocol
}

/// What every connection goes through.
#[derive(Clone)]
struct Door {
    protocol: Protocol,
    tls: Option<Tls>,
    router: Router,
    /// Whether each answer is the last of its connection.
    is_leaving: Arc<AtomicBool>,
    /// Its other end is gone once the listener ends.
    is_ending: watch::Receiver<()>,
}

impl Door {
    async fn admit(self, stream: TcpStream, peer: SocketAddr, drain: Watcher) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%peer, %error, "cannot turn off delays on a connection");
        }
        let Some(tls) = &self.tls else {
            return self.converse(stream, peer, drain, None).await;
        };
        let mut is_ending = self.is_ending.clone();
        let handshake = tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.acceptor().accept(stream));
        // Whoever has not come in when the listener ends need not be waited for.
        let agreed = tokio::select! {
            agreed = handshake => agreed.unwrap_or_else(|late| Err(late.into())),
            _ = is_ending.changed() => return,
        };
        match agreed {
            Ok(stream) => self.converse(stream, peer, drain, Some(OverTls)).await,
            Err(error) => tracing::debug!(%peer, %error, "a client did not agree on TLS"),
        }
    }

    async fn converse<S>(self, stream: S, peer: SocketAddr, drain: Watcher, tls: Option<OverTls>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (router, is_leaving) = (self.router, self.is_leaving);
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            if let Some(tls) = tls {
                request.extensions_mut().insert(tls);
            }
            // HTTP/2 has a frame of its own for this, which is sent in the end.
            let may_close = request.version() < Version::HTTP_2;
            let is_leaving = is_leaving.clone();
            let answer = router.clone().oneshot(request);
            async move {
                let mut answer = answer.await?;
                if may_close && is_leaving.load(Ordering::Relaxed) {
                    let headers = answer.headers_mut();
                    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(answer)
            }
        });
        let connection = self
            .protocol
            .serve_connection(TokioIo::new(stream), service)
            .into_owned();
        if let Err(error) = drain.watch(connection).await {
            tracing::debug!(%peer, %error, "a connection ended early");
        }
    }
}

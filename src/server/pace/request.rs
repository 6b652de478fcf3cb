//! Bodies of requests.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use http_body_util::BodyExt as _;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long, and how many bytes, the service reads and discards after a response. Closing earlier would
/// reset the connection or the stream.
pub(in crate::server) const LINGER: Duration = Duration::from_secs(2);
pub(in crate::server) const LEFTOVER: usize = 8 * 1024 * 1024;

/// The body of a request.
pub(in crate::server) struct Coming {
    /// None only during drop.
    body: Option<Incoming>,
    is_over: bool,
    is_http1: bool,
    /// Whether a request of the connection was answered before its body was read.
    is_unread: Arc<AtomicBool>,
}

impl Coming {
    pub(super) fn new(body: Incoming, is_http1: bool, is_unread: Arc<AtomicBool>) -> Self {
        Self {
            is_over: body.is_end_stream(),
            body: Some(body),
            is_http1,
            is_unread,
        }
    }
}

impl HttpBody for Coming {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(&mut *body).poll_frame(context);
        let is_over = matches!(polled, Poll::Ready(None)) || body.is_end_stream();
        self.is_over |= is_over;
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let body = self.body.as_ref();
        body.map_or_else(SizeHint::new, Incoming::size_hint)
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.is_unread.store(true, Ordering::Relaxed);
        if let (false, Some(body), Ok(here)) =
            (self.is_http1, self.body.take(), Handle::try_current())
        {
            here.spawn(discard(body));
        }
    }
}

/// Reads and discards the rest of a body that was refused early. Without this, the stream is reset while
/// data arrives, and HTTP/2 closes a connection with many such streams and the requests of others on it.
async fn discard(mut body: Incoming) {
    let mut left = LEFTOVER;
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            let length = frame.data_ref().map_or(0, Bytes::len);
            let Some(rest) = left.checked_sub(length) else {
                break;
            };
            left = rest;
        }
    };
    // A client that sends longer does not read the response.
    let _ = timeout(LINGER, reading).await;
}

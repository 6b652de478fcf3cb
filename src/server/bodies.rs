//! Bodies of requests and responses, which notify the timers of their connection when they end.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::task::yield_now;

use super::timers::{ConnectionTimers, Exchange};

/// How much of an unread body is skipped, in bytes. A larger one closes its connection.
const SKIPPED: usize = 64 * 1024;

/// The body of a request. It notes whether it was read to its end.
pub(super) struct RequestBody {
    /// None only during drop.
    body: Option<Incoming>,
    is_over: bool,
    timers: ConnectionTimers,
    unread: UnreadBody,
}

/// The rest of the body of a request that was answered before it was read. Clones share it.
#[derive(Clone, Default)]
pub(super) struct UnreadBody(Arc<Mutex<Option<Incoming>>>);

impl RequestBody {
    pub(super) fn new(body: Incoming, timers: ConnectionTimers, unread: UnreadBody) -> Self {
        Self { is_over: body.is_end_stream(), body: Some(body), timers, unread }
    }
}

impl UnreadBody {
    /// Skips the rest, if it has arrived. Whether nothing is left, so that the connection can take another request.
    pub(super) async fn skip(&self) -> bool {
        match self.take() {
            Some(body) => skip_arrived(body).await,
            None => true,
        }
    }

    /// Discards the rest without reading it. Whether there was none.
    pub(super) fn discard(&self) -> bool {
        self.take().is_none()
    }

    fn take(&self) -> Option<Incoming> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, body: Option<Incoming>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = body;
    }
}

/// Reads and discards what has arrived. Whether it is the rest of the body.
async fn skip_arrived(mut body: Incoming) -> bool {
    let (mut left, mut has_waited) = (SKIPPED, false);
    while !body.is_end_stream() {
        let polled = poll_fn(|context| Poll::Ready(Pin::new(&mut body).poll_frame(context)));
        match polled.await {
            Poll::Ready(None) => return true,
            Poll::Ready(Some(Ok(frame))) => {
                let length = frame.data_ref().map_or(0, Bytes::len);
                match left.checked_sub(length) {
                    Some(rest) => (left, has_waited) = (rest, false),
                    None => return false,
                }
            }
            Poll::Ready(Some(Err(_))) => return false,
            Poll::Pending if has_waited => return false,
            // The connection, in the same task, reads what has arrived.
            Poll::Pending => {
                has_waited = true;
                yield_now().await;
            }
        }
    }
    true
}

impl HttpBody for RequestBody {
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
        self.body.as_ref().map_or_else(SizeHint::default, Incoming::size_hint)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if !self.is_over {
            self.timers.leave_body_unread();
            self.unread.put(self.body.take());
        }
    }
}

/// The body of a response. The exchange ends with it.
pub(super) struct ResponseBody {
    body: Body,
    _exchange: Exchange,
}

impl ResponseBody {
    pub(super) fn new(body: Body, exchange: Exchange) -> Self {
        exchange.respond();
        Self { body, _exchange: exchange }
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

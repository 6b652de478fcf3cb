//! Bodies of requests and responses, which notify the timers of their connection when they end.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};

use super::timers::{ConnectionTimers, Exchange};

/// The body of a request. It notes whether it was read to its end.
pub(super) struct RequestBody {
    body: Incoming,
    is_over: bool,
    timers: ConnectionTimers,
}

impl RequestBody {
    pub(super) fn new(body: Incoming, timers: ConnectionTimers) -> Self {
        Self { is_over: body.is_end_stream(), body, timers }
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        self.is_over |= matches!(polled, Poll::Ready(None)) || self.body.is_end_stream();
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if !self.is_over {
            self.timers.leave_body_unread();
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

//! Responses that their clients read.

use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use futures_util::task::AtomicWaker;
use hyper::body::{Frame, SizeHint};
use tokio::time::Instant;

use super::{Exchange, Pace, Unsent};

/// The largest part of a response that is sent at once. Progress is noted after each part.
pub(super) const PART: usize = 64 * 1024;

/// The task of an HTTP/2 stream with a longer response lasts until the client has read the response, so that
/// its end resets the stream.
const SHORT: u64 = 4 * 1024;

/// A response that is not fully sent.
struct Leaving {
    number: u64,
    pace: Pace,
    /// The task that waits until the client has read all.
    reader: AtomicWaker,
    _exchange: Option<Exchange>,
}

impl Leaving {
    /// Changes the number of bytes that the client can read, and returns it.
    fn count(&self, change: impl FnOnce(usize) -> usize) -> usize {
        let mut state = self.pace.state();
        let Some(unsent) = state.leaving.get_mut(&self.number) else {
            return 0;
        };
        unsent.since = Instant::now();
        unsent.bytes = change(unsent.bytes);
        unsent.bytes
    }

    fn await_part(&self, is_awaited: bool) {
        if let Some(unsent) = self.pace.state().leaving.get_mut(&self.number) {
            unsent.since = Instant::now();
            unsent.is_awaited = is_awaited;
        }
    }

    fn poll_read(&self, context: &mut Context<'_>) -> Poll<()> {
        self.reader.register(context.waker());
        match self.pace.state().leaving.get(&self.number) {
            Some(unsent) if unsent.bytes > 0 => Poll::Pending,
            Some(_) | None => Poll::Ready(()),
        }
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let mut state = self.pace.state();
        state.leaving.remove(&self.number);
        state.went_on();
    }
}

/// The body of a response.
pub(in crate::server) struct Watched {
    body: Body,
    /// The rest of a long frame.
    rest: Bytes,
    /// Whether it ends when the client has read it.
    is_long: bool,
    /// Whether an empty frame must follow the headers, because the body is empty. The frame holds the
    /// memory of the stream until the connection sends it.
    is_headers_only: bool,
    /// Whether its next part is not made yet.
    is_awaited: bool,
    leaving: Arc<Leaving>,
}

impl Watched {
    pub(super) fn new(body: Body, pace: Pace, exchange: Option<Exchange>) -> Self {
        let mut state = pace.state();
        let number = state.answers;
        state.answers += 1;
        let unsent = Unsent {
            since: Instant::now(),
            bytes: 0,
            is_awaited: false,
            end: exchange.as_ref().map(Exchange::end),
        };
        state.leaving.insert(number, unsent);
        drop(state);
        let is_short = body.size_hint().upper().is_some_and(|it| it <= SHORT);
        let is_empty = body.is_end_stream();
        Self {
            body,
            rest: Bytes::new(),
            is_long: exchange.is_some() && !is_short,
            is_headers_only: exchange.is_some() && is_empty,
            is_awaited: false,
            leaving: Arc::new(Leaving {
                number,
                pace,
                reader: AtomicWaker::new(),
                _exchange: exchange,
            }),
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let number = self.leaving.number;
        if let Some(unsent) = self.leaving.pace.state().leaving.get_mut(&number) {
            unsent.end = None;
        }
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if mem::take(&mut self.is_headers_only) {
            let frame = Frame::data(Unread::bytes(Bytes::new(), &self.leaving));
            return Poll::Ready(Some(Ok(frame)));
        }
        if self.rest.is_empty() {
            let polled = Pin::new(&mut self.body).poll_frame(context);
            if polled.is_pending() != self.is_awaited {
                self.is_awaited = polled.is_pending();
                self.leaving.await_part(self.is_awaited);
            }
            match ready!(polled) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                None if self.is_long => {
                    ready!(self.leaving.poll_read(context));
                    return Poll::Ready(None);
                }
                ended => return Poll::Ready(ended),
            }
        }
        let length = self.rest.len().min(PART);
        let part = self.rest.split_to(length);
        Poll::Ready(Some(Ok(Frame::data(Unread::bytes(part, &self.leaving)))))
    }

    fn is_end_stream(&self) -> bool {
        let is_sent = !self.is_headers_only && self.rest.is_empty();
        is_sent && !self.is_long && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.is_headers_only {
            // A known length would become a header, which a response with status 204 must not have.
            return SizeHint::new();
        }
        let (hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut whole = SizeHint::new();
        whole.set_lower(hint.lower() + rest);
        if let Some(upper) = hint.upper() {
            whole.set_upper(upper + rest);
        }
        whole
    }
}

/// Bytes of a response that the client has not read. HTTP/2 holds them until the client has a window for
/// them.
struct Unread {
    data: Bytes,
    leaving: Arc<Leaving>,
}

impl Unread {
    fn bytes(data: Bytes, leaving: &Arc<Leaving>) -> Bytes {
        leaving.count(|bytes| bytes + data.len());
        Bytes::from_owner(Self {
            data,
            leaving: Arc::clone(leaving),
        })
    }
}

impl AsRef<[u8]> for Unread {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        if self.leaving.count(|bytes| bytes - self.data.len()) == 0 {
            self.leaving.reader.wake();
        }
    }
}

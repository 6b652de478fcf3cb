//! Responses that their clients read.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::time::Instant;

use super::Pace;

/// The largest part of a response that is sent at once. Progress is noted after each part.
pub(super) const PART: usize = 64 * 1024;

/// A response that is not fully sent.
struct Leaving {
    number: u64,
    pace: Pace,
}

impl Leaving {
    fn went_on(&self) {
        if let Some(since) = self.pace.state().leaving.get_mut(&self.number) {
            *since = Instant::now();
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
    leaving: Arc<Leaving>,
}

impl Watched {
    pub(super) fn new(body: Body, pace: Pace) -> Self {
        let mut state = pace.state();
        let number = state.answers;
        state.answers += 1;
        state.leaving.insert(number, Instant::now());
        drop(state);
        Self {
            body,
            rest: Bytes::new(),
            leaving: Arc::new(Leaving { number, pace }),
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
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                ended => return Poll::Ready(ended),
            }
        }
        let length = self.rest.len().min(PART);
        let part = self.rest.split_to(length);
        self.leaving.went_on();
        Poll::Ready(Some(Ok(Frame::data(Unread::bytes(part, &self.leaving)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
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
        leaving.pace.state().unread += data.len();
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
        self.leaving.went_on();
        let pace = &self.leaving.pace;
        pace.state().unread -= self.data.len();
        pace.0.sent.notify_waiters();
    }
}

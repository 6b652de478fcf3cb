//! The pace of a connection: what it waits for its client to do, and for how long.
//!
//! Whoever sends headers byte by byte, does not take an answer, or keeps a connection without using
//! it holds a place that others could have. What happens between a request and its answer is bounded
//! elsewhere.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::time::Instant;

use crate::settings::Http;

/// How long clients may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// To send the headers of a request, from their first byte, or from connecting.
    pub headers: Duration,
    /// To take the next part of an answer, or to send the next request.
    pub idle: Duration,
}

impl Patience {
    /// As long as the settings say.
    #[must_use]
    pub fn of(settings: &Http) -> Self {
        Self {
            headers: settings.header_timeout.0,
            idle: settings.idle_timeout.0,
        }
    }
}

/// The pace of one connection. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Pace(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    awaited: Awaited,
    since: Instant,
    /// Requests without an answer yet.
    asked: usize,
    /// Answers that have not left wholly.
    leaving: usize,
    /// On HTTP/2 bytes come for more reasons than requests.
    bytes_mean_a_request: bool,
    /// Whether bytes of another request have come.
    has_begun: bool,
    /// Whether a request was answered before all of it was read.
    is_unread: bool,
}

/// What the client is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    /// Its first request, or the rest of the headers of one that it has begun.
    Headers,
    /// Its next request, or taking an answer.
    More,
}

/// Somebody took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    /// Nothing is under way: the connection may end in good order.
    Resting,
    /// Something was begun and not gone on with.
    Stalled,
}

impl Pace {
    pub(super) fn begin() -> Self {
        Self(Arc::new(Mutex::new(State {
            awaited: Awaited::Headers,
            since: Instant::now(),
            asked: 0,
            leaving: 0,
            bytes_mean_a_request: true,
            has_begun: false,
            is_unread: false,
        })))
    }

    /// Resolves when the client has taken longer than it may.
    pub(super) async fn overdue(&self, patience: Patience) -> Overdue {
        loop {
            let (until, overdue) = self.state().deadline(patience);
            let now = Instant::now();
            if let Some(overdue) = overdue
                && until <= now
            {
                return overdue;
            }
            // A request may begin meanwhile, whose headers have less time than a rest.
            tokio::time::sleep_until(until.min(now + patience.headers)).await;
        }
    }

    /// A request has arrived. Where there is one at a time, bytes after its answer begin another.
    pub(super) fn asked(&self, one_at_a_time: bool) -> Asked {
        let mut state = self.state();
        state.asked += 1;
        state.bytes_mean_a_request = one_at_a_time;
        state.has_begun = false;
        // Of the one before, all that was left was passed over.
        state.is_unread = false;
        Asked(self.clone())
    }

    /// The body of a request, of which is noticed whether it is read to its end.
    pub(super) fn coming(&self, body: Incoming) -> Coming {
        Coming {
            is_over: body.is_end_stream(),
            body,
            pace: self.clone(),
        }
    }

    /// Bytes have come from the client.
    pub(super) fn heard(&self) {
        let mut state = self.state();
        if !state.bytes_mean_a_request || state.asked > 0 {
            return;
        }
        state.has_begun = true;
        if state.awaited == Awaited::More {
            state.awaited = Awaited::Headers;
            state.since = Instant::now();
        }
    }

    /// Whether the client has sent, or may be sending, what nobody reads.
    pub(super) fn is_cut_short(&self) -> bool {
        let state = self.state();
        state.has_begun || state.is_unread
    }

    /// The client was told that this is the end, and may hear it for as long as headers may take.
    pub(super) fn last_wait(&self) {
        let mut state = self.state();
        state.awaited = Awaited::Headers;
        state.since = Instant::now();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// When to look next, and what to say of the client if nothing has happened by then.
    fn deadline(&self, patience: Patience) -> (Instant, Option<Overdue>) {
        match (self.asked, self.leaving, self.awaited) {
            (0, 0, Awaited::Headers) => (self.since + patience.headers, Some(Overdue::Stalled)),
            (0, 0, Awaited::More) => (self.since + patience.idle, Some(Overdue::Resting)),
            (0, _, _) => (self.since + patience.idle, Some(Overdue::Stalled)),
            _ => (Instant::now() + patience.headers, None),
        }
    }

    fn went_on(&mut self) {
        self.awaited = Awaited::More;
        self.since = Instant::now();
    }
}

/// A request without an answer yet.
pub(super) struct Asked(Pace);

impl Asked {
    /// The answer, which is watched until it has left.
    pub(super) fn answered(self, body: Body) -> Watched {
        self.0.state().leaving += 1;
        Watched {
            body,
            pace: self.0.clone(),
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.asked -= 1;
        state.went_on();
    }
}

/// The body of an answer.
pub(super) struct Watched {
    body: Body,
    pace: Pace,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if polled.is_ready() {
            self.pace.state().went_on();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut state = self.pace.state();
        state.leaving -= 1;
        state.went_on();
    }
}

/// The body of a request.
pub(super) struct Coming {
    body: Incoming,
    is_over: bool,
    pace: Pace,
}

impl HttpBody for Coming {
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

impl Drop for Coming {
    fn drop(&mut self) {
        if !self.is_over {
            self.pace.state().is_unread = true;
        }
    }
}

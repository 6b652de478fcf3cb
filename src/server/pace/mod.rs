//! Timeouts of a connection while it waits for its client.
//!
//! A client that sends headers slowly, reads slowly, or stays idle occupies a connection. The time
//! between a request and its response is limited elsewhere.

mod exchange;
mod request;
mod response;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use tokio::time::Instant;

use self::exchange::StreamEnd;
pub(super) use self::exchange::{Exchange, Exchanges, Streams};
use self::request::Coming;
pub(super) use self::request::{LEFTOVER, LINGER};
use self::response::Watched;
use engine::settings::Http;

/// The timeouts of clients.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the headers of a request, from the first byte or from the connection.
    pub headers: Duration,
    /// For reading the next part of a response, or sending the next request.
    pub idle: Duration,
    /// For the whole connection.
    pub age: Duration,
}

impl Patience {
    /// The timeouts in the settings.
    #[must_use]
    pub fn of(settings: &Http) -> Self {
        Self {
            headers: settings.header_timeout.0,
            idle: settings.idle_timeout.0,
            age: settings.max_connection_age.0,
        }
    }
}

/// The timers of one connection. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Pace(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    awaited: Awaited,
    since: Instant,
    /// Requests without a response.
    asked: usize,
    /// Responses that are not fully sent.
    leaving: HashMap<u64, Unsent>,
    /// The number of responses so far.
    answers: u64,
    /// On HTTP/2, received bytes need not belong to a request.
    bytes_mean_a_request: bool,
    /// Whether bytes of another request were received.
    has_begun: bool,
    /// Whether a request was answered before its body was read.
    is_unread: Arc<AtomicBool>,
}

/// A response that is not fully sent.
#[derive(Debug)]
struct Unsent {
    /// When the client last read a part of it.
    since: Instant,
    /// The bytes that the client can read.
    bytes: usize,
    /// Whether its next part is not made yet.
    is_awaited: bool,
    /// Resets its stream; none on HTTP/1, and after the end of the stream's task.
    end: Option<StreamEnd>,
}

/// The next action of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    /// Send its first request, or the rest of the headers.
    Headers,
    /// Send its next request, or read a response.
    More,
}

/// The client timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    /// The connection is idle and can close gracefully.
    Resting,
    /// A request or response is incomplete.
    Stalled,
}

impl Pace {
    pub(super) fn begin() -> Self {
        let state = State {
            awaited: Awaited::Headers,
            since: Instant::now(),
            asked: 0,
            leaving: HashMap::new(),
            answers: 0,
            bytes_mean_a_request: true,
            has_begun: false,
            is_unread: Arc::default(),
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Resolves when the client times out. A response that the client does not read ends its stream, because
    /// a proxy sends the requests of several clients on one connection.
    pub(super) async fn overdue(&self, patience: Patience) -> Overdue {
        loop {
            let (until, overdue) = self.state().deadline(patience);
            let now = Instant::now();
            if let Some(overdue) = overdue
                && until <= now
            {
                if self.state().end_stream(now, patience) {
                    continue;
                }
                return overdue;
            }
            // A request may begin meanwhile; its headers have a shorter timeout.
            tokio::time::sleep_until(until.min(now + patience.headers)).await;
        }
    }

    /// A request was received. If requests are sequential, bytes after its response start another.
    pub(super) fn asked(&self, one_at_a_time: bool) -> Asked {
        let mut state = self.state();
        state.asked += 1;
        state.bytes_mean_a_request = one_at_a_time;
        state.has_begun = false;
        // The rest of the previous body was skipped.
        state.is_unread.store(false, Ordering::Relaxed);
        Asked(self.clone())
    }

    /// The body of a request, which reports whether it is read to its end. On HTTP/1, the connection skips
    /// the rest.
    pub(super) fn coming(&self, body: Incoming, is_http1: bool) -> Coming {
        let is_unread = Arc::clone(&self.state().is_unread);
        Coming::new(body, is_http1, is_unread)
    }

    /// Bytes were received from the client.
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

    /// Whether the client has sent, or may send, bytes that are not read.
    pub(super) fn is_cut_short(&self) -> bool {
        let state = self.state();
        state.has_begun || state.is_unread.load(Ordering::Relaxed)
    }

    /// The connection is closing; the client has the header timeout to notice.
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
    /// The time of the next check, and the result if nothing happens until then.
    fn deadline(&self, patience: Patience) -> (Instant, Option<Overdue>) {
        // Each response has its own time: requests on other streams do not excuse an unread one.
        let unread = self.leaving.values().filter(|unsent| !unsent.is_awaited);
        if let Some(since) = unread.map(|unsent| unsent.since).min() {
            return (since + patience.idle, Some(Overdue::Stalled));
        }
        match (self.asked + self.leaving.len(), self.awaited) {
            (0, Awaited::Headers) => (self.since + patience.headers, Some(Overdue::Stalled)),
            (0, Awaited::More) => (self.since + patience.idle, Some(Overdue::Resting)),
            _ => (Instant::now() + patience.headers, None),
        }
    }

    /// Ends a stream whose response the client has not read for too long. False if there is none.
    fn end_stream(&mut self, now: Instant, patience: Patience) -> bool {
        let mut unsent = self.leaving.iter_mut();
        let number = unsent.find_map(|(number, unsent)| {
            let is_overdue = !unsent.is_awaited && unsent.since + patience.idle <= now;
            unsent.end.take_if(|_| is_overdue)?.end();
            Some(*number)
        });
        number.is_some_and(|number| self.leaving.remove(&number).is_some())
    }

    fn went_on(&mut self) {
        self.awaited = Awaited::More;
        self.since = Instant::now();
    }
}

/// A request without a response.
pub(super) struct Asked(Pace);

impl Asked {
    /// The response, which is tracked until it is sent.
    pub(super) fn answered(self, body: Body, exchange: Option<Exchange>) -> Watched {
        Watched::new(body, self.0.clone(), exchange)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.asked -= 1;
        state.went_on();
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::Bytes;
    use futures_util::{FutureExt as _, StreamExt as _, stream};

    use super::*;

    /// The parts of a response with this body.
    async fn parts(pace: &Pace, body: Vec<u8>) -> Vec<Bytes> {
        let response = pace.asked(false).answered(Body::from(body), None);
        let data = Body::new(response).into_data_stream();
        data.map(|part| part.unwrap()).collect().await
    }

    const PATIENCE: Patience = Patience {
        headers: Duration::from_secs(60),
        idle: Duration::from_secs(30),
        age: Duration::from_secs(3_600),
    };

    #[tokio::test]
    async fn a_response_whose_next_part_is_not_made_yet_has_no_timeout() {
        let pace = Pace::begin();
        let body = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        let response = Body::new(pace.asked(false).answered(body, None));
        let overdue = || pace.state().deadline(PATIENCE).1;
        assert_eq!(overdue(), Some(Overdue::Stalled));
        let mut parts = response.into_data_stream();
        assert!(parts.next().now_or_never().is_none());
        assert_eq!(overdue(), None);
    }

    #[tokio::test]
    async fn the_oldest_unread_response_has_a_timeout() {
        let pace = Pace::begin();
        let begun = Instant::now();
        let unread = parts(&pace, vec![0; response::PART + 1]).await;
        assert_eq!(unread.len(), 2);
        let read = Instant::now();
        // Another response is read, and a request is in progress.
        drop(parts(&pace, vec![0]).await);
        let asked = pace.asked(false);
        let (until, overdue) = pace.state().deadline(PATIENCE);
        assert!((begun..=read).contains(&(until - PATIENCE.idle)));
        assert_eq!(overdue, Some(Overdue::Stalled));
        drop(unread);
        assert_eq!(pace.state().deadline(PATIENCE).1, None);
        drop(asked);
    }
}

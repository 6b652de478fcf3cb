//! Timeouts of a connection while it waits for its client.
//!
//! A client that sends headers slowly, reads slowly, or stays idle occupies a connection. The time
//! between a request and its response is limited elsewhere.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use engine::settings::Http;

/// A client must read this number of bytes within the idle timeout while it delays a response.
const PART: usize = 64 * 1024;

/// The timeouts of clients.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For the headers of a request, from the first byte or from the connection.
    pub headers: Duration,
    /// For reading the next part of a response, or sending the next request.
    pub idle: Duration,
    /// For the whole connection.
    pub age: Duration,
}

impl Timeouts {
    /// The timeouts in the settings.
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
pub(super) struct ConnectionTimers(Arc<Mutex<TimerState>>);

#[derive(Debug)]
struct TimerState {
    phase: Phase,
    /// The start of the phase.
    since: Instant,
    /// Output that the client delays by not reading it.
    delayed: Option<Delayed>,
    /// Whether bytes arrived after the last request.
    has_next_request: bool,
    /// Whether a request was answered before its body was read.
    has_unread_body: bool,
}

/// What the connection does. An HTTP/1.1 connection has one request at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Waits for the first request, or for the rest of the headers.
    Headers,
    /// Waits for the next request.
    Idle,
    /// Reads and handles a request.
    Request,
    /// Sends a response.
    Response,
}

/// Output that the system does not accept because the client does not read.
#[derive(Debug)]
struct Delayed {
    since: Instant,
    /// The bytes that were written since then.
    written: usize,
}

/// The client timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimedOut {
    /// The connection is idle and can close gracefully.
    Idle,
    /// A request or response is incomplete.
    Incomplete,
}

/// A request and its response, until the response is written or dropped.
#[derive(Debug)]
pub(super) struct Exchange(ConnectionTimers);

impl ConnectionTimers {
    pub(super) fn start() -> Self {
        let state = TimerState {
            phase: Phase::Headers,
            since: Instant::now(),
            delayed: None,
            has_next_request: false,
            has_unread_body: false,
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Resolves when the client times out.
    pub(super) async fn timed_out(&self, timeouts: Timeouts) -> TimedOut {
        loop {
            let now = Instant::now();
            let deadline = self.state().deadline(timeouts);
            // A request may begin meanwhile; its headers have a shorter timeout.
            let mut wake = now + timeouts.headers;
            if let Some((until, timed_out)) = deadline {
                if until <= now {
                    return timed_out;
                }
                wake = wake.min(until);
            }
            tokio::time::sleep_until(wake).await;
        }
    }

    /// The headers of a request were received.
    pub(super) fn begin_exchange(&self) -> Exchange {
        let mut state = self.state();
        state.enter(Phase::Request);
        state.has_next_request = false;
        // The rest of the previous body was skipped.
        state.has_unread_body = false;
        Exchange(self.clone())
    }

    /// A request was answered before its body was read. The connection skips the rest.
    pub(super) fn leave_body_unread(&self) {
        self.state().has_unread_body = true;
    }

    /// Bytes were received.
    pub(super) fn received(&self) {
        let mut state = self.state();
        state.has_next_request |= state.phase != Phase::Request;
        if state.phase == Phase::Idle {
            state.enter(Phase::Headers);
        }
    }

    /// The system accepted this number of bytes.
    pub(super) fn written(&self, bytes: usize) {
        if let Some(delayed) = &mut self.state().delayed {
            delayed.written += bytes;
            if delayed.written >= PART {
                *delayed = Delayed::now();
            }
        }
    }

    /// The system accepts no bytes until the client reads.
    pub(super) fn delay(&self) {
        self.state().delayed.get_or_insert_with(Delayed::now);
    }

    /// The system accepted all bytes.
    pub(super) fn flushed(&self) {
        self.state().delayed = None;
    }

    /// Whether the client has sent, or may send, bytes that are not read.
    pub(super) fn has_unread_input(&self) -> bool {
        let state = self.state();
        state.has_next_request || state.has_unread_body
    }

    /// The connection is closing; the client has the header timeout to notice.
    pub(super) fn close(&self) {
        self.state().enter(Phase::Headers);
    }

    fn state(&self) -> MutexGuard<'_, TimerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TimerState {
    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.since = Instant::now();
    }

    /// The time of the timeout if nothing happens until then.
    fn deadline(&self, timeouts: Timeouts) -> Option<(Instant, TimedOut)> {
        if let Some(delayed) = &self.delayed {
            return Some((delayed.since + timeouts.idle, TimedOut::Incomplete));
        }
        match self.phase {
            Phase::Headers => Some((self.since + timeouts.headers, TimedOut::Incomplete)),
            Phase::Idle => Some((self.since + timeouts.idle, TimedOut::Idle)),
            Phase::Request | Phase::Response => None,
        }
    }
}

impl Delayed {
    fn now() -> Self {
        Self { since: Instant::now(), written: 0 }
    }
}

impl Exchange {
    /// The response begins.
    pub(super) fn respond(&self) {
        self.0.state().enter(Phase::Response);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.0.state().enter(Phase::Idle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUTS: Timeouts = Timeouts {
        headers: Duration::from_secs(10),
        idle: Duration::from_secs(30),
        age: Duration::from_secs(3_600),
    };

    fn deadline(timers: &ConnectionTimers) -> Option<(Instant, TimedOut)> {
        timers.state().deadline(TIMEOUTS)
    }

    fn timed_out(timers: &ConnectionTimers) -> Option<TimedOut> {
        deadline(timers).map(|(_, timed_out)| timed_out)
    }

    #[test]
    fn a_client_has_a_timeout_outside_of_its_requests() {
        let timers = ConnectionTimers::start();
        assert_eq!(timed_out(&timers), Some(TimedOut::Incomplete));
        let exchange = timers.begin_exchange();
        timers.received();
        assert_eq!(timed_out(&timers), None);
        assert!(!timers.has_unread_input());
        exchange.respond();
        assert_eq!(timed_out(&timers), None);
        drop(exchange);
        assert_eq!(timed_out(&timers), Some(TimedOut::Idle));
        timers.received();
        assert_eq!(timed_out(&timers), Some(TimedOut::Incomplete));
        assert!(timers.has_unread_input());
        let first = deadline(&timers);
        timers.received();
        assert_eq!(deadline(&timers), first, "slow headers gain no time");
    }

    #[test]
    fn a_client_that_delays_a_response_must_read_parts_of_it() {
        let timers = ConnectionTimers::start();
        let exchange = timers.begin_exchange();
        exchange.respond();
        timers.written(PART);
        assert_eq!(deadline(&timers), None);
        timers.delay();
        let delayed = deadline(&timers);
        assert_eq!(timed_out(&timers), Some(TimedOut::Incomplete));
        timers.written(PART - 1);
        timers.delay();
        assert_eq!(deadline(&timers), delayed);
        timers.written(1);
        let later = |it: Option<(Instant, TimedOut)>| it.map(|(until, _)| until);
        assert!(later(deadline(&timers)) > later(delayed));
        // The rest of a response delays the connection too.
        drop(exchange);
        assert_eq!(timed_out(&timers), Some(TimedOut::Incomplete));
        timers.flushed();
        assert_eq!(timed_out(&timers), Some(TimedOut::Idle));
    }
}

//! An operation on its way to a worker, and its answer on the way back.

use std::fmt;
use std::time::Instant;

use tokio::sync::oneshot;
use tracing::Span;

use crate::HsmError;
use crate::caller::Caller;
use crate::group::Outstanding;
use crate::session::Session;

/// How many times as long as a write a probe may take.
pub(crate) const PROBED_KEYS: u32 = 20;

/// Whether an operation changes the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// One at a time, with the long deadline.
    Write,
    /// Like a write, with time for dozens of keys.
    Probe,
}

/// An operation in the queue. It is answered exactly once. The caller of one that is dropped sees
/// that the token is out.
pub(crate) struct Job {
    kind: Access,
    queued: Instant,
    deadline: Instant,
    caller: Caller,
    work: Box<dyn AnyOperation>,
    /// Its place in the group of its caller.
    outstanding: Option<Outstanding>,
}

/// The spans of an operation while traces are on.
struct Trace {
    within: Span,
    wait: Span,
}

/// An operation of any result type.
trait AnyOperation: Send {
    fn attempt(&mut self, session: &Session) -> Result<(), HsmError>;
    fn begin(&mut self) -> Option<Trace>;
    fn answer(self: Box<Self>, failure: Option<HsmError>);
    fn is_abandoned(&self) -> bool;
}

struct QueuedOperation<T, F> {
    run: F,
    done: Option<T>,
    reply: oneshot::Sender<Result<T, HsmError>>,
    trace: Option<Trace>,
}

impl Job {
    /// A job and the channel of its answer.
    pub(crate) fn new<T, F>(
        kind: Access,
        deadline: Instant,
        run: F,
    ) -> (Self, oneshot::Receiver<Result<T, HsmError>>)
    where
        T: Send + 'static,
        F: FnMut(&Session) -> Result<T, HsmError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let wait = tracing::trace_span!(target: "hsm::step", "queue");
        let trace = (!wait.is_disabled()).then(|| {
            let within = Span::current();
            Trace { within, wait }
        });
        let work = Box::new(QueuedOperation { run, done: None, reply, trace });
        let caller = Caller::current();
        let job = Self {
            kind,
            queued: Instant::now(),
            deadline,
            outstanding: caller.outstanding(),
            caller,
            work,
        };
        (job, answer)
    }

    pub(crate) fn kind(&self) -> Access {
        self.kind
    }

    /// The lane in which it waits.
    pub(crate) fn lane(&self) -> u64 {
        self.caller.lane()
    }

    /// Whether its caller has gone.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.work.is_abandoned() || self.caller.has_gone()
    }

    pub(crate) fn queued(&self) -> Instant {
        self.queued
    }

    pub(crate) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Ends the span of the wait and starts the span of the operation on this token.
    pub(crate) fn begin(&mut self, token: &str) -> Span {
        let Some(trace) = self.work.begin() else {
            return Span::none();
        };
        drop(trace.wait);
        let parent = &trace.within;
        tracing::trace_span!(target: "hsm::step", parent: parent, "token", sealward.token = token)
    }

    /// Runs the operation and keeps its result for [`Job::answer`].
    pub(crate) fn attempt(&mut self, session: &Session) -> Result<(), HsmError> {
        self.work.attempt(session)
    }

    /// Sends the result of the operation, or this failure.
    pub(crate) fn answer(self, outcome: Result<(), HsmError>) {
        let Self { work, outstanding, .. } = self;
        match outstanding {
            Some(outstanding) => outstanding.answer(move || work.answer(outcome.err())),
            None => work.answer(outcome.err()),
        }
    }
}

impl<T, F> AnyOperation for QueuedOperation<T, F>
where
    T: Send,
    F: FnMut(&Session) -> Result<T, HsmError> + Send,
{
    fn attempt(&mut self, session: &Session) -> Result<(), HsmError> {
        self.done = Some((self.run)(session)?);
        Ok(())
    }

    fn answer(self: Box<Self>, failure: Option<HsmError>) {
        let outcome = match (failure, self.done) {
            (Some(failure), _) => Err(failure),
            (None, Some(value)) => Ok(value),
            (None, None) => Err(HsmError::refused("answered before it was attempted")),
        };
        // Fails if the caller has gone.
        drop(self.reply.send(outcome));
    }

    fn begin(&mut self) -> Option<Trace> {
        self.trace.take()
    }

    fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("kind", &self.kind).finish_non_exhaustive()
    }
}

//! One operation on its way to a worker and its answer on the way back.

use std::fmt;
use std::time::Instant;

use tokio::sync::oneshot;
use tracing::Span;

use crate::HsmError;
use crate::interest::Wanted;
use crate::session::Session;

/// Whether an operation changes what the token keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    /// One at a time, with the long deadline.
    Write,
}

/// An operation that waits for a worker. It is answered exactly once, by being consumed; one that
/// is dropped tells its caller that the token is out.
pub(crate) struct Job {
    kind: Kind,
    queued: Instant,
    deadline: Instant,
    work: Box<dyn Work>,
}

/// Where traces are on: what a job is a step of, and its wait, which is one itself.
struct Trace {
    within: Span,
    wait: Span,
}

/// What the queue and the workers need to know of an operation.
trait Work: Send {
    fn attempt(&mut self, session: &Session) -> Result<(), HsmError>;
    fn begin(&mut self) -> Option<Trace>;
    fn answer(self: Box<Self>, failure: Option<HsmError>);
    fn is_abandoned(&self) -> bool;
}

struct Operation<T, F> {
    run: F,
    done: Option<T>,
    reply: oneshot::Sender<Result<T, HsmError>>,
    wanted: Wanted,
    trace: Option<Trace>,
}

impl Job {
    /// A job and where its answer arrives.
    pub(crate) fn new<T, F>(
        kind: Kind,
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
        let work = Box::new(Operation {
            run,
            done: None,
            reply,
            wanted: Wanted::here(),
            trace,
        });
        (
            Self {
                kind,
                queued: Instant::now(),
                deadline,
                work,
            },
            answer,
        )
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn queued(&self) -> Instant {
        self.queued
    }

    pub(crate) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Whether nobody waits for the answer any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.work.is_abandoned()
    }

    /// Its turn has come: what it does from here on is a step of its own, on the token of that name.
    pub(crate) fn begin(&mut self, token: &str) -> Span {
        let Some(trace) = self.work.begin() else {
            return Span::none();
        };
        drop(trace.wait);
        tracing::trace_span!(target: "hsm::step", parent: &trace.within, "token", token)
    }

    /// Runs the operation; its result is kept until [`Job::answer`].
    pub(crate) fn attempt(&mut self, session: &Session) -> Result<(), HsmError> {
        self.work.attempt(session)
    }

    /// Sends what the operation gave, or this failure.
    pub(crate) fn answer(self, outcome: Result<(), HsmError>) {
        self.work.answer(outcome.err());
    }
}

impl<T, F> Work for Operation<T, F>
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
        // The caller may have gone meanwhile; then nobody is told.
        drop(self.reply.send(outcome));
    }

    fn begin(&mut self) -> Option<Trace> {
        self.trace.take()
    }

    fn is_abandoned(&self) -> bool {
        self.reply.is_closed() || self.wanted.no_more()
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

//! The history of a run from the view of its clients: requests with responses, changes by
//! administrators, and the faults that relax a guarantee.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::ledger::Log;
use formats::tlog::VerifierKey;

/// The time since the start of the run.
pub(crate) type Moment = Duration;

/// One process of the service: its place and the number of its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Incarnation {
    pub(crate) place: usize,
    pub(crate) number: u32,
}

/// All recorded facts of a run.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) attempts: Vec<Attempt>,
    /// The calling services. Attempts refer to them by index.
    pub(crate) applications: Vec<Application>,
    pub(crate) api_keys: Vec<Timeline>,
    pub(crate) policies: Vec<Timeline>,
    pub(crate) keys: Vec<Timeline>,
    /// The times at which the token failed.
    pub(crate) token_faults: Vec<Span>,
    /// The times at which the instances could not share rate limits.
    pub(crate) unshared_limits: Vec<UnsharedLimits>,
    /// The maximum number of concurrent instances.
    pub(crate) instances: u32,
    /// The audit log at the end of the run.
    pub(crate) rows: Vec<Row>,
    /// The tamper-evident logs at the end of the run.
    pub(crate) logs: Vec<SealedLog>,
}

/// A tamper-evident log.
#[derive(Clone, Debug)]
pub(crate) struct SealedLog {
    pub(crate) log: Log,
    pub(crate) key: VerifierKey,
    /// Its records in their order, as in an export.
    pub(crate) lines: Vec<String>,
    /// The checkpoints that a monitor has read during the run.
    pub(crate) seen: BTreeSet<String>,
}

/// A calling service.
#[derive(Clone, Debug)]
pub(crate) struct Application {
    /// Its ID in the audit log.
    pub(crate) id: String,
    /// Its rate limit. `None` if the run cannot reach the limit.
    pub(crate) limit: Option<Limit>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) per_second: u32,
    pub(crate) burst: u32,
}

/// A period of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from: Moment,
    pub(crate) to: Moment,
}

impl Span {
    pub(crate) fn meets(self, other: Self) -> bool {
        self.from <= other.to && other.from <= self.to
    }
}

/// A period without shared rate limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnsharedLimits {
    pub(crate) span: Span,
    /// Whether instances started or stopped or could not be counted, so that each instance may have used
    /// the full limit.
    pub(crate) is_uncounted: bool,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    /// The unique ID of the request.
    pub(crate) nonce: String,
    pub(crate) at: Incarnation,
    pub(crate) span: Span,
    pub(crate) application: usize,
    pub(crate) api_key: usize,
    pub(crate) call: Call,
    pub(crate) outcome: Outcome,
}

/// The operation of a request and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Protect {
        policy: usize,
    },
    Unprotect {
        policy: usize,
    },
    Encrypt {
        key: usize,
    },
    Decrypt {
        key: usize,
    },
    Sign {
        key: usize,
    },
    Verify {
        key: usize,
    },
    Hash,
    /// Protect with a policy that does not allow the service.
    ForeignPolicy {
        policy: usize,
    },
    /// Encrypt with a key of another service.
    ForeignKey {
        key: usize,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// Not sent, because no instance was available.
    NotSent,
    /// The connection broke before the complete response.
    Lost,
    /// No response within the time limit on an open connection.
    Silence,
    Answered(Answer),
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The error code.
    pub(crate) code: Option<String>,
    pub(crate) content: Content,
    /// An error in the response that does not depend on the request: the ID or the plaintext of another
    /// request.
    pub(crate) stray: Option<String>,
}

/// The content of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Nothing,
    Envelope,
    PassedThrough,
    Dropped,
    /// The expected plaintext, hash or verdict, or a well-formed result that only a later request can
    /// verify.
    Correct,
    Wrong(String),
}

/// The states of a resource over time.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    pub(crate) name: String,
    pub(crate) first: State,
    pub(crate) changes: Vec<Change>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Active,
    /// A revoked API key, a disabled key or a refusing policy.
    Refusing,
    PassingThrough,
    Dropping,
    /// A deleted policy.
    Gone,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) to: State,
    /// The time of the first request for the change. The state cannot apply earlier.
    pub(crate) began: Moment,
    /// The time at which the change was confirmed, if it was.
    pub(crate) confirmed: Option<Moment>,
    /// The instance that made the change, if known. The change applies there immediately.
    pub(crate) by: Option<Incarnation>,
}

/// How long other instances can use the previous state after a change.
const BOUND: Duration = Duration::from_secs(1);

impl Timeline {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            first: State::Active,
            changes: Vec::new(),
        }
    }

    /// The possible states for a request that `instance` processed during `span`.
    pub(crate) fn possible(&self, span: Span, instance: Incarnation) -> Vec<State> {
        let since = [Moment::ZERO].into_iter();
        let since = since.chain(self.changes.iter().map(|change| change.began));
        let until = self.changes.iter().map(|change| {
            let bound = match change.by {
                Some(by) if by == instance => Duration::ZERO,
                _ => BOUND,
            };
            change
                .confirmed
                .map_or(Moment::MAX, |confirmed| confirmed + bound)
        });
        let until = until.chain([Moment::MAX]);
        let states = [self.first].into_iter();
        let states = states.chain(self.changes.iter().map(|change| change.to));
        states
            .zip(since.zip(until))
            .filter(|(_, (from, to))| {
                span.meets(Span {
                    from: *from,
                    to: *to,
                })
            })
            .map(|(state, _)| state)
            .collect()
    }
}

/// A record of the audit log.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) request_id: String,
    pub(crate) application: Option<String>,
    pub(crate) operation: Option<String>,
    pub(crate) status: u16,
}

impl Call {
    /// The operation name in the audit log.
    pub(crate) fn operation(self) -> &'static str {
        match self {
            Self::Protect { .. } | Self::Encrypt { .. } => "encrypt",
            Self::ForeignPolicy { .. } | Self::ForeignKey { .. } => "encrypt",
            Self::Unprotect { .. } | Self::Decrypt { .. } => "decrypt",
            Self::Sign { .. } => "sign",
            Self::Verify { .. } => "verify",
            Self::Hash => "hash",
        }
    }

    /// Whether the operation uses the token.
    pub(crate) fn needs_token(self) -> bool {
        !matches!(
            self,
            Self::Protect { .. } | Self::ForeignPolicy { .. } | Self::Hash
        )
    }
}

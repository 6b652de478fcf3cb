//! The history of a run from the view of its clients: requests with responses, changes by
//! administrators, and the faults that relax a guarantee.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::ledger::Log;
use formats::tlog::VerifierKey;

/// The time since the start of the run.
pub type Moment = Duration;

/// One process of the service: its place and the number of its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incarnation {
    pub place: usize,
    pub number: u32,
}

/// All recorded facts of a run.
#[derive(Debug, Default)]
pub struct History {
    pub attempts: Vec<Attempt>,
    /// The calling services. Attempts refer to them by index.
    pub applications: Vec<Application>,
    pub api_keys: Vec<Timeline>,
    pub policies: Vec<Timeline>,
    pub keys: Vec<Timeline>,
    /// The times at which the token failed.
    pub token_faults: Vec<Span>,
    /// The times at which the instances could not share rate limits.
    pub unshared_limits: Vec<UnsharedLimits>,
    /// The maximum number of concurrent instances.
    pub instances: u32,
    /// The audit log at the end of the run.
    pub rows: Vec<Row>,
    /// The tamper-evident logs at the end of the run.
    pub logs: Vec<SealedLog>,
}

/// A tamper-evident log.
#[derive(Clone, Debug)]
pub struct SealedLog {
    pub log: Log,
    pub key: VerifierKey,
    /// Its records in their order, as in an export.
    pub lines: Vec<String>,
    /// The checkpoints that a monitor has read during the run.
    pub seen: BTreeSet<String>,
}

/// A calling service.
#[derive(Clone, Debug)]
pub struct Application {
    /// Its ID in the audit log.
    pub id: String,
    /// Its rate limit. `None` if the run cannot reach the limit.
    pub limit: Option<Limit>,
}

#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub per_second: u32,
    pub burst: u32,
}

/// A period of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: Moment,
    pub to: Moment,
}

impl Span {
    pub fn meets(self, other: Self) -> bool {
        self.from <= other.to && other.from <= self.to
    }
}

/// A period without shared rate limits.
#[derive(Clone, Copy, Debug)]
pub struct UnsharedLimits {
    pub span: Span,
    /// Whether instances started or stopped or could not be counted, so that each instance may have used
    /// the full limit.
    pub is_uncounted: bool,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The unique ID of the request.
    pub nonce: String,
    pub at: Incarnation,
    pub span: Span,
    pub application: usize,
    pub api_key: usize,
    pub call: Call,
    pub outcome: Outcome,
}

/// The operation of a request and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
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
pub enum Outcome {
    /// Not sent, because no instance was available.
    NotSent,
    /// The connection broke before the complete response.
    Lost,
    /// No response within the time limit on an open connection.
    Silence,
    Answered(Answer),
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    /// The error code.
    pub code: Option<String>,
    pub content: Content,
    /// An error in the response that does not depend on the request: the ID or the plaintext of another
    /// request.
    pub stray: Option<String>,
}

/// The content of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
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
pub struct Timeline {
    pub name: String,
    pub first: State,
    pub changes: Vec<Change>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Active,
    /// A revoked API key, a disabled key or a refusing policy.
    Refusing,
    PassingThrough,
    Dropping,
    /// A deleted policy.
    Gone,
}

#[derive(Clone, Copy, Debug)]
pub struct Change {
    pub to: State,
    /// The time of the first request for the change. The state cannot apply earlier.
    pub began: Moment,
    /// The time at which the change was confirmed, if it was.
    pub confirmed: Option<Moment>,
    /// The instance that made the change, if known. The change applies there immediately.
    pub by: Option<Incarnation>,
}

/// How long other instances can use the previous state after a change.
const BOUND: Duration = Duration::from_secs(1);

impl Timeline {
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), first: State::Active, changes: Vec::new() }
    }

    /// The possible states for a request that `instance` processed during `span`.
    pub fn possible(&self, span: Span, instance: Incarnation) -> Vec<State> {
        let since = [Moment::ZERO].into_iter();
        let since = since.chain(self.changes.iter().map(|change| change.began));
        let until = self.changes.iter().map(|change| {
            let bound = match change.by {
                Some(by) if by == instance => Duration::ZERO,
                _ => BOUND,
            };
            change.confirmed.map_or(Moment::MAX, |confirmed| confirmed + bound)
        });
        let until = until.chain([Moment::MAX]);
        let states = [self.first].into_iter();
        let states = states.chain(self.changes.iter().map(|change| change.to));
        states
            .zip(since.zip(until))
            .filter(|(_, (from, to))| span.meets(Span { from: *from, to: *to }))
            .map(|(state, _)| state)
            .collect()
    }
}

/// A record of the audit log.
#[derive(Clone, Debug)]
pub struct Row {
    pub request_id: String,
    pub application: Option<String>,
    pub operation: Option<String>,
    pub status: u16,
}

impl Call {
    /// The operation name in the audit log.
    pub fn operation(self) -> &'static str {
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
    pub fn needs_token(self) -> bool {
        !matches!(self, Self::Protect { .. } | Self::ForeignPolicy { .. } | Self::Hash)
    }
}

//! What happened in a run, as its clients saw it: every request with its answer, every change that
//! administrators made, every fault that weakens a promise.

use std::time::Duration;

/// A moment, counted from the beginning of the run.
pub(crate) type Moment = Duration;

/// One process of the service: in which place, and the how-manieth there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Incarnation {
    pub(crate) place: usize,
    pub(crate) number: u32,
}

/// Everything that is known of a run.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) attempts: Vec<Attempt>,
    /// The services that ask, by the place that attempts name.
    pub(crate) applications: Vec<Application>,
    pub(crate) api_keys: Vec<Timeline>,
    pub(crate) policies: Vec<Timeline>,
    pub(crate) keys: Vec<Timeline>,
    /// While one of these lasted, the token was made to fail.
    pub(crate) token_faults: Vec<Span>,
    /// While one of these lasted, limits could not be counted together.
    pub(crate) apart: Vec<Apart>,
    /// Instances there were at the same time, at most.
    pub(crate) instances: u32,
    /// The trail, as it stands in the database after the end.
    pub(crate) rows: Vec<Row>,
}

/// A service that asks.
#[derive(Clone, Debug)]
pub(crate) struct Application {
    /// Its id, as the trail names it.
    pub(crate) id: String,
    /// What it may ask a second, and at once; none where it may ask more than it ever will.
    pub(crate) limit: Option<Limit>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) per_second: u32,
    pub(crate) burst: u32,
}

/// From one moment to another.
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

/// A time without the place where all instances count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    pub(crate) span: Span,
    /// Whether instances came and went, or could not be counted, so that each may have taken itself
    /// for the only one.
    pub(crate) is_uncounted: bool,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    /// Its name, which no other request has.
    pub(crate) nonce: String,
    pub(crate) at: Incarnation,
    pub(crate) span: Span,
    pub(crate) application: usize,
    pub(crate) api_key: usize,
    pub(crate) asked: Asked,
    pub(crate) outcome: Outcome,
}

/// What was asked for, and under what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
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
    /// To protect under a policy that is for others.
    ForeignPolicy {
        policy: usize,
    },
    /// To encrypt with another's key.
    ForeignKey {
        key: usize,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// Nothing was sent, because there was nobody to send it to.
    NotSent,
    /// The connection broke before the answer was whole.
    Lost,
    /// No answer came within any patience, on a connection that stood.
    Silence,
    Answered(Answer),
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The code of an error.
    pub(crate) code: Option<String>,
    pub(crate) gave: Gave,
    /// What is wrong with the answer, whatever was asked: another request's name in it, another's
    /// plaintext.
    pub(crate) stray: Option<String>,
}

/// What a client got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gave {
    Nothing,
    Envelope,
    PassedThrough,
    Dropped,
    /// Exactly what was to come: the plaintext, the hash, the verdict; or something of the right form
    /// where only another request can tell.
    Right,
    Wrong(String),
}

/// How something that administrators change was, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    pub(crate) name: String,
    pub(crate) first: State,
    pub(crate) changes: Vec<Change>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Active,
    /// An API key that was revoked, a key that was disabled, a policy that refuses.
    Refusing,
    PassingThrough,
    Dropping,
    /// A policy that was deleted.
    Gone,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) to: State,
    /// When it was first asked for: it does not hold before.
    pub(crate) began: Moment,
    /// When it was known to be made; none where it never was.
    pub(crate) done: Option<Moment>,
    /// Who made it, where that is known: it holds there at once.
    pub(crate) by: Option<Incarnation>,
}

/// How long after a change another instance may go on as before.
const BOUND: Duration = Duration::from_secs(1);

impl Timeline {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            first: State::Active,
            changes: Vec::new(),
        }
    }

    /// In which states it may have been for a request that was under way in `span` at `instance`.
    pub(crate) fn possible(&self, span: Span, instance: Incarnation) -> Vec<State> {
        let since = [Moment::ZERO].into_iter();
        let since = since.chain(self.changes.iter().map(|change| change.began));
        let until = self.changes.iter().map(|change| {
            let bound = match change.by {
                Some(by) if by == instance => Duration::ZERO,
                _ => BOUND,
            };
            change.done.map_or(Moment::MAX, |done| done + bound)
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

/// A row of the trail.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) request_id: String,
    pub(crate) application: Option<String>,
    pub(crate) operation: Option<String>,
    pub(crate) status: u16,
}

impl Asked {
    /// As the trail names it.
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

    /// Whether the token has to do something for it.
    pub(crate) fn needs_token(self) -> bool {
        !matches!(
            self,
            Self::Protect { .. } | Self::ForeignPolicy { .. } | Self::Hash
        )
    }
}

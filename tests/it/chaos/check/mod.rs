//! The checker: reads a history and says which promises were broken in it.
//!
//! It takes nothing from the service but its answers and the rows of its trail. What it cannot know,
//! because a connection broke or an answer said 503, it allows either way; all else it does not.

mod answers;
mod limits;
mod trail;

#[cfg(test)]
mod tests;

use std::fmt;

use super::history::{Attempt, History, Outcome};

/// A promise that was broken, and what shows it.
#[derive(Debug)]
pub(crate) struct Violation {
    pub(crate) promise: Promise,
    pub(crate) evidence: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// A success, and every refusal of somebody known, has its row, and it tells what was answered.
    Audited,
    /// No request has more than one.
    AuditedOnce,
    /// No row is of a request that nobody sent.
    NothingInvented,
    /// A revocation, a disabled key, an inactive policy holds within its bound; and nobody is refused
    /// without a reason.
    ChangesHold,
    /// Nobody uses another's key, or a policy that is for others.
    KeptApart,
    /// What comes back is what was asked for, and nothing of another's.
    Faithful,
    /// No more is let through than the limit allows, all instances together.
    Limited,
    /// Every request is answered in time.
    Answered,
    /// The service lives on, and comes back by itself.
    Lives,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.promise, self.evidence)
    }
}

impl Promise {
    pub(crate) fn broken(self, evidence: impl Into<String>) -> Violation {
        Violation {
            promise: self,
            evidence: evidence.into(),
        }
    }
}

/// Every promise that was broken.
pub(crate) fn violations(history: &History) -> Vec<Violation> {
    let mut found = trail::check(history);
    for attempt in &history.attempts {
        found.extend(answers::check(history, attempt));
    }
    found.extend(limits::check(history));
    found
}

/// A request and its answer in one line, for whoever reads the evidence.
pub(crate) fn line(attempt: &Attempt) -> String {
    let outcome = match &attempt.outcome {
        Outcome::Answered(answer) => {
            let code = answer.code.as_deref().unwrap_or("-");
            format!("{} {code}, gave {:?}", answer.status, answer.gave)
        }
        other => format!("{other:?}"),
    };
    format!(
        "{} at {}.{} from {:.3} s to {:.3} s, by application {} with API key {}, {:?}: {outcome}",
        attempt.nonce,
        attempt.at.place,
        attempt.at.number,
        attempt.span.from.as_secs_f64(),
        attempt.span.to.as_secs_f64(),
        attempt.application,
        attempt.api_key,
        attempt.asked,
    )
}

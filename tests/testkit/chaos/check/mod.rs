//! The checker: finds violated guarantees in a history.
//!
//! It uses only responses, audit records and their tamper-evident logs. If a connection broke or a response was 503, it accepts
//! both possible outcomes.

mod answers;
mod audit_log;
mod limits;
mod sealed;

use std::fmt;

use super::history::{Attempt, History, Outcome};

/// A violated guarantee with its evidence.
#[derive(Debug)]
pub struct Violation {
    pub guarantee: Guarantee,
    pub evidence: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarantee {
    /// Every success and every refusal of an authenticated caller has a record with the same result.
    Audited,
    /// No request has more than one record.
    AuditedOnce,
    /// Every record belongs to a request.
    NothingInvented,
    /// Revocations, disabled keys and inactive policies take effect in time, and every refusal has a
    /// reason.
    ChangesHold,
    /// No service uses a key or a policy of another.
    Isolated,
    /// A response contains the expected result and nothing of other requests.
    Faithful,
    /// All instances together do not exceed a rate limit.
    Limited,
    /// Every request is answered in time.
    Answered,
    /// No instance exits unexpectedly, and all recover.
    Available,
    /// Every record has one position in its tamper-evident log.
    Sealed,
    /// A log extends every checkpoint that an instance returned.
    Consistent,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.guarantee, self.evidence)
    }
}

impl Guarantee {
    pub fn violated(self, evidence: impl Into<String>) -> Violation {
        Violation { guarantee: self, evidence: evidence.into() }
    }
}

/// All violated guarantees.
pub fn violations(history: &History) -> Vec<Violation> {
    let mut found = audit_log::check(history);
    for attempt in &history.attempts {
        found.extend(answers::check(history, attempt));
    }
    found.extend(limits::check(history));
    found.extend(sealed::check(history));
    found
}

/// A request and its response in one line, as evidence.
pub fn line(attempt: &Attempt) -> String {
    let outcome = match &attempt.outcome {
        Outcome::Answered(answer) => {
            let code = answer.code.as_deref().unwrap_or("-");
            format!("{} {code}, content {:?}", answer.status, answer.content)
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
        attempt.call,
    )
}

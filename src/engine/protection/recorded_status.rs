//! What audit records say about answers.

use super::Refusal;
use crate::audit::{CLIENT_CLOSED_REQUEST, Outcome};

/// The number of the status and the code of the error with which an API answers a refusal.
pub type AnswerStatus = (u16, &'static str);

/// The status and code that the audit record of an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedStatus {
    /// The number of the status.
    pub number: u16,
    /// The code of an error; none of a success.
    pub code: Option<&'static str>,
    pub outcome: Outcome,
}

/// The status of a success.
const DONE: u16 = 200;

/// The status of a request whose client closed the connection before the response. No response has it.
const CLIENT_CLOSED: u16 = 499;

impl RecordedStatus {
    /// That of a success, or of a refusal to which the API gives the answer `status`.
    pub(super) fn of(refusal: Option<&Refusal>, status: fn(&Refusal) -> AnswerStatus) -> Self {
        match refusal {
            None => Self { number: DONE, code: None, outcome: Outcome::Done },
            Some(Refusal::ClientLeft { .. }) => Self {
                number: CLIENT_CLOSED,
                code: Some(CLIENT_CLOSED_REQUEST),
                outcome: Outcome::Failed,
            },
            Some(refusal @ Refusal::DecryptionFailed) => {
                Self { outcome: Outcome::Failed, ..Self::refused(status(refusal)) }
            }
            Some(refusal) => Self::refused(status(refusal)),
        }
    }

    /// That of a request that was refused before an operation began.
    pub fn refused((number, code): AnswerStatus) -> Self {
        let outcome = if number >= 500 { Outcome::Failed } else { Outcome::Refused };
        Self { number, code: Some(code), outcome }
    }
}

//! Checks that several resources share.

use crate::clock::Timestamp;
use crate::problem::{Code, Problem, Problems};

use super::Error;

/// The value that a request made, if nothing was wrong with it.
pub(super) fn checked<T>(problems: Problems, value: Option<T>) -> Result<T, Error> {
    match value {
        Some(value) if problems.is_empty() => Ok(value),
        _ => Err(problems.into()),
    }
}

/// Checks that a resource expires in the future, unless its expiry does not change.
pub(super) fn expiry(
    problems: &mut Problems,
    now: Timestamp,
    before: Option<Timestamp>,
    after: Option<Timestamp>,
) {
    if after.is_some_and(|expiry| expiry <= now) && after != before {
        let message = "must be in the future";
        problems.note(Problem::new("expiresAt", Code::Range, message));
    }
}

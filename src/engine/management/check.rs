//! Checks that several resources share.

use crate::resource::Member;
use formats::clock::Timestamp;
use formats::problem::{Code, Problem, Problems};

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
    expires_at: &Member<Option<Timestamp>>,
) {
    if let Member::Given(Some(expiry)) = expires_at
        && *expiry <= now
        && Some(*expiry) != before
    {
        let message = "must be in the future";
        problems.note(Problem::new("expiresAt", Code::Range, message));
    }
}

//! Checks the audit log against the responses.

use std::collections::HashMap;

use super::{Guarantee, Violation, line};
use crate::chaos::history::{Answer, Attempt, History, Outcome, Row, State};

pub(super) fn check(history: &History) -> Vec<Violation> {
    let mut rows: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in &history.rows {
        rows.entry(&row.request_id).or_default().push(row);
    }
    let mut found = Vec::new();
    for attempt in &history.attempts {
        let own = rows.remove(attempt.nonce.as_str()).unwrap_or_default();
        found.extend(of_attempt(history, attempt, &own));
    }
    let unknown = rows.into_values().flatten();
    found.extend(unknown.map(|row| Guarantee::NothingInvented.violated(format!("{row:?}"))));
    found
}

fn of_attempt(history: &History, attempt: &Attempt, rows: &[&Row]) -> Option<Violation> {
    let details = || format!("{}; rows: {rows:?}", line(attempt));
    if rows.len() > 1 {
        return Some(Guarantee::AuditedOnce.violated(details()));
    }
    match (&attempt.outcome, rows) {
        (Outcome::NotSent, [_, ..]) => Some(Guarantee::NothingInvented.violated(details())),
        (Outcome::Answered(answer), []) if is_recorded(history, attempt, answer) => {
            Some(Guarantee::Audited.violated(details()))
        }
        (Outcome::Answered(answer), [row, ..])
            if is_recorded(history, attempt, answer)
                && !is_record_of(history, attempt, answer, row) =>
        {
            Some(Guarantee::Audited.violated(details()))
        }
        _ => None,
    }
}

/// Whether the response requires a record. A 503 response can have none or one with the intended
/// result. Only some unauthenticated requests have a record.
fn is_recorded(history: &History, attempt: &Attempt, answer: &Answer) -> bool {
    let is_unauthenticated = match answer.status {
        401 => true,
        429 => {
            let key = &history.api_keys[attempt.api_key];
            key.possible(attempt.span, attempt.at).contains(&State::Refusing)
        }
        _ => false,
    };
    answer.status != 503 && !is_unauthenticated
}

/// A rate-limited request has no operation, because its body is not parsed.
fn is_record_of(history: &History, attempt: &Attempt, answer: &Answer, row: &Row) -> bool {
    let application = &history.applications[attempt.application].id;
    let operation = row.operation.as_deref();
    let is_unread = answer.status == 429 && operation.is_none();
    row.status == answer.status
        && row.application.as_ref() == Some(application)
        && (operation == Some(attempt.call.operation()) || is_unread)
}

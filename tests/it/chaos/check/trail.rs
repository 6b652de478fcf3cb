//! The trail against what was answered.

use std::collections::HashMap;

use super::{Promise, Violation, line};
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
    let strange = rows.into_values().flatten();
    found.extend(strange.map(|row| Promise::NothingInvented.broken(format!("{row:?}"))));
    found
}

fn of_attempt(history: &History, attempt: &Attempt, rows: &[&Row]) -> Option<Violation> {
    let told = || format!("{}; rows: {rows:?}", line(attempt));
    if rows.len() > 1 {
        return Some(Promise::AuditedOnce.broken(told()));
    }
    match (&attempt.outcome, rows) {
        (Outcome::NotSent, [_, ..]) => Some(Promise::NothingInvented.broken(told())),
        (Outcome::Answered(answer), []) if is_recorded(history, attempt, answer) => {
            Some(Promise::Audited.broken(told()))
        }
        (Outcome::Answered(answer), [row, ..])
            if is_recorded(history, attempt, answer) && !tells(history, attempt, answer, row) =>
        {
            Some(Promise::Audited.broken(told()))
        }
        _ => None,
    }
}

/// Whether an answer leaves only with its record. One that is 503 may have none, or one that tells
/// what would have been answered; of nobody's requests only some are recorded.
fn is_recorded(history: &History, attempt: &Attempt, answer: &Answer) -> bool {
    let is_of_nobody = match answer.status {
        401 => true,
        429 => {
            let key = &history.api_keys[attempt.api_key];
            key.possible(attempt.span, attempt.at)
                .contains(&State::Refusing)
        }
        _ => false,
    };
    answer.status != 503 && !is_of_nobody
}

/// Over the limit, nobody looks into the body for what was asked.
fn tells(history: &History, attempt: &Attempt, answer: &Answer, row: &Row) -> bool {
    let application = &history.applications[attempt.application].id;
    let operation = row.operation.as_deref();
    let is_unread = answer.status == 429 && operation.is_none();
    row.status == answer.status
        && row.application.as_ref() == Some(application)
        && (operation == Some(attempt.asked.operation()) || is_unread)
}

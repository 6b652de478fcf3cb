//! Checks each response against the possible states at its time.

use super::{Guarantee, Violation, line};
use crate::chaos::history::{Answer, Asked, Attempt, Gave, History, Outcome, State, Timeline};

pub(super) fn check(history: &History, attempt: &Attempt) -> Option<Violation> {
    let answer = match &attempt.outcome {
        Outcome::NotSent | Outcome::Lost => return None,
        Outcome::Silence => return Some(Guarantee::Answered.broken(line(attempt))),
        Outcome::Answered(answer) => answer,
    };
    let broken = |guarantee: Guarantee, why: &str| {
        let evidence = format!("{why}: {}; {}", line(attempt), story(history, attempt));
        Some(guarantee.broken(evidence))
    };
    if let Some(stray) = &answer.stray {
        return broken(Guarantee::Faithful, stray);
    }
    if let Gave::Wrong(what) = &answer.gave {
        return broken(Guarantee::Faithful, what);
    }
    // The request of a revoked key is unauthenticated, and authentication precedes all other checks.
    let of_api_key = states(&history.api_keys[attempt.api_key], attempt);
    let is_somebody = of_api_key.contains(&State::Active);
    let is_nobody = of_api_key.contains(&State::Refusing);
    let is_limited = history.applications[attempt.application].limit.is_some();
    match answer.status {
        // Whether 503 had a cause is checked elsewhere. The response disclosed nothing.
        503 => None,
        401 if is_nobody => None,
        401 => broken(Guarantee::ChangesHold, "a good API key was refused"),
        429 if is_limited || is_nobody => None,
        429 => broken(Guarantee::Limited, "refused below the limit"),
        _ if !is_somebody => broken(Guarantee::ChangesHold, "a revoked API key was taken"),
        400 | 500 if is_of_token(history, attempt, answer) => None,
        _ => of_somebody(history, attempt, answer)
            .and_then(|(guarantee, why)| broken(guarantee, why)),
    }
}

/// The violation of a response that concerns neither authentication nor availability.
fn of_somebody(
    history: &History,
    attempt: &Attempt,
    answer: &Answer,
) -> Option<(Guarantee, &'static str)> {
    let code = answer.code.as_deref();
    let (allowed, guarantee) = match attempt.asked {
        Asked::ForeignPolicy { .. } => {
            (code == Some("OPERATION_NOT_ALLOWED"), Guarantee::KeptApart)
        }
        Asked::ForeignKey { .. } => (code == Some("KEY_NOT_FOUND"), Guarantee::KeptApart),
        Asked::Hash => (answer.gave == Gave::Right, Guarantee::ChangesHold),
        Asked::Protect { policy } => {
            let mut states = states(&history.policies[policy], attempt).into_iter();
            let fits = states.any(|state| match state {
                State::Active => answer.gave == Gave::Envelope,
                State::Refusing => code == Some("POLICY_NOT_ACTIVE"),
                State::PassingThrough => answer.gave == Gave::PassedThrough,
                State::Dropping => answer.gave == Gave::Dropped,
                State::Gone => code == Some("POLICY_NOT_FOUND"),
            });
            (fits, Guarantee::ChangesHold)
        }
        // Envelopes stay readable while their policy exists.
        Asked::Unprotect { policy } => {
            let mut states = states(&history.policies[policy], attempt).into_iter();
            let fits = states.any(|state| match state {
                State::Gone => code == Some("POLICY_NOT_FOUND"),
                _ => answer.gave == Gave::Right,
            });
            (fits, Guarantee::ChangesHold)
        }
        Asked::Encrypt { key }
        | Asked::Decrypt { key }
        | Asked::Sign { key }
        | Asked::Verify { key } => {
            let mut states = states(&history.keys[key], attempt).into_iter();
            let fits = states.any(|state| match state {
                State::Active => answer.gave == Gave::Right,
                _ => code == Some("OPERATION_NOT_ALLOWED"),
            });
            (fits, Guarantee::ChangesHold)
        }
    };
    (!allowed).then_some((guarantee, "not what could be answered then"))
}

fn states(timeline: &Timeline, attempt: &Attempt) -> Vec<State> {
    timeline.possible(attempt.span, attempt.at)
}

/// Whether the error can come from the token, which returns it like any cryptographic failure.
fn is_of_token(history: &History, attempt: &Attempt, answer: &Answer) -> bool {
    let mut faults = history.token_faults.iter();
    let code = match attempt.asked {
        // A broken device and a wrong tag return the same error.
        Asked::Decrypt { .. } if answer.status == 400 => "DECRYPTION_FAILED",
        _ => "INTERNAL_ERROR",
    };
    answer.code.as_deref() == Some(code)
        && attempt.asked.needs_token()
        && faults.any(|fault| fault.meets(attempt.span))
}

/// The changes of the resources that the request depends on, as evidence.
fn story(history: &History, attempt: &Attempt) -> String {
    let of_asked = match attempt.asked {
        Asked::Hash => None,
        Asked::Protect { policy }
        | Asked::Unprotect { policy }
        | Asked::ForeignPolicy { policy } => Some(&history.policies[policy]),
        Asked::Encrypt { key }
        | Asked::Decrypt { key }
        | Asked::Sign { key }
        | Asked::Verify { key }
        | Asked::ForeignKey { key } => Some(&history.keys[key]),
    };
    let all = [Some(&history.api_keys[attempt.api_key]), of_asked];
    let told = all.into_iter().flatten().map(|timeline| {
        let latest = timeline.changes.iter().rev();
        let latest = latest.filter(|it| it.began <= attempt.span.to).take(3);
        format!("{}: {:?}", timeline.name, latest.collect::<Vec<_>>())
    });
    told.collect::<Vec<_>>().join(", ")
}

//! Checks each response against the possible states at its time.

use super::{Guarantee, Violation, line};
use crate::chaos::history::{Answer, Attempt, Call, Content, History, Outcome, State, Timeline};

pub(super) fn check(history: &History, attempt: &Attempt) -> Option<Violation> {
    let answer = match &attempt.outcome {
        Outcome::NotSent | Outcome::Lost => return None,
        Outcome::Silence => return Some(Guarantee::Answered.violated(line(attempt))),
        Outcome::Answered(answer) => answer,
    };
    let violated = |guarantee: Guarantee, why: &str| {
        let evidence = format!("{why}: {}; {}", line(attempt), resource_history(history, attempt));
        Some(guarantee.violated(evidence))
    };
    if let Some(stray) = &answer.stray {
        return violated(Guarantee::Faithful, stray);
    }
    if let Content::Wrong(what) = &answer.content {
        return violated(Guarantee::Faithful, what);
    }
    // The request of a revoked key is unauthenticated, and authentication precedes all other checks.
    let of_api_key = states(&history.api_keys[attempt.api_key], attempt);
    let can_be_active = of_api_key.contains(&State::Active);
    let can_be_revoked = of_api_key.contains(&State::Refusing);
    let is_limited = history.applications[attempt.application].limit.is_some();
    match answer.status {
        // Whether 503 had a cause is checked elsewhere. The response disclosed nothing.
        503 => None,
        401 if can_be_revoked => None,
        401 => violated(Guarantee::ChangesHold, "a valid API key was refused"),
        429 if is_limited || can_be_revoked => None,
        429 => violated(Guarantee::Limited, "refused below the limit"),
        _ if !can_be_active => violated(Guarantee::ChangesHold, "a revoked API key was accepted"),
        400 | 500 if is_of_token(history, attempt, answer) => None,
        _ => check_authenticated(history, attempt, answer)
            .and_then(|(guarantee, why)| violated(guarantee, why)),
    }
}

/// The violation of a response that concerns neither authentication nor availability.
fn check_authenticated(
    history: &History,
    attempt: &Attempt,
    answer: &Answer,
) -> Option<(Guarantee, &'static str)> {
    let code = answer.code.as_deref();
    let (allowed, guarantee) = match attempt.call {
        Call::ForeignPolicy { .. } => (code == Some("OPERATION_NOT_ALLOWED"), Guarantee::Isolated),
        Call::ForeignKey { .. } => (code == Some("KEY_NOT_FOUND"), Guarantee::Isolated),
        Call::Hash => (answer.content == Content::Correct, Guarantee::ChangesHold),
        Call::Protect { policy } => {
            let mut states = states(&history.policies[policy], attempt).into_iter();
            let fits = states.any(|state| match state {
                State::Active => answer.content == Content::Envelope,
                State::Refusing => code == Some("POLICY_NOT_ACTIVE"),
                State::PassingThrough => answer.content == Content::PassedThrough,
                State::Dropping => answer.content == Content::Dropped,
                State::Gone => code == Some("POLICY_NOT_FOUND"),
            });
            (fits, Guarantee::ChangesHold)
        }
        // Envelopes stay readable while their policy exists.
        Call::Unprotect { policy } => {
            let mut states = states(&history.policies[policy], attempt).into_iter();
            let fits = states.any(|state| match state {
                State::Gone => code == Some("POLICY_NOT_FOUND"),
                _ => answer.content == Content::Correct,
            });
            (fits, Guarantee::ChangesHold)
        }
        Call::Encrypt { key }
        | Call::Decrypt { key }
        | Call::Sign { key }
        | Call::Verify { key } => {
            let mut states = states(&history.keys[key], attempt).into_iter();
            let fits = states.any(|state| match state {
                State::Active => answer.content == Content::Correct,
                _ => code == Some("OPERATION_NOT_ALLOWED"),
            });
            (fits, Guarantee::ChangesHold)
        }
    };
    (!allowed).then_some((guarantee, "the response matches no possible state"))
}

fn states(timeline: &Timeline, attempt: &Attempt) -> Vec<State> {
    timeline.possible(attempt.span, attempt.at)
}

/// Whether the error can come from the token, which returns it like any cryptographic failure.
fn is_of_token(history: &History, attempt: &Attempt, answer: &Answer) -> bool {
    let mut faults = history.token_faults.iter();
    let code = match attempt.call {
        // A broken device and a wrong tag return the same error.
        Call::Decrypt { .. } if answer.status == 400 => "DECRYPTION_FAILED",
        _ => "INTERNAL_ERROR",
    };
    answer.code.as_deref() == Some(code)
        && attempt.call.needs_token()
        && faults.any(|fault| fault.meets(attempt.span))
}

/// The changes of the resources that the request depends on, as evidence.
fn resource_history(history: &History, attempt: &Attempt) -> String {
    let target = match attempt.call {
        Call::Hash => None,
        Call::Protect { policy } | Call::Unprotect { policy } | Call::ForeignPolicy { policy } => {
            Some(&history.policies[policy])
        }
        Call::Encrypt { key }
        | Call::Decrypt { key }
        | Call::Sign { key }
        | Call::Verify { key }
        | Call::ForeignKey { key } => Some(&history.keys[key]),
    };
    let all = [Some(&history.api_keys[attempt.api_key]), target];
    let details = all.into_iter().flatten().map(|timeline| {
        let latest = timeline.changes.iter().rev();
        let latest = latest.filter(|it| it.began <= attempt.span.to).take(3);
        format!("{}: {:?}", timeline.name, latest.collect::<Vec<_>>())
    });
    details.collect::<Vec<_>>().join(", ")
}

//! Each answer against what could be true while it was decided.

use super::{Promise, Violation, line};
use crate::chaos::history::{Answer, Asked, Attempt, Gave, History, Outcome, State, Timeline};

pub(super) fn check(history: &History, attempt: &Attempt) -> Option<Violation> {
    let answer = match &attempt.outcome {
        Outcome::NotSent | Outcome::Lost => return None,
        Outcome::Silence => return Some(Promise::Answered.broken(line(attempt))),
        Outcome::Answered(answer) => answer,
    };
    let broken = |promise: Promise, why: &str| {
        let evidence = format!("{why}: {}; {}", line(attempt), story(history, attempt));
        Some(promise.broken(evidence))
    };
    if let Some(stray) = &answer.stray {
        return broken(Promise::Faithful, stray);
    }
    if let Gave::Wrong(what) = &answer.gave {
        return broken(Promise::Faithful, what);
    }
    // With the key revoked there is nobody, and nobody's fault goes before all others.
    let of_api_key = states(&history.api_keys[attempt.api_key], attempt);
    let is_somebody = of_api_key.contains(&State::Active);
    let is_nobody = of_api_key.contains(&State::Refusing);
    let is_limited = history.applications[attempt.application].limit.is_some();
    match answer.status {
        // Whether that had a cause is for those who look at the whole: it gave nothing away.
        503 => None,
        401 if is_nobody => None,
        401 => broken(Promise::ChangesHold, "a good API key was refused"),
        429 if is_limited || is_nobody => None,
        429 => broken(Promise::Limited, "refused below the limit"),
        _ if !is_somebody => broken(Promise::ChangesHold, "a revoked API key was taken"),
        400 | 500 if is_of_token(history, attempt, answer) => None,
        _ => of_somebody(history, attempt, answer).and_then(|(promise, why)| broken(promise, why)),
    }
}

/// What is wrong with an answer that is neither about the caller nor about the service itself.
fn of_somebody(
    history: &History,
    attempt: &Attempt,
    answer: &Answer,
) -> Option<(Promise, &'static str)> {
    let code = answer.code.as_deref();
    let (allowed, promise) = match attempt.asked {
        Asked::ForeignPolicy { .. } => (code == Some("OPERATION_NOT_ALLOWED"), Promise::KeptApart),
        Asked::ForeignKey { .. } => (code == Some("KEY_NOT_FOUND"), Promise::KeptApart),
        Asked::Hash => (answer.gave == Gave::Right, Promise::ChangesHold),
        Asked::Protect { policy } => {
            let mut states = states(&history.policies[policy], attempt).into_iter();
            let fits = states.any(|state| match state {
                State::Active => answer.gave == Gave::Envelope,
                State::Refusing => code == Some("POLICY_NOT_ACTIVE"),
                State::PassingThrough => answer.gave == Gave::PassedThrough,
                State::Dropping => answer.gave == Gave::Dropped,
                State::Gone => code == Some("POLICY_NOT_FOUND"),
            });
            (fits, Promise::ChangesHold)
        }
        // What was protected stays readable while its policy is there.
        Asked::Unprotect { policy } => {
            let mut states = states(&history.policies[policy], attempt).into_iter();
            let fits = states.any(|state| match state {
                State::Gone => code == Some("POLICY_NOT_FOUND"),
                _ => answer.gave == Gave::Right,
            });
            (fits, Promise::ChangesHold)
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
            (fits, Promise::ChangesHold)
        }
    };
    (!allowed).then_some((promise, "not what could be answered then"))
}

fn states(timeline: &Timeline, attempt: &Attempt) -> Vec<State> {
    timeline.possible(attempt.span, attempt.at)
}

/// Whether the error may be one of the token's own, which is told as any failure of crypto is.
fn is_of_token(history: &History, attempt: &Attempt, answer: &Answer) -> bool {
    let mut faults = history.token_faults.iter();
    let code = match attempt.asked {
        // A broken device and a wrong tag are the same to whoever asks a token.
        Asked::Decrypt { .. } if answer.status == 400 => "DECRYPTION_FAILED",
        _ => "INTERNAL_ERROR",
    };
    answer.code.as_deref() == Some(code)
        && attempt.asked.needs_token()
        && faults.any(|fault| fault.meets(attempt.span))
}

/// How what the request depends on was changed, as far as it may matter.
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

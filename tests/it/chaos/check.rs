//! Tests of the checker with constructed histories: valid ones, and ones with exactly one violation.

mod audit_log;
mod limits;
mod sealed;

use std::time::Duration;

use testkit::chaos::check::{Guarantee, violations};
use testkit::chaos::history::{
    Answer, Application, Attempt, Call, Change, Content, History, Incarnation, Limit, Outcome, Row,
    Span, State, Timeline,
};

const HERE: Incarnation = Incarnation { place: 0, number: 1 };
const THERE: Incarnation = Incarnation { place: 1, number: 1 };

fn at(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn span(from: u64, to: u64) -> Span {
    Span { from: at(from), to: at(to) }
}

/// Two applications, the second with a limit, each with a key, a policy and an API key.
fn history() -> History {
    let application = |id: &str, limit| Application { id: id.to_owned(), limit };
    let limit = Limit { per_second: 10, burst: 5 };
    let two = |name: &str| vec![Timeline::new(name), Timeline::new(name)];
    History {
        applications: vec![application("svc_one", None), application("svc_two", Some(limit))],
        api_keys: two("API key"),
        policies: two("policy"),
        keys: two("key"),
        instances: 2,
        ..History::default()
    }
}

fn answered(status: u16, code: Option<&str>, content: Content) -> Outcome {
    Outcome::Answered(Answer { status, code: code.map(str::to_owned), content, stray: None })
}

fn envelope() -> Outcome {
    answered(200, None, Content::Envelope)
}

fn correct() -> Outcome {
    answered(200, None, Content::Correct)
}

fn refused(status: u16, code: &str) -> Outcome {
    answered(status, Some(code), Content::Nothing)
}

/// Builds and checks histories.
trait Constructed {
    fn with(self, span: Span, at: Incarnation, call: Call, outcome: Outcome) -> Self;
    fn without_row(self, span: Span, at: Incarnation, call: Call, outcome: Outcome) -> Self;
    fn is_valid(&self);
    fn violates(&self, guarantee: Guarantee);
}

impl Constructed for History {
    /// Adds a request of the first application with its record.
    fn with(mut self, span: Span, at: Incarnation, call: Call, outcome: Outcome) -> Self {
        let row = match &outcome {
            Outcome::Answered(answer) if answer.status != 503 => Some(Row {
                request_id: format!("n{}", self.attempts.len()),
                application: Some("svc_one".to_owned()),
                operation: Some(call.operation().to_owned()),
                status: answer.status,
            }),
            _ => None,
        };
        self.rows.extend(row);
        self.without_row(span, at, call, outcome)
    }

    fn without_row(mut self, span: Span, at: Incarnation, call: Call, outcome: Outcome) -> Self {
        self.attempts.push(Attempt {
            nonce: format!("n{}", self.attempts.len()),
            at,
            span,
            application: 0,
            api_key: 0,
            call,
            outcome,
        });
        self
    }

    #[track_caller]
    fn is_valid(&self) {
        let found = violations(self);
        assert!(found.is_empty(), "{found:#?}");
    }

    #[track_caller]
    fn violates(&self, guarantee: Guarantee) {
        let found: Vec<_> = violations(self).iter().map(|it| it.guarantee).collect();
        assert_eq!(found, [guarantee]);
    }
}

const PROTECT: Call = Call::Protect { policy: 0 };
const UNPROTECT: Call = Call::Unprotect { policy: 0 };
const ENCRYPT: Call = Call::Encrypt { key: 0 };

#[test]
fn a_history_with_matching_records_is_valid() {
    history()
        .with(span(0, 10), HERE, PROTECT, envelope())
        .with(span(0, 10), HERE, UNPROTECT, correct())
        .with(span(0, 10), HERE, ENCRYPT, correct())
        .with(span(0, 10), THERE, Call::Hash, correct())
        .is_valid();
}

/// A change by the first instance between 1.0 and 1.1 seconds.
fn change(to: State) -> Change {
    Change { to, began: at(1_000), confirmed: Some(at(1_100)), by: Some(HERE) }
}

#[test]
fn a_success_after_a_revocation_is_detected_immediately_on_its_instance_and_after_a_second_on_others()
 {
    let revoked = || {
        let mut history = history();
        history.api_keys[0].changes.push(change(State::Refusing));
        history
    };
    let protect =
        |from, instance| revoked().with(span(from, from + 5), instance, PROTECT, envelope());
    protect(1_050, HERE).is_valid();
    protect(1_101, HERE).violates(Guarantee::ChangesHold);
    protect(2_050, THERE).is_valid();
    protect(2_101, THERE).violates(Guarantee::ChangesHold);
    // The same place, but another process.
    let restarted = Incarnation { number: 2, ..HERE };
    protect(2_050, restarted).is_valid();
    // It is unknown which instance made the change, or whether it was made.
    let mut unknown = protect(2_050, HERE);
    unknown.api_keys[0].changes[0].by = None;
    unknown.is_valid();
    unknown.api_keys[0].changes[0].confirmed = None;
    unknown.is_valid();
}

#[test]
fn a_refused_valid_key_is_detected() {
    let refused = |from| {
        let mut history = history().without_row(
            span(from, from + 5),
            HERE,
            PROTECT,
            refused(401, "AUTHENTICATION_FAILED"),
        );
        history.api_keys[0].changes.push(change(State::Refusing));
        history
    };
    refused(900).violates(Guarantee::ChangesHold);
    refused(1_050).is_valid();
    refused(5_000).is_valid();
}

#[test]
fn a_response_that_matches_no_state_of_its_policy_is_detected() {
    let outcomes = [
        (State::Active, envelope()),
        (State::Refusing, refused(403, "POLICY_NOT_ACTIVE")),
        (State::PassingThrough, answered(200, None, Content::PassedThrough)),
        (State::Dropping, answered(200, None, Content::Dropped)),
        (State::Gone, refused(404, "POLICY_NOT_FOUND")),
    ];
    for (state, _) in &outcomes {
        for (fitting, outcome) in &outcomes {
            let mut history = history().with(span(2_200, 2_210), THERE, PROTECT, outcome.clone());
            history.policies[0].changes.push(change(*state));
            if state == fitting {
                history.is_valid();
            } else {
                history.violates(Guarantee::ChangesHold);
            }
        }
    }
}

#[test]
fn the_use_of_a_disabled_key_is_detected() {
    let disabled = |call, outcome| {
        let mut history = history().with(span(2_200, 2_210), THERE, call, outcome);
        history.keys[0].changes.push(change(State::Refusing));
        history
    };
    for call in [ENCRYPT, Call::Decrypt { key: 0 }, Call::Sign { key: 0 }, Call::Verify { key: 0 }]
    {
        disabled(call, correct()).violates(Guarantee::ChangesHold);
        disabled(call, refused(403, "OPERATION_NOT_ALLOWED")).is_valid();
    }
}

#[test]
fn the_use_of_resources_of_another_service_is_detected() {
    let policy = Call::ForeignPolicy { policy: 1 };
    let key = Call::ForeignKey { key: 1 };
    for (call, outcome) in [(policy, envelope()), (key, correct())] {
        history().with(span(0, 10), HERE, call, outcome).violates(Guarantee::Isolated);
    }
    history()
        .with(span(0, 10), HERE, policy, refused(403, "OPERATION_NOT_ALLOWED"))
        .with(span(0, 10), HERE, key, refused(404, "KEY_NOT_FOUND"))
        .is_valid();
}

#[test]
fn a_wrong_plaintext_is_detected() {
    let wrong = answered(200, None, Content::Wrong("another plaintext".to_owned()));
    history().with(span(0, 10), HERE, UNPROTECT, wrong).violates(Guarantee::Faithful);
    let mut stray = history().with(span(0, 10), HERE, UNPROTECT, correct());
    let Outcome::Answered(answer) = &mut stray.attempts[0].outcome else {
        unreachable!("it was answered");
    };
    answer.stray = Some("the name of another request".to_owned());
    stray.violates(Guarantee::Faithful);
}

#[test]
fn a_cryptographic_error_requires_a_token_fault() {
    let failed = || history().with(span(500, 510), HERE, UNPROTECT, refused(500, "INTERNAL_ERROR"));
    failed().violates(Guarantee::ChangesHold);
    let mut explained = failed();
    explained.token_faults.push(span(400, 505));
    explained.is_valid();
    explained.attempts[0].call = PROTECT;
    explained.rows[0].operation = Some("encrypt".to_owned());
    explained.violates(Guarantee::ChangesHold);
}

#[test]
fn a_missing_response_is_detected() {
    history()
        .without_row(span(0, 30_000), HERE, PROTECT, Outcome::Silence)
        .violates(Guarantee::Answered);
}

//! Responses and records that do not match.

use super::{
    Constructed as _, HERE, PROTECT, UNPROTECT, correct, envelope, history, refused, span,
};
use testkit::chaos::check::Guarantee;
use testkit::chaos::history::{Call, Outcome, Row};

#[test]
fn a_success_without_a_record_is_detected() {
    for (call, outcome) in [(PROTECT, envelope()), (UNPROTECT, correct())] {
        history().without_row(span(0, 10), HERE, call, outcome).violates(Guarantee::Audited);
    }
}

#[test]
fn a_refusal_without_a_record_is_detected() {
    let foreign = Call::ForeignKey { key: 1 };
    history()
        .without_row(span(0, 10), HERE, foreign, refused(404, "KEY_NOT_FOUND"))
        .violates(Guarantee::Audited);
}

#[test]
fn a_record_with_another_result_is_detected() {
    type Falsify = fn(&mut Row);
    let falsify: [Falsify; 3] = [
        |row| row.status = 500,
        |row| row.application = Some("svc_two".to_owned()),
        |row| row.operation = Some("hash".to_owned()),
    ];
    for falsify in falsify {
        let mut history = history().with(span(0, 10), HERE, PROTECT, envelope());
        falsify(&mut history.rows[0]);
        history.violates(Guarantee::Audited);
    }
}

#[test]
fn a_second_record_is_detected_for_every_response() {
    for outcome in [envelope(), Outcome::Lost, refused(503, "SERVICE_UNAVAILABLE")] {
        let mut history = history().without_row(span(0, 10), HERE, PROTECT, outcome);
        let row = Row {
            request_id: "n0".to_owned(),
            application: Some("svc_one".to_owned()),
            operation: Some("encrypt".to_owned()),
            status: 200,
        };
        history.rows = vec![row.clone(), row];
        history.violates(Guarantee::AuditedOnce);
    }
}

#[test]
fn a_request_with_an_unknown_result_can_have_one_record() {
    let row = Row {
        request_id: "n0".to_owned(),
        application: Some("svc_one".to_owned()),
        operation: Some("encrypt".to_owned()),
        status: 200,
    };
    for outcome in [Outcome::Lost, refused(503, "SERVICE_UNAVAILABLE")] {
        let mut history = history().without_row(span(0, 10), HERE, PROTECT, outcome);
        history.is_valid();
        history.rows.push(row.clone());
        history.is_valid();
    }
}

#[test]
fn a_record_without_a_request_is_detected() {
    let mut invented = history().with(span(0, 10), HERE, PROTECT, envelope());
    invented.rows.push(Row { request_id: "never-sent".to_owned(), ..invented.rows[0].clone() });
    invented.violates(Guarantee::NothingInvented);
    let mut unsent = history().without_row(span(0, 10), HERE, PROTECT, Outcome::NotSent);
    unsent.is_valid();
    unsent.rows = invented.rows;
    unsent.rows.truncate(1);
    unsent.violates(Guarantee::NothingInvented);
}

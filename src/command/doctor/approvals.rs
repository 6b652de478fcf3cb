//! The people who can approve changes.

use std::fmt::Write as _;

use serde_json::{Value, json};

use engine::db::Pool;
use engine::management::changes::{Shortage, shortage};
use engine::settings::Approvals;
use formats::clock::Clock;

/// The kinds of change for which there are too few people; none if the database does not show them.
pub(super) async fn check(pool: Option<&Pool>, settings: &Approvals) -> Option<Vec<Shortage>> {
    shortage(pool?, Clock::system().now(), settings).await.ok()
}

pub(super) fn as_json(found: Option<&[Shortage]>) -> Value {
    let all = found.map(|found| {
        let each = found.iter().map(|shortage| {
            json!({ "kind": shortage.kind, "people": shortage.people, "needed": shortage.needed })
        });
        each.collect::<Vec<_>>()
    });
    json!({ "tooFewPeople": all })
}

pub(super) fn text(found: Option<&[Shortage]>) -> String {
    let found = found.unwrap_or_default();
    if found.is_empty() {
        return String::new();
    }
    let mut page = String::from("Approvals\n");
    for Shortage { kind, people, needed } in found {
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "  {kind} needs {needed} people with the role; admin keys name {people}: no change of this \
             kind can be approved"
        );
    }
    page.push('\n');
    page
}

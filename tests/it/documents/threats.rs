//! docs/threats.md and docs/reliability.md name existing tests for each of their claims, and the pages on
//! security stay short enough to read.

use std::fs;
use std::path::Path;

use super::markdown::{Document, code_spans, top};

/// The document of the threats.
const THREATS: &str = "docs/threats.md";

/// The most characters of a cell of docs/threats.md, besides the names of tests.
const LONGEST_CELL: usize = 200;

/// The most lines of SECURITY.md, and the most characters of each.
const LONGEST_POLICY: usize = 150;
const LONGEST_LINE: usize = 160;

#[test]
fn every_defence_names_existing_tests() {
    let document = Document::read(THREATS);
    assert_tests_exist(threats(&document).iter().map(|[_, attack, _, tests]| (attack, tests)));
}

#[test]
fn every_cell_of_a_threat_is_short() {
    let document = Document::read(THREATS);
    let mut wrong = Vec::new();
    for [attacker, attack, defence, tests] in threats(&document) {
        let besides_names: String = tests.split('`').step_by(2).collect();
        let cells = [(attacker, 1), (attack, 1), (defence, 1), (&besides_names, 0)];
        for (cell, fewest) in cells {
            let length = cell.chars().count();
            if !(fewest..=LONGEST_CELL).contains(&length) {
                wrong.push(format!("{attack}: {length} characters: {cell}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_security_policy_is_short() {
    let policy = Document::read("SECURITY.md");
    let lines = policy.text.lines().count();
    assert!(lines <= LONGEST_POLICY, "{lines} lines");
    for line in policy.text.lines() {
        assert!(line.chars().count() <= LONGEST_LINE, "{line}");
    }
}

#[test]
fn every_failure_names_existing_tests() {
    let document = Document::read("docs/reliability.md");
    let rows = document.rows_under("Failure behaviour");
    assert!(rows.len() > 10, "no table of failures");
    assert_tests_exist(rows.iter().map(|row| match row.as_slice() {
        [failure, _, tests] => (failure, tests),
        _ => panic!("a row must have three cells: {row:?}"),
    }));
}

/// The rows of all tables of docs/threats.md.
fn threats(document: &Document) -> Vec<[&str; 4]> {
    let rows = document.rows_under("Threats");
    assert!(rows.len() > 100, "no tables of threats");
    let cells = |row: Vec<_>| row.try_into().expect("a row must have four cells");
    rows.into_iter().map(cells).collect()
}

/// Checks that each claim names at least one test and that all of them exist.
fn assert_tests_exist<T: AsRef<str>>(claims: impl Iterator<Item = (T, T)>) {
    let mut wrong = Vec::new();
    for (claim, tests) in claims {
        let (claim, tests) = (claim.as_ref(), tests.as_ref());
        let spans: Vec<&str> = code_spans(tests).collect();
        if spans.is_empty() {
            wrong.push(format!("{claim}: names no test"));
        }
        for span in spans {
            let fault = match span.split_once("::") {
                Some((file, test)) => missing_test(Path::new(file), test),
                None => (!top().join(span).exists()).then(|| "does not exist".to_owned()),
            };
            wrong.extend(fault.map(|fault| format!("{claim}: {span} {fault}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The reason if `file` contains no test with this name.
fn missing_test(file: &Path, name: &str) -> Option<String> {
    let Ok(source) = fs::read_to_string(top().join(file)) else {
        return Some("names a missing file".to_owned());
    };
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let declared = [format!("fn {name}("), format!("async fn {name}(")];
    let place = lines.iter().position(|line| declared.iter().any(|start| line.starts_with(start)));
    let Some(place) = place else {
        return Some("names a missing function".to_owned());
    };
    let attributes = lines[..place].iter().rev();
    let has_attribute = attributes
        .take_while(|line| line.starts_with("#[") || line.starts_with("//"))
        .any(|line| line.contains("test"));
    // The macro makes a test for each token.
    let on_both = lines.contains(&"on_both_tokens! {") && lines.contains(&&*format!("{name},"));
    let is_test = has_attribute || on_both;
    (!is_test).then(|| "is not a test".to_owned())
}

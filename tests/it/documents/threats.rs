//! SECURITY.md and docs/reliability.md name existing tests for each of their claims.

use std::fs;
use std::path::Path;

use super::markdown::{Document, code_spans, top};

#[test]
fn every_defence_names_existing_tests() {
    let document = Document::read("SECURITY.md");
    let rows = document.rows_under("Threats and defences");
    assert!(rows.len() > 10, "no table of threats");
    assert_tests_exist(rows.iter().map(|row| match row.as_slice() {
        [_, attack, _, tests] => (attack, tests),
        _ => panic!("a row must have four cells: {row:?}"),
    }));
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
    let place = lines
        .iter()
        .position(|line| declared.iter().any(|start| line.starts_with(start)));
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

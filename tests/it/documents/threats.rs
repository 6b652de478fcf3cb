//! What SECURITY.md and docs/reliability.md claim is shown by tests that there are.

use std::fs;
use std::path::Path;

use super::markdown::{Document, code_spans, top};

#[test]
fn every_defence_names_a_test_that_shows_it() {
    let document = Document::read("SECURITY.md");
    let rows = document.rows_under("Threats and defences");
    assert!(rows.len() > 10, "the table of threats is gone");
    names_tests(rows.iter().map(|row| match row.as_slice() {
        [_, tried, _, shown] => (tried, shown),
        _ => panic!("a row has four cells: {row:?}"),
    }));
}

#[test]
fn every_fault_names_a_test_that_shows_what_happens() {
    let document = Document::read("docs/reliability.md");
    let rows = document.rows_under("Failure behaviour");
    assert!(rows.len() > 10, "the table of faults is gone");
    names_tests(rows.iter().map(|row| match row.as_slice() {
        [fails, _, shown] => (fails, shown),
        _ => panic!("a row has three cells: {row:?}"),
    }));
}

/// Of each claim, whose tests there are.
fn names_tests<T: AsRef<str>>(claims: impl Iterator<Item = (T, T)>) {
    let mut wrong = Vec::new();
    for (tried, shown) in claims {
        let (tried, shown) = (tried.as_ref(), shown.as_ref());
        let spans: Vec<&str> = code_spans(shown).collect();
        if spans.is_empty() {
            wrong.push(format!("{tried}: no test is named"));
        }
        for span in spans {
            let fault = match span.split_once("::") {
                Some((file, test)) => missing_test(Path::new(file), test),
                None => (!top().join(span).exists()).then(|| "is not there".to_owned()),
            };
            wrong.extend(fault.map(|fault| format!("{tried}: {span} {fault}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Why `file` has no test of that name, if it has none.
fn missing_test(file: &Path, name: &str) -> Option<String> {
    let Ok(source) = fs::read_to_string(top().join(file)) else {
        return Some("names a file that is not there".to_owned());
    };
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let declared = [format!("fn {name}("), format!("async fn {name}(")];
    let place = lines
        .iter()
        .position(|line| declared.iter().any(|start| line.starts_with(start)));
    let Some(place) = place else {
        return Some("names a function that is not there".to_owned());
    };
    let attributes = lines[..place].iter().rev();
    let is_test = attributes
        .take_while(|line| line.starts_with("#[") || line.starts_with("//"))
        .any(|line| line.contains("test"));
    (!is_test).then(|| "is no test".to_owned())
}

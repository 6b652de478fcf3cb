//! `docs/errors.md` knows every code there is, and no other.

use std::fs;

use super::markdown::{Document, top};

#[test]
fn every_code_is_explained_with_its_status() {
    let document = Document::read("docs/errors.md");
    let explained: Vec<(String, String)> = document
        .rows_under("Codes")
        .iter()
        .map(|row| {
            let [status, code, cause, remedy] = row.as_slice() else {
                panic!("a row has four cells: {row:?}");
            };
            assert!(!cause.is_empty() && !remedy.is_empty(), "{code}");
            (code.trim_matches('`').to_owned(), (*status).to_owned())
        })
        .collect();
    let mut codes = codes();
    assert!(codes.len() > 20, "the table in error_code.rs is gone");
    let mut sorted = explained;
    sorted.sort();
    codes.sort();
    assert_eq!(sorted, codes);
}

/// The codes and their statuses, from the one table that answers are made from.
fn codes() -> Vec<(String, String)> {
    let source = fs::read_to_string(top().join("src/http/error_code.rs")).expect("the table");
    let (_, table) = source.split_once("\ncodes! {\n").expect("the table");
    let (table, _) = table.split_once("\n}").expect("its end");
    let rows = table.lines().filter(|line| !line.trim().starts_with('"'));
    rows.map(|row| {
        let [_, code, status] = row.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("not a variant, a code and a status: {row}");
        };
        (code.to_owned(), number(status).to_owned())
    })
    .collect()
}

fn number(status: &str) -> &str {
    match status {
        "BAD_REQUEST" => "400",
        "UNAUTHORIZED" => "401",
        "FORBIDDEN" => "403",
        "NOT_FOUND" => "404",
        "METHOD_NOT_ALLOWED" => "405",
        "CONFLICT" => "409",
        "PRECONDITION_FAILED" => "412",
        "PAYLOAD_TOO_LARGE" => "413",
        "UNSUPPORTED_MEDIA_TYPE" => "415",
        "TOO_MANY_REQUESTS" => "429",
        "INTERNAL_SERVER_ERROR" => "500",
        "SERVICE_UNAVAILABLE" => "503",
        other => panic!("what is the number of {other}?"),
    }
}

//! `docs/errors.md` lists exactly the codes of the service, and its samples are real responses.

use std::fs;

use super::markdown::{Document, top};

#[test]
fn the_code_table_matches_the_source() {
    let document = Document::read("docs/errors.md");
    let explained: Vec<(String, String)> = document
        .rows_under("Codes")
        .iter()
        .map(|row| {
            let [status, code, cause, remedy] = row.as_slice() else {
                panic!("a row must have four cells: {row:?}");
            };
            assert!(!cause.is_empty() && !remedy.is_empty(), "{code}");
            (code.trim_matches('`').to_owned(), (*status).to_owned())
        })
        .collect();
    let mut codes = codes();
    assert!(codes.len() > 20, "no table in error_code.rs");
    let mut sorted = explained;
    sorted.sort();
    codes.sort();
    assert_eq!(sorted, codes);
}

/// A sample is checked by `commands.rs` if it is the output of a command. Here every sample must be
/// one, with its message in full.
#[test]
fn every_sample_is_the_complete_output_of_a_command_that_runs() {
    let document = Document::read("docs/errors.md");
    let blocks = document.blocks();
    let samples: Vec<usize> =
        (0..blocks.len()).filter(|&place| blocks[place].text.contains("\"message\"")).collect();
    assert!(!samples.is_empty(), "docs/errors.md contains no sample");
    for place in samples {
        let sample = &blocks[place];
        let command = place.checked_sub(1).map(|before| &blocks[before]);
        let line = sample.line;
        assert_eq!(sample.words, ["json", "output"], "line {line}");
        assert!(sample.follows, "line {line} follows no command");
        assert_eq!(command.expect("a command").words, ["sh", "run"]);
        for message in sample.text.split("\"message\"").skip(1) {
            let message = message.lines().next().unwrap_or_default();
            assert!(!message.contains('…'), "line {line}: {message}");
        }
    }
}

/// The codes and their statuses, from the table in the source.
fn codes() -> Vec<(String, String)> {
    let source = fs::read_to_string(top().join("src/http/error_code.rs")).expect("the table");
    let (_, table) = source.split_once("\ncodes! {\n").expect("the table");
    let (table, _) = table.split_once("\n}").expect("its end");
    let rows = table.lines().filter(|line| !line.trim().starts_with('"'));
    rows.map(|row| {
        let [_, code, status] = row.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("must be a variant, a code and a status: {row}");
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
        "REQUEST_TIMEOUT" => "408",
        "CONFLICT" => "409",
        "PRECONDITION_FAILED" => "412",
        "PAYLOAD_TOO_LARGE" => "413",
        "UNSUPPORTED_MEDIA_TYPE" => "415",
        "TOO_MANY_REQUESTS" => "429",
        "INTERNAL_SERVER_ERROR" => "500",
        "SERVICE_UNAVAILABLE" => "503",
        other => panic!("add the number of {other} here"),
    }
}

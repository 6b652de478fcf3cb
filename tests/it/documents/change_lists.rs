//! The lists of ARCHITECTURE.md that name the files of a change. Each list has an example in the
//! source. A list is complete if the files of the example are the files that it names.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::markdown::{Document, code_spans, top};

const PAGE: &str = "ARCHITECTURE.md";

/// The headings of the lists, with the words that are only in files of the example.
const EXAMPLES: [(&str, &[&str]); 7] = [
    ("An endpoint", &["data-keys", "data_keys", "DataKeyRequest"]),
    ("An algorithm", &["RsaPssSha512", "RSA-PSS-SHA512"]),
    ("A setting", &["max_batch_bytes"]),
    ("An error code", &["InvalidProtectedPayload", "INVALID_PROTECTED_PAYLOAD"]),
    ("A command", &["CheckConfig", "check_config", "check-config"]),
    ("A key state", &["PendingDestruction", "pending_destruction"]),
    ("A background job", &["TrafficSums", "traffic_sums"]),
];

#[test]
fn each_list_of_a_change_names_the_files_of_its_example() {
    let page = Document::read(PAGE);
    let sources = sources();
    let mut wrong = Vec::new();
    for (heading, words) in EXAMPLES {
        let contains = |path: &str| {
            let text = fs::read_to_string(top().join(path)).expect("a text file");
            words.iter().any(|word| text.contains(word))
        };
        let mut named = files(&page, heading);
        named.retain(|path| !path.ends_with('/'));
        assert!(named.len() > 2, "{heading} names {named:?}");
        for path in named.iter().filter(|path| !contains(path)) {
            wrong.push(format!("{heading}: {path} has no part of the example"));
        }
        // Other documents and tests can mention the example.
        for path in sources.iter().filter(|path| contains(path)) {
            if !named.contains(path.as_str()) {
                wrong.push(format!("{heading}: does not name {path}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_named_file_exists() {
    let page = Document::read(PAGE);
    let headings = page.text.lines().filter_map(|line| line.strip_prefix("### "));
    let mut count = 0;
    for heading in headings {
        for path in files(&page, heading) {
            assert!(top().join(path).exists(), "{heading}: {path} is missing");
            count += 1;
        }
    }
    assert!(count > 20, "{count} files");
}

/// The files that the items of a list name.
fn files<'p>(page: &'p Document, heading: &str) -> BTreeSet<&'p str> {
    let (_, section) = page
        .text
        .split_once(&format!("\n### {heading}\n"))
        .unwrap_or_else(|| panic!("{PAGE} has no list {heading:?}"));
    let section = section.split("\n#").next().unwrap_or_default();
    code_spans(section)
        .filter(|span| {
            let is_source = ["src/", "hsm/", "tests/", "docs/", "migrations/"];
            is_source.iter().any(|folder| span.starts_with(folder)) && !span.contains('…')
        })
        .collect()
}

/// The source files and the migrations.
fn sources() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["src", "hsm/src", "migrations"] {
        add_files(&mut found, &top().join(folder));
    }
    assert!(found.len() > 300, "{} source files", found.len());
    found
}

fn add_files(found: &mut Vec<String>, folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            add_files(found, &path);
        } else if path.extension().is_none_or(|extension| extension != "md") {
            let path = path.strip_prefix(top()).expect("a path of this repository");
            found.push(path.to_str().expect("a name").to_owned());
        }
    }
}

//! docs/transit.md lists the clients that `./dev verify transit` runs, with the versions that it installs.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::markdown::{Document, code_spans, top};

/// The files with the versions of the clients.
const MANIFESTS: [&str; 6] = [
    "setup",
    "go/go.mod",
    "java/pom.xml",
    "node/package.json",
    "python/requirements.txt",
    "rust/Cargo.toml",
];

fn folder() -> PathBuf {
    top().join("tests/outside/transit")
}

/// The rows of the table: client, version and program.
fn clients(document: &Document) -> Vec<[&str; 3]> {
    let rows = document.rows_under("Tested clients");
    rows.into_iter().map(|row| row.try_into().expect("three cells")).collect()
}

#[test]
fn the_versions_are_those_that_are_installed() {
    let manifests = MANIFESTS.map(|name| fs::read_to_string(folder().join(name)).expect(name));
    for [client, version, _] in clients(&Document::read("docs/transit.md")) {
        let is_installed = |manifest: &String| {
            let mut words =
                manifest.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
            words.any(|word| word == version)
        };
        assert!(manifests.iter().any(is_installed), "{client} {version} is in no manifest");
    }
}

#[test]
fn every_program_is_listed_once() {
    let document = Document::read("docs/transit.md");
    let listed: Vec<String> = clients(&document)
        .into_iter()
        .flat_map(|[_, _, program]| code_spans(program).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let unique: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), unique.len(), "{listed:?}");
    assert_eq!(unique, programs());
}

/// The scenarios of `tests/outside/transit/run`, without the examples of the document.
fn programs() -> BTreeSet<String> {
    let mut found = BTreeSet::from(["rust/src/main.rs".to_owned()]);
    for kind in ["shell", "java", "node", "python", "go"] {
        for entry in fs::read_dir(folder().join(kind)).expect(kind) {
            let name = entry.expect("an entry").file_name();
            let name = name.to_str().expect("a name of text");
            let program = match kind {
                "go" => format!("go/{name}/main.go"),
                _ => format!("{kind}/{name}"),
            };
            let is_scenario =
                [".sh", ".java", ".mjs", ".py", ".go"].iter().any(|it| program.ends_with(it));
            if is_scenario && folder().join(&program).exists() {
                found.insert(program);
            }
        }
    }
    for other in ["java/Check.java", "shell/guide.sh"] {
        assert!(found.remove(other), "{other}");
    }
    found
}

//! CONTRIBUTING.md is one page, and its crates are those of the workspace.

use std::collections::BTreeSet;
use std::fs;

use super::markdown::{Document, code_spans, top};

/// The most lines of CONTRIBUTING.md.
const LONGEST: usize = 80;

#[test]
fn the_page_names_every_crate() {
    let page = Document::read("CONTRIBUTING.md");
    let lines = page.text.lines().count();
    assert!(lines <= LONGEST, "{lines} lines");
    let (_, section) = page.text.split_once("The crates are").expect("the crates");
    let (sentence, _) = section.split_once('.').expect("a sentence");
    let named: BTreeSet<&str> = code_spans(sentence).collect();
    let script = script();
    let crates: BTreeSet<&str> = crates(&script).iter().map(|(name, ..)| *name).collect();
    assert_eq!(named, crates);
}

#[test]
fn the_script_names_the_crates_of_the_workspace() {
    let script = script();
    let manifest = fs::read_to_string(top().join("Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let members = manifest["workspace"]["members"].as_array().expect("members");
    let mut packages = BTreeSet::new();
    for member in members {
        let member = member.as_str().expect("a folder");
        // Crates below tests/ have no tests of their own.
        if member.starts_with("tests/") {
            continue;
        }
        let member = fs::read_to_string(top().join(member).join("Cargo.toml"));
        let member: toml::Table = member.expect("a manifest").parse().expect("TOML");
        let name = member["package"]["name"].as_str().expect("a name");
        packages.insert(name.to_owned());
    }
    let tests = top().join("tests/it");
    for (name, package, folders) in crates(&script) {
        assert!(packages.remove(package), "{name}: no package {package}");
        for folder in folders {
            let exists =
                tests.join(folder).is_dir() || tests.join(format!("{folder}.rs")).is_file();
            assert!(exists, "{name}: no tests/it/{folder}");
        }
    }
    assert!(packages.is_empty(), "no name: {packages:?}");
}

fn script() -> String {
    fs::read_to_string(top().join("deploy/dev/crates.sh")).expect("the crates")
}

/// The crates with their packages and their folders of tests/it.
fn crates(script: &str) -> Vec<(&str, &str, Vec<&str>)> {
    let (_, table) = script.split_once("\ncrates='\n").expect("the table");
    let (table, _) = table.split_once('\'').expect("its end");
    let rows = table.lines().map(|row| {
        let mut words = row.split_whitespace();
        let (name, package) = (words.next(), words.next());
        let columns = name.zip(package).expect("a name and a package");
        (columns.0, columns.1, words.collect())
    });
    rows.collect()
}

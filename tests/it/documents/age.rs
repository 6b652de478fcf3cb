//! docs/age.md lists the clients that `./dev verify age` runs, with their versions.

use std::collections::BTreeSet;
use std::fs;

use super::markdown::{Document, code_spans, top};

#[test]
fn the_clients_are_those_that_are_run() {
    let document = Document::read("docs/age.md");
    let listed: BTreeSet<(String, String)> = document
        .rows_under("Tested clients")
        .into_iter()
        .flat_map(|row| {
            let [client, versions, program] = row.try_into().expect("three cells");
            let program = code_spans(program).next().expect("a program").to_owned();
            let name = client.to_lowercase();
            let clients = versions.split(", ").map(move |it| format!("{name}-{it}"));
            clients.map(move |it| (it, program.clone()))
        })
        .collect();
    assert_eq!(listed, run());
}

/// The clients with their scenarios, besides the examples of the document.
fn run() -> BTreeSet<(String, String)> {
    let script = fs::read_to_string(top().join("tests/outside/age/run")).expect("the check");
    let (_, table) = script.split_once("\nclients='\n").expect("the table");
    let (table, _) = table.split_once('\'').expect("its end");
    let rows = table.lines().filter(|row| !row.starts_with("guide"));
    rows.map(|row| {
        let mut words = row.split_whitespace();
        let (client, scenario) =
            (words.next().expect("a client"), words.next().expect("a scenario"));
        (client.to_owned(), format!("{scenario}.sh"))
    })
    .collect()
}

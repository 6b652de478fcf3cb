//! The shell blocks of the documents run and print what the documents show.
//!
//! A document's `sh run` blocks run in order in one shell, in a copy of the repository, against a
//! service in the state of `./dev up`. `sh by-hand` blocks need another machine, a person or more
//! rights; the test checks their syntax and their calls of `sealward`. A block marked `output`
//! directly after a block is the output of that block.

use std::fmt::Write as _;
use std::process::Command;

use clap::Parser as _;
use sealward::command::Arguments;

use super::markdown::{self, Block, Document, top};
use super::output::matches;
use super::sandbox::{Sandbox, describe};

/// Separates the outputs of the blocks.
const MARK: char = '\u{1e}';

/// A document with this call has a service of its own: a freeze refuses the requests of the others.
const FREEZE: &str = "/admin/emergency/freeze -d";

#[tokio::test]
async fn shell_blocks_run_and_print_the_shown_output() {
    let (sandbox, frozen) = (Sandbox::new().await, Sandbox::new().await);
    drop_walkthrough(&sandbox);
    let documents = markdown::all();
    let sandbox_of =
        |document: &Document| if document.text.contains(FREEZE) { &frozen } else { &sandbox };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = documents
            .iter()
            .map(|document| scope.spawn(|| run(sandbox_of(document), document)))
            .collect();
        let ended = runs.into_iter().map(|run| run.join().expect("a run"));
        ended.filter_map(Result::err).collect()
    });
    drop_walkthrough(&sandbox);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Drops the databases and roles that an interrupted walkthrough of docs/operations.md left.
fn drop_walkthrough(sandbox: &Sandbox) {
    for sql in [
        "drop database if exists sealward_restored with (force)",
        "drop database if exists sealward with (force)",
        "drop role if exists sealward",
        "drop role if exists sealward_service",
        "drop role if exists sealward_retain",
        "drop role if exists sealward_drill",
    ] {
        let psql = ["-c", r#"psql -q -d postgres -c "$1""#, "psql", sql];
        let done = sandbox.shell(top()).args(psql).output().expect("run psql");
        assert!(done.status.success(), "{}", describe(&done));
    }
}

#[test]
fn every_shell_block_is_marked_and_valid() {
    for document in markdown::all() {
        for block in document.blocks() {
            let place = format!("{}:{}", document.path.display(), block.line);
            match block.words.as_slice() {
                ["sh", "run"] => {}
                ["sh", "by-hand"] => {
                    let syntax = Command::new("bash").args(["-nc", &block.text]).output();
                    let syntax = syntax.expect("run bash");
                    assert!(syntax.status.success(), "{place}: {}", describe(&syntax));
                    let calls = calls(&block.text);
                    calls.iter().for_each(|call| assert_is_accepted(&place, call));
                }
                [_, "output"] => assert!(block.follows, "{place}: follows no block"),
                ["sh" | "bash" | "shell" | "console", ..] => {
                    panic!("{place}: must be `sh run`, or `sh by-hand` if no test can run it")
                }
                _ => {}
            }
        }
    }
}

/// Runs the document's blocks and returns every difference from the document.
fn run(sandbox: &Sandbox, document: &Document) -> Result<(), String> {
    let name = document.path.display().to_string();
    let blocks = document.blocks();
    let runs: Vec<usize> =
        (0..blocks.len()).filter(|&place| blocks[place].words == ["sh", "run"]).collect();
    if runs.is_empty() {
        return Ok(());
    }
    let mut script = String::new();
    for &place in &runs {
        let _ = writeln!(script, "{}\nprintf '%s' '{MARK}'", blocks[place].text);
    }
    let folder = sandbox.copy_of_the_repository(&name.replace('/', "-"));
    let output = sandbox.run(&folder, &script);
    let printed = String::from_utf8_lossy(&output.stdout);
    let printed: Vec<&str> = printed.split(MARK).collect();
    let mut wrong = String::new();
    for (&place, real) in runs.iter().zip(&printed[..printed.len() - 1]) {
        if let Some(block) = blocks.get(place + 1).filter(|block| is_output(block))
            && !matches(block.words[0], &block.text, real)
        {
            let _ = writeln!(wrong, "{name}:{}: prints\n{real}", block.line);
        }
    }
    if !output.status.success() {
        let broke = runs.get(printed.len() - 1).map_or(0, |&place| blocks[place].line);
        let _ = writeln!(wrong, "{name}:{broke}: {}", describe(&output));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn is_output(block: &Block<'_>) -> bool {
    block.follows && matches!(block.words.as_slice(), [_, "output"])
}

/// The words of each call of `sealward`.
fn calls(text: &str) -> Vec<Vec<String>> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim);
    lines
        .filter_map(|line| {
            let start = line.find("sealward ")?;
            let starts =
                start == 0 || ["| ", "$(", "sudo "].iter().any(|it| line[..start].ends_with(it));
            let call = line[start..].split(['|', '>', '<', ';']).next()?;
            let words =
                call.split_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned());
            starts.then(|| words.collect())
        })
        .collect()
}

#[track_caller]
fn assert_is_accepted(place: &str, call: &[String]) {
    if let Err(error) = Arguments::try_parse_from(call) {
        panic!("{place}: {error}");
    }
}

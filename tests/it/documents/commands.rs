//! The shell blocks of the documents are run, and show what they print.
//!
//! `sh run` is run: the blocks of a document one after the other in one shell, in a copy of the
//! repository beside a service that runs as `./dev up` leaves it. `sh by-hand` needs another
//! machine, a person or more rights than a test has; what can be held of it is. A block marked
//! `output` right after a block is what that one prints.

use std::fmt::Write as _;
use std::process::Command;

use clap::Parser as _;
use sealward::command::Arguments;

use super::markdown::{self, Block, Document, top};
use super::newcomer::{Newcomer, told};
use super::shown::is_shown;

/// Ends the output of a block.
const MARK: char = '\u{1e}';

#[tokio::test]
async fn what_documents_say_to_run_runs() {
    let newcomer = Newcomer::new().await;
    forget_the_walk(&newcomer);
    let documents = markdown::all();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = documents
            .iter()
            .map(|document| scope.spawn(|| run(&newcomer, document)))
            .collect();
        let ended = runs.into_iter().map(|run| run.join().expect("a run"));
        ended.filter_map(Result::err).collect()
    });
    forget_the_walk(&newcomer);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Removes what a walk through docs/operations.md that broke off has left in the cluster.
fn forget_the_walk(newcomer: &Newcomer) {
    for sql in [
        "drop database if exists sealward_restored with (force)",
        "drop database if exists sealward with (force)",
        "drop role if exists sealward",
        "drop role if exists sealward_service",
    ] {
        let psql = ["-c", r#"psql -q -d postgres -c "$1""#, "psql", sql];
        let done = newcomer.shell(top()).args(psql).output().expect("run psql");
        assert!(done.status.success(), "{}", told(&done));
    }
}

#[test]
fn every_shell_block_is_run_or_for_a_person() {
    for document in markdown::all() {
        for block in document.blocks() {
            let place = format!("{}:{}", document.path.display(), block.line);
            match block.words.as_slice() {
                ["sh", "run"] => {}
                ["sh", "by-hand"] => {
                    let syntax = Command::new("bash").args(["-nc", &block.text]).output();
                    let syntax = syntax.expect("run bash");
                    assert!(syntax.status.success(), "{place}: {}", told(&syntax));
                    let calls = calls(&block.text);
                    calls
                        .iter()
                        .for_each(|call| assert_is_offered(&place, call));
                }
                [_, "output"] => assert!(block.follows, "{place}: the output of what?"),
                ["sh" | "bash" | "shell" | "console", ..] => {
                    panic!("{place}: say `sh run`, or `sh by-hand` if no test can run it")
                }
                _ => {}
            }
        }
    }
}

/// Runs the document's blocks; says all that is not as the document says.
fn run(newcomer: &Newcomer, document: &Document) -> Result<(), String> {
    let name = document.path.display().to_string();
    let blocks = document.blocks();
    let runs: Vec<usize> = (0..blocks.len())
        .filter(|&place| blocks[place].words == ["sh", "run"])
        .collect();
    if runs.is_empty() {
        return Ok(());
    }
    let mut script = String::new();
    for &place in &runs {
        let _ = writeln!(script, "{}\nprintf '%s' '{MARK}'", blocks[place].text);
    }
    let folder = newcomer.copy_of_the_repository(&name.replace('/', "-"));
    let output = newcomer.read(&folder, &script);
    let printed = String::from_utf8_lossy(&output.stdout);
    let printed: Vec<&str> = printed.split(MARK).collect();
    let mut wrong = String::new();
    for (&place, real) in runs.iter().zip(&printed[..printed.len() - 1]) {
        if let Some(block) = blocks.get(place + 1).filter(|block| is_output(block))
            && !is_shown(block.words[0], &block.text, real)
        {
            let _ = writeln!(wrong, "{name}:{}: it prints\n{real}", block.line);
        }
    }
    if !output.status.success() {
        let broke = runs
            .get(printed.len() - 1)
            .map_or(0, |&place| blocks[place].line);
        let _ = writeln!(wrong, "{name}:{broke}: {}", told(&output));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn is_output(block: &Block<'_>) -> bool {
    block.follows && matches!(block.words.as_slice(), [_, "output"])
}

/// The words of each call of our own program.
fn calls(text: &str) -> Vec<Vec<String>> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim);
    lines
        .filter_map(|line| {
            let start = line.find("sealward ")?;
            let starts = start == 0
                || ["| ", "$(", "sudo "]
                    .iter()
                    .any(|it| line[..start].ends_with(it));
            let call = line[start..].split(['|', '>', '<', ';']).next()?;
            let words = call
                .split_whitespace()
                .map(|word| word.trim_matches(['"', '\'']).to_owned());
            starts.then(|| words.collect())
        })
        .collect()
}

#[track_caller]
fn assert_is_offered(place: &str, call: &[String]) {
    if let Err(error) = Arguments::try_parse_from(call) {
        panic!("{place}: {error}");
    }
}

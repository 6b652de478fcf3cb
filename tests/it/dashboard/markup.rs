//! Validates HTML: html5ever parses pages like a browser and reports parse errors, and html-validate
//! checks further rules of the standard.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use html5ever::tendril::TendrilSink as _;
use html5ever::tokenizer::TokenizerOpts;
use html5ever::tree_builder::{QuirksMode, TreeBuilderOpts};
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::RcDom;
use serde_json::json;

/// The faults of these pages, one per line.
pub(super) fn faults_of<'p>(pages: impl Iterator<Item = (&'p str, &'p str)> + Clone) -> String {
    let mut faults = invalid(pages.clone());
    for (name, html) in pages {
        for error in parse_errors(html) {
            faults += &format!("{name}: {error}\n");
        }
    }
    faults
}

/// The parse errors of a page.
fn parse_errors(html: &str) -> Vec<String> {
    let options = ParseOpts {
        tokenizer: TokenizerOpts { exact_errors: true, ..TokenizerOpts::default() },
        tree_builder: TreeBuilderOpts {
            exact_errors: true,
            scripting_enabled: false,
            ..TreeBuilderOpts::default()
        },
    };
    let page = parse_document(RcDom::default(), options).one(html);
    let mut errors: Vec<_> = page.errors.take().into_iter().map(String::from).collect();
    if page.quirks_mode.get() != QuirksMode::NoQuirks {
        errors.push("the page is in quirks mode".to_owned());
    }
    errors
}

/// The report of html-validate.
fn invalid<'p>(pages: impl Iterator<Item = (&'p str, &'p str)>) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outside/pages/validate.mjs");
    let mut process = Command::new("node")
        .arg(script)
        .arg(packages())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("start node");
    let mut stdin = process.stdin.take().expect("an input");
    for (name, html) in pages {
        writeln!(stdin, "{}", json!({ "name": name, "html": html })).expect("write a page");
    }
    drop(stdin);
    let output = process.wait_with_output().expect("its end");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The folder of the npm packages for these checks.
#[allow(clippy::disallowed_methods, reason = "./dev test sets the folder of the packages")]
pub(super) fn packages() -> PathBuf {
    std::env::var_os("SEALWARD_TEST_PAGES")
        .expect(
            "SEALWARD_TEST_PAGES is not set: ./dev test sets it to what tests/outside/pages/setup prints",
        )
        .into()
}

#[test]
fn ambiguous_markup_is_an_error() {
    let page = |body: &str| {
        format!(
            "<!DOCTYPE html><html lang=\"en\"><head><title>x</title></head><body>{body}</body></html>"
        )
    };
    assert_eq!(parse_errors(&page("<p>A <b>page</b></p>")), [""; 0]);
    assert_ne!(parse_errors("<p>no type"), [""; 0]);
    for wrong in [
        "<p><div></div></p>",
        "<b><i>across</b></i>",
        "<a href=\"/\" href=\"/\">twice</a>",
        "<table><p>in a table</p></table>",
        "<p>&nothing; &#0;</p>",
        "<form><form></form></form>",
        "</section>",
        "<div>",
    ] {
        assert_ne!(parse_errors(&page(wrong)), [""; 0], "{wrong}");
    }
}

//! Whether pages are valid HTML, as html-validate reads the standard.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

/// What is wrong with these pages, a line for each fault.
pub(super) fn faults_of<'p>(pages: impl Iterator<Item = (&'p str, &'p str)>) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages/validate.mjs");
    let mut process = Command::new("node")
        .arg(script)
        .arg(packages())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("start node");
    let mut stdin = process.stdin.take().expect("where to write");
    for (name, html) in pages {
        writeln!(stdin, "{}", json!({ "name": name, "html": html })).expect("hand over a page");
    }
    drop(stdin);
    let said = process.wait_with_output().expect("its end");
    assert!(said.status.success(), "{said:?}");
    String::from_utf8(said.stdout).expect("text")
}

/// Where the packages from npm are that look at pages.
#[allow(
    clippy::disallowed_methods,
    reason = "where ./dev test put the packages"
)]
pub(super) fn packages() -> PathBuf {
    std::env::var_os("SEALWARD_TEST_PAGES")
        .expect(
            "SEALWARD_TEST_PAGES is not set: ./dev test sets it to what tests/pages/setup prints",
        )
        .into()
}

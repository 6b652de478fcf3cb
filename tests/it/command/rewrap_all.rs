//! `sealward rewrap-all`.

use std::fs;

use serde_json::{Value, json};

use super::client_site::ClientSite;

impl ClientSite {
    /// The envelope of a number.
    fn envelope(&self, number: usize) -> Value {
        self.run_with(&["protect"], number.to_string().as_bytes()).success().json()
    }

    /// The lines of a file.
    fn lines(&self, name: &str) -> Vec<Value> {
        let text = String::from_utf8(self.read(name)).expect("text");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// The number in an envelope.
    fn number_in(&self, envelope: &Value) -> usize {
        let opened = self.run_with(&["unprotect"], envelope.to_string().as_bytes()).success();
        opened.line().parse().expect("a number")
    }
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_envelope_becomes_a_new_one_in_its_place() {
    let site = ClientSite::new().await;
    let old: Vec<_> = (0..5).map(|number| site.envelope(number)).collect();
    let mut lines = old.clone();
    lines[3] = json!({ "id": 4711, "jwe": old[3], "note": "kept" });
    site.write("old", text(&lines));
    let done = site.run(&["rewrap-all", "old", "--output", "new", "--batch", "2"]).success();
    assert_eq!(done.stderr.trim(), "5 envelopes are new, 0 failed");
    let new = site.lines("new");
    assert_eq!((&new[3]["id"], &new[3]["note"]), (&json!(4711), &json!("kept")));
    for (number, line) in new.iter().enumerate() {
        let envelope = line.get("jwe").unwrap_or(line);
        assert_ne!(envelope, &old[number]);
        assert_eq!(site.number_in(envelope), number);
    }
    assert_eq!(site.files(), ["new", "old"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_fail_are_listed_with_their_numbers() {
    let site = ClientSite::new().await;
    let mut broken = site.envelope(1);
    broken["tag"] = json!("AAAAAAAAAAAAAAAAAAAAAA");
    let lines = [site.envelope(0), broken, json!({ "id": 1 }), site.envelope(3)];
    site.write("old", text(&lines));
    let failed = site.run(&["rewrap-all", "old", "--output", "new"]);
    failed.failure(1, &["2 envelopes failed: see new.errors"]);
    assert_eq!(site.lines("new").len(), 2);
    let errors = site.lines("new.errors");
    assert_eq!((&errors[0]["line"], &errors[1]["line"]), (&json!(2), &json!(3)));
    assert_eq!(errors[0]["error"]["code"], "INTERNAL_ERROR");
    assert_eq!(errors[1]["error"]["message"], "the text is not an envelope");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_continues_without_gaps_and_repetitions() {
    let site = ClientSite::new().await;
    let lines: Vec<_> = (0..4).map(|number| site.envelope(number)).collect();
    site.write("old", text(&lines));
    site.run(&["rewrap-all", "old", "--output", "whole", "--batch", "2"]).success();
    // As an interruption leaves it: the first batch is saved, and a part of the second one is written.
    let whole = site.lines("whole");
    let saved = text(&whole[..2]);
    site.write("new", format!("{saved}{{\"protected\":"));
    site.write("new.errors", "");
    let state = json!({ "lines": 2, "failed": 0, "output_bytes": saved.len(), "error_bytes": 0 });
    site.write("new.state", state.to_string());

    let run = ["rewrap-all", "old", "--output", "new", "--batch", "2"];
    site.run(&run).failure(1, &["new.state", "--resume continues it"]);
    let done = site.run(&[&run[..], &["--resume"]].concat()).success();
    assert_eq!(done.stderr.trim(), "4 envelopes are new, 0 failed");
    let new = site.lines("new");
    assert_eq!(new[..2], whole[..2]);
    let numbers: Vec<_> = new.iter().map(|envelope| site.number_in(envelope)).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    assert_eq!(site.files(), ["new", "old", "whole"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_existing_output_is_not_replaced() {
    let site = ClientSite::new().await;
    site.write("old", "");
    site.write("new", "kept");
    site.run(&["rewrap-all", "old", "--output", "new"]).failure(1, &["new"]);
    assert_eq!(fs::read(site.path("new")).expect("a file"), b"kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_away_interrupts_the_run() {
    let site = ClientSite::new().await;
    site.write("old", text(&[site.envelope(0)]));
    // Nothing listens on this port.
    let run = ["rewrap-all", "old", "--output", "new", "--patience", "0"];
    let away = ["--url", "http://127.0.0.1:9"];
    site.run(&[&run[..], &away].concat()).failure(1, &["cannot reach Sealward"]);
    site.run(&run).failure(1, &["new.state", "--resume continues it"]);
    site.run(&[&run[..], &["--resume"]].concat()).success();
    assert_eq!(site.lines("new").len(), 1);
}

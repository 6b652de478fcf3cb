//! The command that verifies, and the proof of one record.

use std::fs;
use std::path::Path;
use std::process::Command;

use engine::ledger::verify::{self, Change, Trust};
use engine::ledger::{self, Log};
use serde_json::json;

use super::fixture::{Sealed, finds, with};

#[tokio::test]
async fn one_record_is_verified_with_its_proof() {
    let sealed = Sealed::new().await;
    let id: engine::ids::RecordId = sealed.id(3).parse().unwrap();
    let proof = ledger::prove(&sealed.kept.pool, Log::Operations, id.uuid()).await.unwrap();
    let text = proof.to_text();
    let mut trust = Trust::new(&sealed.key).unwrap();
    verify::record(&mut trust, &sealed.lines[3], &text).unwrap();
    let changed = Change::Proof { record: sealed.id(3) };
    let forged = with(&sealed.lines[3], "response_status", json!(500));
    finds(verify::record(&mut trust, &forged, &text), &changed, Some(6));
    let elsewhere = with(&sealed.lines[3], "log_index", json!(2));
    finds(verify::record(&mut trust, &elsewhere, &text), &changed, Some(6));
    let moved = text.replace("index 3", "index 2");
    finds(verify::record(&mut trust, &sealed.lines[3], &moved), &changed, Some(6));
}

/// Runs `sealward audit verify` in a folder. Returns its exit code and its output.
pub(in crate::ledger) fn sealward(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let done = Command::new(testkit::program())
        .args(["audit", "verify"])
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .output()
        .unwrap();
    let text = [done.stdout, done.stderr].concat();
    (done.status.code(), String::from_utf8(text).unwrap())
}

#[tokio::test]
async fn the_command_reports_by_its_exit_code() {
    let sealed = Sealed::new().await;
    let other = Sealed::new().await;
    let folder = sealed.kept.folder.path();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("key", &sealed.key);
    write("four", &sealed.checkpoints[0]);
    write("six", &sealed.checkpoints[1]);
    write("foreign", &other.checkpoints[1]);
    write("export", &sealed.lines.join("\n"));
    write("truncated", &sealed.lines[..5].join("\n"));
    let run = |arguments: &[&str]| sealward(folder, arguments);
    let both = ["--checkpoint", "four", "--checkpoint", "six"];
    let (code, text) = run(&[&["--key", "key", "--export", "export"], &both[..]].concat());
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(text, "OK: 6 records of operations are unchanged\n");
    let (code, text) = run(&[&["--key", &sealed.key, "--export", "truncated"], &both[..]].concat());
    assert_eq!(code, Some(1), "{text}");
    assert_eq!(
        text,
        "sealward: TAMPERED: the record with log_index 5 is missing (proven by the checkpoint of 6 records)\n"
    );
    let (code, text) = run(&["--key", "key", "--export", "export", "--checkpoint", "foreign"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("no valid signature of the public key"), "{text}");
    for arguments in [
        &["--key", "key", "--export", "export", "--checkpoint", "export"][..],
        &["--key", "key", "--export", "export"],
        &["--key", "key", "--export", "absent", "--checkpoint", "six"],
        &["--key", "absent", "--export", "export", "--checkpoint", "six"],
        &["--key", "key", "--checkpoint", "six"],
    ] {
        let (code, text) = run(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {text}");
    }
}

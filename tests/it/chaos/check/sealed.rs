//! Logs that lost, repeated or reordered records, and checkpoints of another history.

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use engine::ledger::{self, Log};
use formats::tlog::{Checkpoint, Hash, Note, Signature, SignatureKind, Tree, VerifierKey};
use serde_json::json;

use super::{Constructed as _, HERE, PROTECT, envelope, history, span};
use testkit::chaos::check::Guarantee;
use testkit::chaos::history::{History, SealedLog};

const ORIGIN: &str = "example.com/operations";

/// Three requests in a log with checkpoints of two and of three records.
fn sealed() -> History {
    let mut history = history();
    for number in 0..3 {
        history = history.with(span(number, number + 1), HERE, PROTECT, envelope());
    }
    let lines: Vec<String> = (0..3).map(line).collect();
    let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let public = pair.public_key().as_ref();
    history.logs.push(SealedLog {
        log: Log::Operations,
        key: VerifierKey::new(ORIGIN, SignatureKind::Ed25519, public).unwrap(),
        seen: [2, 3].map(|size| checkpoint(&lines[..size])).into(),
        lines,
    });
    history
}

fn line(index: usize) -> String {
    json!({ "id": format!("a{index}"), "request_id": format!("n{index}"), "log_index": index })
        .to_string()
}

/// A signed checkpoint of these lines.
fn checkpoint(lines: &[String]) -> String {
    let mut tree = Tree::default();
    for line in lines {
        let leaf = ledger::leaf(Log::Operations, line).unwrap();
        tree.append(Hash::of_leaf(&leaf), |_| ());
    }
    let text =
        Checkpoint { origin: ORIGIN.to_owned(), size: tree.size(), root: tree.root() }.to_string();
    let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let key = VerifierKey::new(ORIGIN, SignatureKind::Ed25519, pair.public_key().as_ref()).unwrap();
    let signature = Signature {
        name: ORIGIN.to_owned(),
        key_id: key.id(),
        bytes: pair.sign(text.as_bytes()).as_ref().to_vec(),
    };
    Note::new(text, vec![signature]).unwrap().to_string()
}

#[test]
fn a_log_of_all_records_that_extends_its_checkpoints_is_valid() {
    sealed().is_valid();
}

#[test]
fn a_record_without_a_position_is_detected() {
    let mut history = sealed();
    history.logs[0].lines.pop();
    let longest = checkpoint(&[line(0), line(1), line(2)]);
    history.logs[0].seen.remove(&longest);
    history.violates(Guarantee::Sealed);
}

#[test]
fn a_position_that_is_skipped_is_detected() {
    let mut history = sealed();
    history.logs[0].seen.clear();
    history.logs[0].lines[2] = line(2).replace("\"log_index\":2", "\"log_index\":3");
    history.violates(Guarantee::Sealed);
}

#[test]
fn a_checkpoint_of_another_history_is_detected() {
    for other in [
        checkpoint(&[line(0), line(2)]),
        checkpoint(&[line(0), line(1), line(2), line(3)]),
        checkpoint(&[line(0)]).replace("\n1\n", "\n2\n"),
    ] {
        let mut history = sealed();
        history.logs[0].seen.insert(other);
        history.violates(Guarantee::Consistent);
    }
}

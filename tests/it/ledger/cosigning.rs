//! Checkpoints with a cosignature of Sealward, with ML-DSA-44.

use std::fs;
use std::process::{Command, Output};

use engine::ledger::{self, Log};
use formats::tlog::{Note, SignatureKind, VerifierKey};
use serde_json::json;

use super::fixture::Kept;
use crate::interop::Peer;
use testkit::Database;
use testkit::{Process, Site};

const SETTING: &str = "\n[audit.seal]\npost_quantum = true\n";

#[tokio::test(flavor = "multi_thread")]
async fn checkpoints_are_cosigned_and_verified_with_ml_dsa() {
    let site = Site::on_kryoptic_over(Database::new().await, SETTING);
    site.initialize();
    let printed = site.run(&["audit", "init"]).success().stdout;
    let keys: Vec<&str> = printed.lines().collect();
    let kinds: Vec<_> = keys.iter().map(|key| key.parse::<VerifierKey>().unwrap().kind()).collect();
    let (signing, cosigning) = (SignatureKind::Ed25519, SignatureKind::MlDsaCosignature);
    assert_eq!(kinds, [signing, signing, cosigning, cosigning]);
    let again = site.run(&["audit", "init"]).success().stdout;
    assert_eq!(again.lines().collect::<Vec<_>>(), keys);

    let process = Process::start(&site).await;
    let kept = Kept::of_site(&site, &printed);
    kept.record(2).await;
    kept.covered(2).await;
    let note = ledger::checkpoint(&kept.pool, Log::Operations).await;
    let note = note.unwrap().unwrap();
    let served = process.admin().get("/admin/audit/log/operations/key").await.ok().body;
    assert_eq!(served.lines().collect::<Vec<_>>(), [keys[0], keys[2]]);

    let folder = kept.folder.path();
    fs::write(folder.join("export"), kept.export().await.join("\n")).unwrap();
    let verify = |note: &str, keys: &[&str]| -> Output {
        fs::write(folder.join("checkpoint"), note).unwrap();
        Command::new(testkit::program())
            .args(["audit", "verify"])
            .args(keys)
            .args(["--checkpoint", "checkpoint", "--export", "export"])
            .current_dir(folder)
            .output()
            .unwrap()
    };
    let both = ["--key", keys[0], "--witness", keys[2]];
    for keys in [&both[..], &["--key", keys[2]]] {
        let verified = verify(&note, keys);
        assert!(verified.status.success(), "{verified:?}");
    }
    let parsed: Note = note.parse().unwrap();
    let [own, cosignature] = parsed.signatures() else {
        panic!("{note}");
    };
    let without = Note::new(parsed.text().to_owned(), vec![own.clone()]).unwrap();
    let missing = verify(&without.to_string(), &both);
    assert_eq!(missing.status.code(), Some(2), "{missing:?}");
    let mut wrong = cosignature.clone();
    wrong.bytes[100] ^= 1;
    let wrong = without.with(wrong).unwrap().to_string();
    let invalid = verify(&wrong, &both);
    assert_eq!(invalid.status.code(), Some(1), "{invalid:?}");

    // The same answers from another implementation.
    let mut peer = Peer::ml_dsa();
    for (note, valid) in [(&note, true), (&wrong, false)] {
        let request = json!({ "do": "verify_cosignature", "key": keys[2], "note": note });
        assert_eq!(peer.ask(&request), json!({ "valid": valid }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_without_ml_dsa_makes_no_key_of_cosignatures() {
    let site = Site::new().await;
    let refused = site.run_with(&["audit", "init"], "SEALWARD_AUDIT_SEAL_POST_QUANTUM", "true");
    refused.failure(1, &["ML-DSA-44", "audit.seal.post_quantum"]);
}

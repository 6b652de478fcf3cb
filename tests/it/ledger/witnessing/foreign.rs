//! A witness in Go over TLS, and the command that verifies its cosignatures.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use engine::ledger::{self, Log, SealState};
use engine::settings::{Seal, SealAnchor, SealWitness};
use formats::tlog::{Note, VerifierKey};

use super::super::fixture::{Kept, OwnSealer};
use super::super::verifying::sealward;
use crate::interop::home;
use testkit::{Authority, Scratch};

const NAME: &str = "witness.example/go";

/// A running witness. Dropping this value ends it.
struct GoWitness {
    process: Child,
    url: String,
    key: VerifierKey,
    folder: Scratch,
}

impl GoWitness {
    /// A witness of both logs.
    async fn start(kept: &Kept) -> Self {
        let (folder, authority) = (Scratch::new(), Authority::new());
        fs::write(folder.path().join("ca.pem"), authority.certificate()).unwrap();
        let certificate = authority.server("localhost").write(folder.path());
        let mut keys = Vec::new();
        for log in Log::ALL {
            let known = ledger::keys(&kept.pool, log).await.unwrap().unwrap();
            keys.push(known[0].to_string());
        }
        let mut process = Command::new(home().join("tlog-witness"))
            .arg(NAME)
            .args(certificate)
            .args(keys)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the witness starts");
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut line = || lines.next().unwrap().unwrap();
        let (url, key) = (line(), line().parse().unwrap());
        Self { process, url, key, folder }
    }

    fn settings(&self) -> SealWitness {
        SealWitness {
            url: self.url.clone(),
            key: self.key.to_string(),
            ca: Some(self.folder.path().join("ca.pem")),
        }
    }

    /// Settings with this witness as the anchor.
    fn as_anchor(&self) -> Seal {
        Seal {
            witnesses: vec![self.settings()],
            anchor: Some(SealAnchor::Witness(NAME.to_owned())),
            ..Seal::default()
        }
    }
}

impl Drop for GoWitness {
    fn drop(&mut self) {
        // The process may already have exited.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn a_witness_in_go_cosigns_each_checkpoint() {
    let kept = Kept::new().await;
    let witness = GoWitness::start(&kept).await;
    let mut sealer = kept.sealer_with(&[witness.settings()]).await;
    let mut before = 0;
    for size in [1, 3, 256, 300, 513] {
        kept.record(size - before).await;
        kept.cosigned_by(size as u64, &witness.key).await;
        before = size;
    }
    // Without the known size, the witness sends it.
    sealer.stop().await;
    kept.execute("DELETE FROM audit_log_witnesses").await;
    sealer = kept.sealer_with(&[witness.settings()]).await;
    kept.record(1).await;
    kept.cosigned_by(514, &witness.key).await;
    let status = sealer.witness(NAME, |it| it.size == 514).await;
    assert_eq!(status.failure, None);
}

#[tokio::test]
async fn a_witness_in_go_does_not_cosign_another_history() {
    let kept = Kept::new().await;
    let witness = GoWitness::start(&kept).await;
    let sealer = OwnSealer::with(kept.pool.clone(), witness.as_anchor()).await;
    kept.back_up().await;
    kept.cosigned_by(5, &witness.key).await;
    sealer.stop().await;
    kept.restore().await;
    let is_fork = |state: &SealState| matches!(state, SealState::Failed(error) if error.contains("in audit.seal.anchor: records were lost or changed"));
    // A shorter history, one of the same size, and a longer one.
    for size in [3, 5, 6] {
        if size > 3 {
            let without_anchor = OwnSealer::start(kept.pool.clone(), None).await;
            kept.covered(size).await;
            without_anchor.stop().await;
        }
        let sealer = OwnSealer::with(kept.pool.clone(), witness.as_anchor()).await;
        sealer.state(is_fork).await;
        sealer.stop().await;
        assert_eq!(kept.checkpoint().await.unwrap().size, size);
        if size == 5 {
            kept.record(1).await;
        }
    }
}

#[tokio::test]
async fn a_witness_with_another_certificate_gets_no_checkpoint() {
    let kept = Kept::new().await;
    let witness = GoWitness::start(&kept).await;
    let other = witness.folder.path().join("other.pem");
    fs::write(&other, Authority::new().certificate()).unwrap();
    let settings = SealWitness { ca: Some(other), ..witness.settings() };
    let sealer = kept.sealer_with(&[settings]).await;
    kept.record(1).await;
    let status = sealer.witness(NAME, |it| it.failure.is_some()).await;
    let failure = status.failure.unwrap();
    assert!(failure.contains("does not answer"), "{failure}");
}

#[tokio::test]
async fn the_command_requires_the_cosignatures_of_its_witnesses() {
    let kept = Kept::new().await;
    let witness = GoWitness::start(&kept).await;
    let _sealer = kept.sealer_with(&[witness.settings()]).await;
    kept.record(4).await;
    kept.cosigned_by(4, &witness.key).await;
    let note = kept.note().await.unwrap();
    let folder = kept.folder.path();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("key", &kept.log_key().await.to_string());
    write("export", &kept.export().await.join("\n"));
    write("checkpoint", &note.to_string());
    write("witness", &witness.key.to_string());
    write("other", &GoWitness::start(&kept).await.key.to_string());
    let mut signatures = note.signatures().to_vec();
    *signatures.last_mut().unwrap().bytes.last_mut().unwrap() ^= 1;
    let forged = Note::new(note.text().to_owned(), signatures).unwrap();
    write("forged", &forged.to_string());
    let verify = |checkpoint: &str, witness: &str| {
        let arguments = ["--key", "key", "--export", "export"];
        let more = ["--checkpoint", checkpoint, "--witness", witness];
        sealward(folder, &[arguments, more].concat())
    };
    let whole = "OK: 4 records of operations are unchanged\n";
    for key in ["witness", &witness.key.to_string()] {
        let verified = verify("checkpoint", key);
        assert_eq!(verified, (Some(0), whole.to_owned()));
    }
    for (checkpoint, key, expected, reason) in [
        ("forged", "witness", 1, "invalid cosignature"),
        ("checkpoint", "other", 2, NAME),
        ("checkpoint", "key", 2, "witness"),
        ("checkpoint", "absent", 2, "absent"),
    ] {
        let (code, text) = verify(checkpoint, key);
        assert_eq!(code, Some(expected), "{text}");
        assert!(text.contains(reason), "{text}");
    }
}

//! A token without Ed25519: an ECDSA key signs the checkpoints.

use std::fs;
use std::process::Command;

use engine::ledger::{self, Log};
use faulty_token::Fault;
use formats::tlog::{SignatureKind, VerifierKey};

use super::fixture::Kept;
use testkit::{Process, Site};

/// The return code of a token that does not support a mechanism.
const MECHANISM_INVALID: u64 = 0x70;

#[tokio::test(flavor = "multi_thread")]
async fn checkpoints_are_signed_with_p_256_if_the_token_has_no_ed25519() {
    let site = Site::with_faults().await;
    let refuse = || Fault::Return(MECHANISM_INVALID).on("C_GenerateKeyPair");
    let before = site.faults().calls("C_GenerateKeyPair");
    site.faults().rules(&[refuse()]);
    let refused = site.run(&["audit", "init"]);
    refused.failure(1, &["the token did not make an Ed25519 or P-256 key"]);
    // The last attempt is the one for P-256.
    let attempts = u64::try_from(site.faults().calls("C_GenerateKeyPair") - before).unwrap();
    site.faults().rules(&[refuse().calls(1..=attempts - 1)]);
    let keys = site.run(&["audit", "init"]).success().stdout;
    site.faults().rules(&[]);
    let key = keys.lines().next().unwrap();
    let parsed: VerifierKey = key.parse().unwrap();
    assert_eq!(parsed.kind(), SignatureKind::EcdsaP256);

    let _process = Process::start(&site).await;
    let kept = Kept::of_site(&site, &keys);
    kept.record(2).await;
    kept.covered(2).await;
    let note = ledger::checkpoint(&kept.pool, Log::Operations).await;
    let folder = kept.folder.path();
    fs::write(folder.join("checkpoint"), note.unwrap().unwrap()).unwrap();
    fs::write(folder.join("export"), kept.export().await.join("\n")).unwrap();
    let verified = Command::new(testkit::program())
        .args(["audit", "verify", "--key", key])
        .args(["--checkpoint", "checkpoint", "--export", "export"])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(verified.status.success(), "{verified:?}");
    assert_eq!(verified.stdout, b"OK: 2 records of operations are unchanged\n");
}

//! The probe reports of the two tokens and their differences.

use std::time::Duration;

use crate::support::{Kind, SharedToken};
use formats::algorithms::{Kem, MlDsa};
use hsm::{Config, ProbeReport, Token, Works};

on_both_tokens! { the_probe_reports_supported_mechanisms, the_probe_reports_unsupported_mechanisms }

async fn the_probe_reports_supported_mechanisms(shared: &SharedToken) {
    let report = probe(&shared.token).await;
    assert_eq!(report.token.label, "one");
    assert!(report.token.logged_in);
    assert!(report.token.flags.contains(&"LOGIN_REQUIRED"));
    assert!(report.module.path.is_file());

    let (fallbacks, missing): (Vec<_>, Vec<_>) = report
        .operations
        .iter()
        .filter(|probed| probed.works != Works::Yes)
        .partition(|probed| probed.works.at_all());
    let missing: Vec<_> = missing.iter().map(|probed| probed.algorithm).collect();
    let fallbacks: Vec<_> = fallbacks.iter().map(|probed| probed.algorithm).collect();
    let imports = |mechanism: &str| -> Vec<_> {
        let probed = report.imports.iter();
        probed
            .filter(|probed| probed.operation == mechanism && probed.works.at_all())
            .map(|probed| probed.algorithm)
            .collect()
    };
    assert_eq!(imports("plaintext"), EVERY_KIND);
    let sha1 = imports("RSA_OAEP_SHA1_AES_KWP");
    let sha256 = imports("RSA_OAEP_SHA256_AES_KWP");
    match shared.kind {
        Kind::SoftHsm => {
            assert_eq!(fallbacks, ["RSA-OAEP-256"]);
            let post_quantum = [&MlDsa::ALL.map(MlDsa::name)[..], &Kem::ALL.map(Kem::name)];
            assert_eq!(missing, post_quantum.concat());
            let kinds = ["RSA-2048", "P-256", "P-384", "P-521", "AES-256", "HMAC-SHA256"];
            assert_eq!(sha1, kinds);
            assert!(sha256.is_empty());
            assert_messages(
                &report.weaknesses,
                &["default attributes", "SHA-1 only", "allow_raw_rsa"],
            );
        }
        Kind::Kryoptic => {
            assert!(fallbacks.is_empty(), "{fallbacks:?}");
            assert!(missing.is_empty(), "{missing:?}");
            for set in MlDsa::ALL {
                let rows = report.operations.iter();
                let rows = rows.filter(|probed| probed.algorithm == set.name());
                let operations: Vec<_> = rows.map(|probed| probed.operation).collect();
                assert_eq!(operations, ["generate", "sign"]);
            }
            for (kem, expected) in [
                (Kem::MlKem768, &["generate", "decapsulate"][..]),
                (Kem::MlKem1024, &["generate", "decapsulate"]),
                (Kem::P256MlKem768, &["decapsulate"]),
            ] {
                let rows = report.operations.iter();
                let rows = rows.filter(|probed| probed.algorithm == kem.name());
                let operations: Vec<_> = rows.map(|probed| probed.operation).collect();
                assert_eq!(operations, expected);
            }
            assert_eq!(sha1, EVERY_KIND);
            assert_eq!(sha256, EVERY_KIND);
            assert_messages(&report.weaknesses, &[]);
        }
    }
    let how = match shared.kind {
        Kind::SoftHsm => "two steps, the second by CKM_AES_KEY_WRAP_PAD",
        Kind::Kryoptic => "two steps, the second by KWP",
    };
    for import in &report.imports {
        let wrapped = import.operation != "plaintext" && import.works.at_all();
        let expected = if wrapped { Works::ByFallback(how) } else { import.works.clone() };
        assert_eq!(import.works, expected, "{import:?}");
    }
    assert!(report.broken.is_empty(), "{:?}", report.broken);
    assert!(report.speeds.len() > 8, "{:?}", report.speeds);
    assert!(report.speeds.iter().all(|speed| speed.per_second > 0.0));

    // The probe has removed its keys. The other test of the same token may still have some.
    let leftover = || async {
        let objects = shared.token.inventory().await.unwrap();
        objects.into_iter().any(|object| object.label.contains("temporary"))
    };
    tokio::time::timeout(Duration::from_secs(60), async {
        while leftover().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await
    .expect("no temporary key remains");
}

const EVERY_KIND: [&str; 7] =
    ["RSA-2048", "P-256", "P-384", "P-521", "Ed25519", "AES-256", "HMAC-SHA256"];

/// Without raw RSA, SoftHSM cannot open envelopes with the default algorithm.
async fn the_probe_reports_unsupported_mechanisms(shared: &SharedToken) {
    let token = Token::open(Config::new(vec![shared.config.clone()])).await.unwrap();
    let report = probe(&token).await;
    match shared.kind {
        Kind::SoftHsm => {
            assert_messages(&report.broken, &["hsm.allow_raw_rsa"]);
            assert_messages(&report.weaknesses, &["default attributes", "SHA-1 only"]);
        }
        Kind::Kryoptic => assert_messages(&report.broken, &[]),
    }
}

async fn probe(token: &Token) -> ProbeReport {
    let mut reports = token.probe().await;
    assert_eq!(reports.len(), 1);
    reports.pop().unwrap().1.unwrap()
}

/// Asserts that each message contains its part, in this order.
fn assert_messages(messages: &[String], parts: &[&str]) {
    assert_eq!(messages.len(), parts.len(), "{messages:#?}");
    for (message, part) in messages.iter().zip(parts) {
        assert!(message.contains(part), "{message}");
    }
}

//! The trial of RSA-OAEP when a token is reached.

use cryptoki_sys::{CKR_DEVICE_ERROR, CKR_ENCRYPTED_DATA_INVALID, CKR_FUNCTION_FAILED};
use faulty_token::{Fault, Rule};
use hsm::{
    Algorithm, Config, ErrorKind, OaepHash, OaepMethod, OpenError, Purpose, Token, TokenState,
};

use crate::support::{Kind, Rig, alone_on_both, is_out, make, seal, status, until};

/// The name of the threads that reach tokens when the process starts.
const OPENER: &str = "hsm-open";

#[test]
fn each_start_tests_oaep_with_a_key_that_is_generated_once() {
    alone_on_both(|rig| async move {
        let made = || rig.faults.calls("C_GenerateKeyPair");
        for starts in 1..=3 {
            let before = rig.faults.calls("C_Decrypt");
            let token = rig.open().await;
            let tried = rig.faults.calls("C_Decrypt") - before;
            assert_eq!(made(), 1, "after {starts} starts");
            let ways = status(&token, "one").oaep;
            assert_eq!((ways.sha1, tried), (OaepMethod::InToken, 2));
            let sha256 = match rig.kind {
                Kind::SoftHsm => OaepMethod::RawRsa,
                Kind::Kryoptic => OaepMethod::InToken,
            };
            assert_eq!(ways.sha256, sha256);
            assert!(OaepHash::ALL.into_iter().all(|hash| token.opens(hash)));
            token.close().await;
        }
    });
}

/// The token begins such a decryption, and only refuses when it sees the ciphertext.
#[test]
fn an_unsupported_hash_is_distinguished_from_an_invalid_ciphertext() {
    alone_on_both(|rig| async move {
        rig.faults.rules(&lacking_sha256(&rig));
        let token = Token::open(without_raw_rsa(&rig)).await.unwrap();
        rig.faults.rules(&[]);
        assert!(token.opens(OaepHash::Sha1));
        assert!(!token.opens(OaepHash::Sha256));
        assert_eq!(status(&token, "one").oaep.sha256, OaepMethod::Unsupported);

        let key = make(&token, Algorithm::Rsa2048, Purpose::Envelope).await;
        let good = seal(&key, OaepHash::Sha256, &[7; 32]);
        let asked = rig.faults.calls("C_DecryptInit");
        for envelope in [&good, &vec![1; 256]] {
            let error = token
                .decrypt_oaep(&key.key, OaepHash::Sha256, envelope)
                .await
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused);
        }
        assert_eq!(rig.faults.calls("C_DecryptInit"), asked);
        let sha1 = seal(&key, OaepHash::Sha1, &[7; 32]);
        let opened = token.decrypt_oaep(&key.key, OaepHash::Sha1, &sha1).await;
        assert_eq!(*opened.unwrap(), [7; 32]);
        token.close().await;
    });
}

#[test]
fn a_missing_mechanism_is_tested_again_after_an_outage() {
    alone_on_both(|rig| async move {
        rig.faults.rules(&lacking_sha256(&rig));
        let token = Token::open(without_raw_rsa(&rig)).await.unwrap();
        assert!(!token.opens(OaepHash::Sha256));
        rig.faults
            .rules(&[Fault::Return(CKR_DEVICE_ERROR).on("C_SignInit")]);
        until("it is out", || is_out(&status(&token, "one"))).await;
        rig.faults.rules(&[]);
        until("it is back", || {
            status(&token, "one").state == TokenState::Serving
        })
        .await;
        assert_eq!(token.opens(OaepHash::Sha256), rig.kind == Kind::Kryoptic);
        token.close().await;
    });
}

/// What fails while nothing else works either says nothing about OAEP.
#[test]
fn an_unavailable_token_proves_nothing_about_oaep() {
    alone_on_both(|rig| async move {
        rig.open().await.close().await;
        rig.faults
            .rules(&["C_Decrypt", "C_SignInit"].map(|function| {
                Fault::Return(CKR_FUNCTION_FAILED)
                    .on(function)
                    .thread(OPENER)
            }));
        let refused = Token::open(rig.config()).await.unwrap_err();
        assert!(matches!(refused, OpenError::Broken { .. }), "{refused}");
        rig.faults.rules(&[]);
        let token = rig.open().await;
        assert!(token.opens(OaepHash::Sha1));
        token.close().await;
    });
}

/// SoftHSM lacks it by itself; of the other one the second trial is hurt.
fn lacking_sha256(rig: &Rig) -> Vec<Rule> {
    let hurt = Fault::ThenReturn(CKR_ENCRYPTED_DATA_INVALID)
        .on("C_Decrypt")
        .thread(OPENER)
        .calls(2..=2);
    match rig.kind {
        Kind::SoftHsm => vec![],
        Kind::Kryoptic => vec![hurt],
    }
}

fn without_raw_rsa(rig: &Rig) -> Config {
    Config {
        allow_raw_rsa: false,
        ..rig.config()
    }
}

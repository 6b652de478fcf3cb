//! The test of RSA-OAEP when a token opens.

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::Attribute;
use cryptoki::session::UserType;
use cryptoki_sys::{CKR_DEVICE_ERROR, CKR_ENCRYPTED_DATA_INVALID, CKR_FUNCTION_FAILED};
use faulty_token::{Fault, Rule};
use formats::algorithms::{Algorithm, OaepHash};
use hsm::{Config, ErrorKind, OaepMethod, OpenError, Purpose, Token, TokenState};

use crate::support::{
    Fixture, Kind, generate_key, in_child_processes, is_out, seal, status, wait_until,
};

/// The name of the threads that open tokens.
const OPENER: &str = "hsm-monitor";

#[test]
fn each_start_tests_oaep_with_a_key_that_is_generated_once() {
    in_child_processes(|fixture| async move {
        let created = || fixture.faults.calls("C_GenerateKeyPair");
        for starts in 1..=3 {
            let before = fixture.faults.calls("C_Decrypt");
            let token = fixture.open().await;
            let tried = fixture.faults.calls("C_Decrypt") - before;
            assert_eq!(created(), 1, "after {starts} starts");
            let methods = status(&token, "one").oaep;
            assert_eq!((methods.sha1, tried), (OaepMethod::InToken, 2));
            let sha256 = match fixture.kind {
                Kind::SoftHsm => OaepMethod::RawRsa,
                Kind::Kryoptic => OaepMethod::InToken,
            };
            assert_eq!(methods.sha256, sha256);
            assert!(OaepHash::ALL.into_iter().all(|hash| token.opens(hash)));
            token.close().await;
        }
    });
}

/// Such a key can be made without the PIN, for example before the first start.
#[test]
fn a_key_that_is_visible_without_a_login_decides_nothing() {
    in_child_processes(|fixture| async move {
        let context = Pkcs11::new(fixture.kind.module()).unwrap();
        context.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)).unwrap();
        for slot in context.get_slots_with_token().unwrap() {
            if context.get_token_info(slot).unwrap().label() == "one" {
                let label = Attribute::Label(b"sealward-internal trial".to_vec());
                let shared = [Attribute::Token(true), Attribute::Private(false), label];
                let numbers =
                    [Attribute::ModulusBits(2048.into()), Attribute::PublicExponent(vec![1, 0, 1])];
                let public = [&shared[..], &numbers].concat();
                let private = [&shared[..], &[Attribute::Decrypt(false)]].concat();
                let session = context.open_rw_session(slot).unwrap();
                // kryoptic generates no key without a login.
                if fixture.kind == Kind::Kryoptic {
                    let pin = fixture.home.pin().into();
                    session.login(UserType::User, Some(&pin)).unwrap();
                }
                let by = Mechanism::RsaPkcsKeyPairGen;
                session.generate_key_pair(&by, &public, &private).unwrap();
            }
        }
        context.finalize().unwrap();
        let token = fixture.open().await;
        assert!(OaepHash::ALL.into_iter().all(|hash| token.opens(hash)));
        token.close().await;
    });
}

/// The token accepts the start of the decryption and refuses the ciphertext.
#[test]
fn an_unsupported_hash_is_distinguished_from_an_invalid_ciphertext() {
    in_child_processes(|fixture| async move {
        fixture.faults.rules(&lacking_sha256(&fixture));
        let token = Token::open(without_raw_rsa(&fixture)).await.unwrap();
        fixture.faults.rules(&[]);
        assert!(token.opens(OaepHash::Sha1));
        assert!(!token.opens(OaepHash::Sha256));
        assert_eq!(status(&token, "one").oaep.sha256, OaepMethod::Unsupported);

        let key = generate_key(&token, Algorithm::Rsa2048, Purpose::Envelope).await;
        let valid = seal(&key, OaepHash::Sha256, &[7; 32]);
        let calls = fixture.faults.calls("C_DecryptInit");
        for envelope in [&valid, &vec![1; 256]] {
            let error = token.decrypt_oaep(&key.key, OaepHash::Sha256, envelope).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unusable);
        }
        assert_eq!(fixture.faults.calls("C_DecryptInit"), calls);
        let sha1 = seal(&key, OaepHash::Sha1, &[7; 32]);
        let opened = token.decrypt_oaep(&key.key, OaepHash::Sha1, &sha1).await;
        assert_eq!(*opened.unwrap(), [7; 32]);
        token.close().await;
    });
}

#[test]
fn a_missing_mechanism_is_tested_again_after_an_outage() {
    in_child_processes(|fixture| async move {
        fixture.faults.rules(&lacking_sha256(&fixture));
        let token = Token::open(without_raw_rsa(&fixture)).await.unwrap();
        assert!(!token.opens(OaepHash::Sha256));
        fixture.faults.rules(&[Fault::Return(CKR_DEVICE_ERROR).on("C_SignInit")]);
        wait_until("it is out", || is_out(&status(&token, "one"))).await;
        fixture.faults.rules(&[]);
        wait_until("the token recovers", || status(&token, "one").state == TokenState::Serving)
            .await;
        assert_eq!(token.opens(OaepHash::Sha256), fixture.kind == Kind::Kryoptic);
        token.close().await;
    });
}

/// A failure of the whole token proves nothing about OAEP.
#[test]
fn an_unavailable_token_proves_nothing_about_oaep() {
    in_child_processes(|fixture| async move {
        fixture.open().await.close().await;
        fixture.faults.rules(
            &["C_Decrypt", "C_SignInit"]
                .map(|function| Fault::Return(CKR_FUNCTION_FAILED).on(function).thread(OPENER)),
        );
        let refused = Token::open(fixture.config()).await.unwrap_err();
        assert!(matches!(refused, OpenError::Broken { .. }), "{refused}");
        fixture.faults.rules(&[]);
        let token = fixture.open().await;
        assert!(token.opens(OaepHash::Sha1));
        token.close().await;
    });
}

/// Rules with which the token lacks SHA-256. SoftHSM never supports it. For kryoptic, the second test
/// fails.
fn lacking_sha256(fixture: &Fixture) -> Vec<Rule> {
    let failing =
        Fault::ThenReturn(CKR_ENCRYPTED_DATA_INVALID).on("C_Decrypt").thread(OPENER).calls(2..=2);
    match fixture.kind {
        Kind::SoftHsm => vec![],
        Kind::Kryoptic => vec![failing],
    }
}

fn without_raw_rsa(fixture: &Fixture) -> Config {
    Config { allow_raw_rsa: false, ..fixture.config() }
}

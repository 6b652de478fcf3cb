//! Ambiguous return codes and invalid results.

use std::time::{Duration, Instant};

use cryptoki_sys::{
    CK_RV, CKR_ATTRIBUTE_SENSITIVE, CKR_DEVICE_ERROR, CKR_DEVICE_MEMORY, CKR_FUNCTION_FAILED,
    CKR_GENERAL_ERROR, CKR_HOST_MEMORY, CKR_KEY_FUNCTION_NOT_PERMITTED, CKR_MECHANISM_INVALID,
    CKR_OBJECT_HANDLE_INVALID, CKR_TEMPLATE_INCONSISTENT, CKR_VENDOR_DEFINED,
};
use faulty_token::Fault;
use formats::algorithms::{Algorithm, OaepHash, PublicParts, SignatureScheme};
use hsm::{ErrorKind, NewKey, Purpose, Token, TokenState};

use super::{WORKER, hmac_key};
use crate::support::{
    Kind, generate_key, id, in_child_process, in_child_processes, seal, status, wait_until,
};

/// How long after an operation the canary runs at the latest.
const CANARY_AFTER_USE: Duration = Duration::from_secs(1);

const AMBIGUOUS: [CK_RV; 4] =
    [CKR_GENERAL_ERROR, CKR_FUNCTION_FAILED, CKR_DEVICE_ERROR, CKR_VENDOR_DEFINED + 7];

#[test]
fn a_thousand_bad_ciphertexts_do_not_open_the_breaker() {
    in_child_processes(|fixture| async move {
        let token = fixture.open().await;
        let created = generate_key(&token, Algorithm::Rsa2048, Purpose::Envelope).await;
        let valid = seal(&created, OaepHash::Sha1, b"a content key");
        let before = status(&token, "one").counters;
        for round in 0..1_000 {
            let mut bad = valid.clone();
            *bad.last_mut().unwrap() ^= 1 + u8::try_from(round % 255).unwrap();
            let error = token.decrypt_oaep(&created.key, OaepHash::Sha1, &bad).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BadInput, "{error:?}");
        }
        let opened = token.decrypt_oaep(&created.key, OaepHash::Sha1, &valid).await.unwrap();
        assert_eq!(opened.as_slice(), b"a content key");
        let after = status(&token, "one").counters;
        assert_eq!((after.outages, after.failures - before.failures), (0, 0));
        assert_eq!(after.sessions_opened, before.sessions_opened);
        assert_eq!(fixture.faults.calls("C_Login"), 1);
        token.close().await;
    });
}

/// The health of the service shows how long the last canary took.
#[test]
fn the_canary_follows_a_bad_envelope_as_late_as_a_good_one() {
    in_child_processes(|fixture| async move {
        let mut config = fixture.config();
        // Within a round, only operations trigger canaries.
        config.canary_interval = Duration::from_secs(20);
        let token = Token::open(config).await.unwrap();
        let canaries = || fixture.faults.calls("C_Sign");
        // The generation of the key is an operation too.
        let created = generate_key(&token, Algorithm::Rsa2048, Purpose::Envelope).await;
        let before = canaries();
        wait_until("a canary runs", || canaries() > before).await;
        let good = seal(&created, OaepHash::Sha1, b"a content key");
        let bad = vec![0x42; 256];
        let mut rounds = [(&bad, false), (&good, true), (&bad, false)].into_iter().peekable();
        while let Some(&(envelope, is_good)) = rounds.peek() {
            let before = canaries();
            let began = Instant::now();
            let opened = token.decrypt_oaep(&created.key, OaepHash::Sha1, envelope).await;
            let during = canaries();
            assert_eq!(opened.is_ok(), is_good);
            if let Err(error) = opened {
                assert_eq!(error.kind(), ErrorKind::BadInput);
                // kryoptic returns the code of a device error, SoftHSM a general error.
                let code = match fixture.kind {
                    Kind::SoftHsm => "GeneralError",
                    Kind::Kryoptic => "DeviceError",
                };
                assert!(format!("{error:?}").contains(code), "{error:?}");
            }
            wait_until("a canary runs", || canaries() > during).await;
            // An operation that outlives its canary causes a second one: that round measures nothing.
            if during == before {
                assert!(began.elapsed() >= CANARY_AFTER_USE, "the canary was early");
                rounds.next();
            }
        }
        assert_eq!(status(&token, "one").state, TokenState::Serving);
        assert_eq!(status(&token, "one").counters.outages, 0);
        token.close().await;
    });
}

/// A refusal of the key or the mechanism says nothing about an envelope.
#[test]
fn a_refusal_that_no_input_causes_is_not_that_of_an_input() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let rsa = generate_key(&token, Algorithm::Rsa2048, Purpose::Envelope).await;
        let ec = generate_key(&token, Algorithm::P256, Purpose::Envelope).await;
        let sealed = seal(&rsa, OaepHash::Sha1, b"a content key");
        let Some(PublicParts::Ec { point, .. }) = ec.public else { panic!("{ec:?}") };
        let refusals = [CKR_KEY_FUNCTION_NOT_PERMITTED, CKR_MECHANISM_INVALID];
        let expected = [
            ("C_DecryptInit", &refusals[..], ErrorKind::Unusable),
            ("C_DeriveKey", &refusals, ErrorKind::Unusable),
            ("C_GetAttributeValue", &[CKR_ATTRIBUTE_SENSITIVE], ErrorKind::Unusable),
            // These can depend on the input.
            ("C_DeriveKey", &[CKR_TEMPLATE_INCONSISTENT], ErrorKind::Refused),
            ("C_Decrypt", &refusals, ErrorKind::Refused),
            ("C_Decrypt", &AMBIGUOUS, ErrorKind::BadInput),
            ("C_DeriveKey", &AMBIGUOUS, ErrorKind::BadInput),
        ];
        for (function, codes, kind) in expected {
            for code in codes {
                let before = status(&token, "one").counters.unusable;
                fixture.faults.rules(&[Fault::Return(*code).on(function).thread(WORKER)]);
                let result = match function {
                    "C_Decrypt" | "C_DecryptInit" => {
                        token.decrypt_oaep(&rsa.key, OaepHash::Sha1, &sealed).await
                    }
                    _ => token.derive_ecdh(&ec.key, &point).await,
                };
                let error = result.unwrap_err();
                assert_eq!(error.kind(), kind, "{function}: {error:?}");
                let counted = status(&token, "one").counters.unusable - before;
                assert_eq!(counted, u64::from(kind == ErrorKind::Unusable), "{error:?}");
                fixture.faults.rules(&[]);
                token.derive_ecdh(&ec.key, &point).await.unwrap();
                token.decrypt_oaep(&rsa.key, OaepHash::Sha1, &sealed).await.unwrap();
            }
        }
        token.close().await;
    });
}

#[test]
fn an_ambiguous_code_is_not_retried() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let key = hmac_key(&token).await;
        for code in AMBIGUOUS {
            let fail = Fault::Return(code).on("C_SignInit").thread(WORKER).calls(1..=1);
            fixture.faults.rules(&[fail]);
            let error = token.hmac(&key, b"message").await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unusable, "{error:?}");
            token.hmac(&key, b"message").await.unwrap();
        }
        assert_eq!(status(&token, "one").counters.outages, 0);
        token.close().await;
    });
}

#[test]
fn a_token_without_memory_is_busy_and_not_unavailable() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let key = hmac_key(&token).await;
        for code in [CKR_DEVICE_MEMORY, CKR_HOST_MEMORY] {
            fixture.faults.rules(&[Fault::Return(code).on("C_SignInit").thread(WORKER)]);
            for _ in 0..20 {
                let error = token.hmac(&key, b"message").await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Busy, "{error:?}");
            }
            fixture.faults.rules(&[]);
            token.hmac(&key, b"message").await.unwrap();
        }
        assert_eq!(status(&token, "one").counters.outages, 0);
        token.close().await;
    });
}

#[test]
fn an_invalid_handle_is_looked_up_again_once() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let key = hmac_key(&token).await;
        let invalid = Fault::Return(CKR_OBJECT_HANDLE_INVALID).on("C_SignInit").thread(WORKER);
        fixture.faults.rules(&[invalid.clone().calls(1..=1)]);
        token.hmac(&key, b"message").await.unwrap();
        // A new handle that is invalid does not mean that the key is missing.
        fixture.faults.rules(&[invalid]);
        let error = token.hmac(&key, b"message").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unusable, "{error:?}");
        fixture.faults.rules(&[]);
        token.hmac(&key, b"message").await.unwrap();
        token.close().await;
    });
}

#[test]
fn a_failed_write_is_repeated_once_and_leaves_one_key() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        for fault in [Fault::Return(CKR_GENERAL_ERROR), Fault::ThenReturn(CKR_GENERAL_ERROR)] {
            let once = ["C_GenerateKeyPair", "C_GenerateKey"]
                .map(|function| fault.on(function).calls(1..=1));
            fixture.faults.rules(&once);
            for (algorithm, purpose) in
                [(Algorithm::P256, Purpose::Envelope), (Algorithm::Aes256, Purpose::Data)]
            {
                let created = generate_key(&token, algorithm, purpose).await;
                token.find(&created.key).await.unwrap();
                let objects = token.inventory().await.unwrap();
                let same_key = objects.iter().filter(|object| object.key.name == created.key.name);
                assert_eq!(same_key.count(), 1, "{fault:?} of {algorithm:?}");
            }
        }
        fixture.faults.rules(&[Fault::Return(CKR_DEVICE_ERROR).on("C_GenerateKeyPair")]);
        let before = fixture.faults.calls("C_GenerateKeyPair");
        let request = NewKey {
            id: id(),
            label: "for tests".to_owned(),
            algorithm: Algorithm::P256,
            purpose: Purpose::Envelope,
        };
        token.generate(request).await.unwrap_err();
        assert_eq!(fixture.faults.calls("C_GenerateKeyPair"), before + 2);
        assert_eq!(status(&token, "one").counters.outages, 0);
        token.close().await;
    });
}

/// Nothing could open envelopes for such a key.
#[test]
fn a_key_that_the_token_does_not_use_is_not_made() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        for (function, algorithm) in
            [("C_DeriveKey", Algorithm::P256), ("C_Decrypt", Algorithm::Rsa2048)]
        {
            let refusal = Fault::Return(CKR_MECHANISM_INVALID).on(function);
            fixture.faults.rules(&[refusal.thread(WORKER)]);
            let before = token.inventory().await.unwrap();
            let request = NewKey {
                id: id(),
                label: "for tests".to_owned(),
                algorithm,
                purpose: Purpose::Envelope,
            };
            let error = token.generate(request).await.unwrap_err();
            assert!(error.lacks_ability(), "{algorithm}: {error:?}");
            assert_eq!(token.inventory().await.unwrap(), before, "{algorithm}");
        }
        token.close().await;
    });
}

#[test]
fn a_response_of_invalid_length_is_an_error() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let mac = hmac_key(&token).await;
        let signer = generate_key(&token, Algorithm::P256, Purpose::Sign).await.key;
        let cipher = generate_key(&token, Algorithm::Aes256, Purpose::Data).await.key;
        for length in [0, 7, 33, 1_000, u64::MAX] {
            let invalid = ["C_Sign", "C_Encrypt"]
                .map(|function| Fault::Length(length).on(function).thread(WORKER));
            fixture.faults.rules(&invalid);
            let message = b"message";
            let signed = token.sign(&signer, SignatureScheme::EcdsaSha256, message).await;
            assert!(signed.is_err(), "a signature of {length} bytes: {signed:?}");
            let macked = token.hmac(&mac, message).await;
            assert!(macked.is_err(), "a MAC of {length} bytes: {macked:?}");
            let sealed = token.aes_gcm_encrypt(&cipher, b"", message).await;
            assert!(sealed.is_err(), "a ciphertext of {length} bytes: {sealed:?}");
        }
        fixture.faults.rules(&[]);
        token.hmac(&mac, b"message").await.unwrap();
        assert_eq!(status(&token, "one").workers, 2);
        token.close().await;
    });
}

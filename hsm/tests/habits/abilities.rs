//! Abilities that tokens lack.

use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
};
use cryptoki_sys::{
    CKM_RSA_PKCS, CKR_CURVE_NOT_SUPPORTED, CKR_DEVICE_ERROR, CKR_GENERAL_ERROR, CKR_KEY_SIZE_RANGE,
    CKR_MECHANISM_INVALID,
};
use faulty_token::Fault;
use formats::algorithms::{Algorithm, PublicParts, SignatureScheme};
use hsm::{ErrorKind, NewKey, Purpose, Token, Works};

use crate::support::{id, in_child_process};

#[test]
fn abilities_that_a_token_lacks_are_told_from_failures() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        for code in [CKR_CURVE_NOT_SUPPORTED, CKR_KEY_SIZE_RANGE, CKR_GENERAL_ERROR] {
            fixture.faults.rules(&[Fault::Return(code).on("C_GenerateKeyPair")]);
            let error = generate(&token, Algorithm::P256, Purpose::Sign).await.unwrap_err();
            assert!(error.lacks_ability(), "{code:#x}: {error:?}");
        }
        fixture.faults.rules(&[Fault::Return(CKR_DEVICE_ERROR).on("C_GenerateKeyPair")]);
        let error = generate(&token, Algorithm::P256, Purpose::Sign).await.unwrap_err();
        assert!(!error.lacks_ability(), "{error:?}");
        token.close().await;
    });
}

/// openCryptoki 3.8.1 makes AES keys and has no AES-GCM.
#[test]
fn a_secret_key_without_an_operation_is_not_made() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        fixture.faults.rules(&[Fault::Return(CKR_MECHANISM_INVALID).on("C_EncryptInit")]);
        let before = token.inventory().await.unwrap().len();
        let error = generate(&token, Algorithm::Aes256, Purpose::Data).await.unwrap_err();
        assert!(error.lacks_ability(), "{error:?}");
        assert_eq!(token.inventory().await.unwrap().len(), before, "the key remains");
        token.close().await;
    });
}

/// A TPM signs with PKCS#1 v1.5 padding what it has hashed itself, unless the key decrypts too.
#[test]
fn a_token_that_signs_no_digests_signs_messages() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let no_digests = Fault::Return(CKR_MECHANISM_INVALID).on("C_SignInit");
        fixture.faults.rules(&[no_digests.mechanism(CKM_RSA_PKCS)]);
        let made = generate(&token, Algorithm::Rsa2048, Purpose::Sign).await.unwrap();
        let Some(PublicParts::Rsa { modulus, exponent }) = &made.public else {
            panic!("{made:?}");
        };
        let public = PublicKeyComponents { n: modulus, e: exponent };
        for (scheme, verification, digest) in [
            (SignatureScheme::RsaSha256, &RSA_PKCS1_2048_8192_SHA256, 32),
            (SignatureScheme::RsaSha384, &RSA_PKCS1_2048_8192_SHA384, 48),
            (SignatureScheme::RsaSha512, &RSA_PKCS1_2048_8192_SHA512, 64),
        ] {
            let signature = token.sign(&made.key, scheme, b"message").await.unwrap();
            public.verify(verification, b"message", &signature).unwrap();
            let error = token.sign_digest(&made.key, scheme, &vec![7; digest]).await.unwrap_err();
            assert!(error.lacks_mechanism(), "{error:?}");
            assert_eq!(error.kind(), ErrorKind::BadInput);
        }
        let report = token.probe().await.pop().unwrap().1.unwrap();
        let row = report.operations.iter().find(|probed| probed.algorithm == "RSA-SHA256");
        assert!(matches!(row.unwrap().works, Works::ByFallback(_)), "{row:?}");
        token.close().await;
    });
}

async fn generate(
    token: &Token,
    algorithm: Algorithm,
    purpose: Purpose,
) -> Result<hsm::Generated, hsm::HsmError> {
    token.generate(NewKey { id: id(), label: "for tests".to_owned(), algorithm, purpose }).await
}

#[test]
fn one_failing_operation_leaves_the_table_of_the_probe_whole() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let whole = token.probe().await.pop().unwrap().1.unwrap();
        fixture.faults.rules(&[Fault::Return(CKR_DEVICE_ERROR).on("C_DeriveKey")]);
        let report = token.probe().await.pop().unwrap().1.unwrap();
        assert_eq!(report.operations.len(), whole.operations.len());
        assert_eq!(report.imports.len(), whole.imports.len());
        token.close().await;
    });
}

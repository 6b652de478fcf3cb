//! Attributes that tokens refuse or override.

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rsa::PublicKeyComponents;
use cryptoki_sys::{CKA_ALLOWED_MECHANISMS, CKR_GENERAL_ERROR};
use faulty_token::{Fault, Rule};
use formats::algorithms::{Algorithm, ImportMechanism, PublicParts};
use hsm::{ImportWrapped, NewKey, Purpose, Token, Works, wrap_for_import};

use crate::support::{generate_key, id, in_child_process};

/// NSS answers `CKR_GENERAL_ERROR` where another token names the attribute.
#[test]
fn an_attribute_refused_with_an_ambiguous_code_is_left_out_and_remembered() {
    in_child_process(|fixture| async move {
        let refused = refused_bond();
        fixture.faults.rules(&refused);
        let token = fixture.open().await;
        generate_key(&token, Algorithm::P256, Purpose::Sign).await;
        let attempts = || fixture.faults.calls("C_GenerateKeyPair");
        let before = attempts();
        generate_key(&token, Algorithm::P256, Purpose::Sign).await;
        assert_eq!(attempts(), before + 1);
        let report = token.probe().await.pop().unwrap().1.unwrap();
        let works = |algorithm: &str| {
            let row = report.operations.iter().find(|probed| probed.algorithm == algorithm);
            row.unwrap().works == Works::Yes
        };
        assert!(works("RSA-3072") && works("AES-256") && works("HMAC-SHA256"), "{report:#?}");
        let weakness = "it does not support CKA_ALLOWED_MECHANISMS";
        assert!(report.weaknesses.iter().any(|it| it.contains(weakness)), "{report:#?}");
        token.close().await;
    });
}

/// Refuses the mechanisms that a key is bound to.
fn refused_bond() -> [Rule; 4] {
    ["C_GenerateKey", "C_GenerateKeyPair", "C_CreateObject", "C_UnwrapKey"]
        .map(|function| Fault::RefuseAttribute(CKA_ALLOWED_MECHANISMS).on(function))
}

/// openCryptoki 3.27 makes every unwrapped key readable and extractable, and accepts the stricter values later.
#[test]
fn an_unwrapped_key_is_protected_afterwards() {
    in_child_process(|fixture| async move {
        fixture.faults.rules(&[Fault::Loosen.on("C_UnwrapKey")]);
        let token = fixture.open().await;
        let key = import_wrapped(&token).await.unwrap();
        let adopted = token.adopt(key.name, Purpose::Data, Some(Algorithm::Aes256)).await.unwrap();
        assert_eq!(adopted.weaknesses.len(), 2, "only that it was outside: {adopted:?}");
        assert_eq!(wrapped_imports(&token).await, (6, 1));
        token.close().await;
    });
}

#[test]
fn doctor_does_not_call_an_import_working_that_leaves_keys_unprotected() {
    in_child_process(|fixture| async move {
        fixture.faults.rules(&[
            Fault::Loosen.on("C_UnwrapKey"),
            Fault::Return(CKR_GENERAL_ERROR).on("C_SetAttributeValue"),
        ]);
        let token = fixture.open().await;
        let error = import_wrapped(&token).await.unwrap_err();
        assert!(error.contains("weaker than requested"), "{error}");
        assert_eq!(wrapped_imports(&token).await, (0, 7));
        token.close().await;
    });
}

/// Imports an AES key by the mechanism that SoftHSM has.
async fn import_wrapped(token: &Token) -> Result<hsm::KeyRef, String> {
    let import = generate_key(token, Algorithm::Rsa2048, Purpose::Import).await;
    let Some(PublicParts::Rsa { modulus, exponent }) = &import.public else {
        panic!("{import:?}");
    };
    let spki = PublicKeyComponents { n: modulus, e: exponent };
    let spki: aws_lc_rs::encoding::PublicKeyX509Der<'_> = spki.as_der().unwrap();
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
    let imported = token.import_wrapped(ImportWrapped {
        key: NewKey {
            id: id(),
            label: "imported".to_owned(),
            algorithm: Algorithm::Aes256,
            purpose: Purpose::Data,
        },
        import_key: import.key,
        mechanism,
        wrapped: wrap_for_import(spki.as_ref(), mechanism, &[7; 32]).unwrap(),
        public: None,
    });
    imported.await.map(|imported| imported.key).map_err(|error| error.to_string())
}

/// How many kinds of keys can be unwrapped according to the probe, and how many cannot.
async fn wrapped_imports(token: &Token) -> (usize, usize) {
    let report = token.probe().await.pop().unwrap().1.unwrap();
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp.name();
    let rows = report.imports.iter().filter(|probed| probed.operation == mechanism);
    let (works, missing): (Vec<_>, Vec<_>) = rows.partition(|probed| probed.works.at_all());
    (works.len(), missing.len())
}

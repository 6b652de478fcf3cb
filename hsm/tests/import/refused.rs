//! Refused imports, which leave no objects.

use formats::algorithms::{Algorithm, ImportMechanism};
use hsm::{ImportError, KeyMaterial, Purpose};

use super::{ImportKeyPair, assert_nothing_is_there, request};
use crate::support::SharedToken;
use crate::support::foreign::{Foreign, foreign};

on_both_tokens! {
    a_changed_wrapped_key_does_not_unwrap,
    a_key_of_another_kind_than_declared_does_not_unwrap,
    an_id_is_unique,
    inconsistent_requests_are_refused,
}

async fn a_changed_wrapped_key_does_not_unwrap(shared: &SharedToken) {
    let import_key = ImportKeyPair::generate_key(shared).await;
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
    let (algorithm, purpose) = (Algorithm::Aes256, Purpose::Data);
    let key = foreign(algorithm);
    let wrapped = import_key.wrap(mechanism, &key.bytes);
    let modulus_len = wrapped.len() - 40;
    let places = (0..modulus_len).step_by(37).chain(modulus_len..wrapped.len());
    let changed = places.map(|place| {
        let mut changed = wrapped.clone();
        changed[place] ^= 1;
        changed
    });
    let lengths = [0, 1, modulus_len, modulus_len + 8, wrapped.len() - 1];
    let cut = lengths.map(|length| wrapped[..length].to_vec());
    let longer = [wrapped.as_slice(), &[0; 8]].concat();
    for wrapped in changed.chain(cut).chain([longer]) {
        let request = import_key.request(algorithm, purpose, mechanism, wrapped, &key);
        let outcome = shared.token.import_wrapped(request.clone()).await;
        assert!(matches!(outcome, Err(ImportError::NotUnwrapped)), "{outcome:?}");
        assert_nothing_is_there(shared, &request.key.id).await;
    }
}

async fn a_key_of_another_kind_than_declared_does_not_unwrap(shared: &SharedToken) {
    let import_key = ImportKeyPair::generate_key(shared).await;
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
    for (created, declared, purpose) in [
        (Algorithm::P256, Algorithm::P384, Purpose::Sign),
        (Algorithm::P256, Algorithm::Rsa2048, Purpose::Sign),
        (Algorithm::Rsa2048, Algorithm::P256, Purpose::Sign),
        (Algorithm::Rsa2048, Algorithm::Rsa3072, Purpose::Sign),
        (Algorithm::Aes128, Algorithm::Aes256, Purpose::Data),
        (Algorithm::Aes256, Algorithm::Aes128, Purpose::Data),
        (Algorithm::HmacSha256, Algorithm::P256, Purpose::Sign),
    ] {
        let key = foreign(created);
        let key = Foreign { public: foreign(declared).public, ..key };
        let wrapped = import_key.wrap(mechanism, &key.bytes);
        let request = import_key.request(declared, purpose, mechanism, wrapped, &key);
        let outcome = shared.token.import_wrapped(request.clone()).await;
        let refused = matches!(outcome, Err(ImportError::NotUnwrapped | ImportError::Mismatch));
        assert!(refused, "{created:?} as {declared:?}: {outcome:?}");
        assert_nothing_is_there(shared, &request.key.id).await;
    }
    // Some tokens unwrap this as an AES key and fail when they use it.
    let odd = Foreign { bytes: vec![7; 20], public: None, material: None };
    let wrapped = import_key.wrap(mechanism, &odd.bytes);
    let request = import_key.request(Algorithm::Aes256, Purpose::Data, mechanism, wrapped, &odd);
    let outcome = shared.token.import_wrapped(request).await;
    assert!(matches!(outcome, Err(ImportError::NotUnwrapped)), "{outcome:?}");
}

async fn an_id_is_unique(shared: &SharedToken) {
    let key = foreign(Algorithm::HmacSha256);
    let request = request(Algorithm::HmacSha256, Purpose::Sign, key.material.unwrap());
    let id = request.key.id.clone();
    let imported = shared.token.import(request.clone()).await.unwrap();
    let again = shared.token.import(request).await;
    assert!(matches!(again, Err(ImportError::Malformed(_))), "{again:?}");
    assert_eq!(shared.objects(&id), 1);
    shared.token.hmac(&imported.key, b"still usable").await.unwrap();
}

async fn inconsistent_requests_are_refused(shared: &SharedToken) {
    let secret = || KeyMaterial::Secret(vec![7; 32].into());
    for (algorithm, purpose, material) in [
        (Algorithm::Aes256, Purpose::Sign, secret()),
        (Algorithm::P256, Purpose::Sign, secret()),
        (Algorithm::Aes128, Purpose::Data, secret()),
        (Algorithm::Rsa4096, Purpose::Import, secret()),
        (Algorithm::HmacSha256, Purpose::Sign, KeyMaterial::Secret(vec![7; 31].into())),
    ] {
        let request = request(algorithm, purpose, material);
        let outcome = shared.token.import(request.clone()).await;
        let malformed = matches!(outcome, Err(ImportError::Malformed(_)));
        assert!(malformed, "{algorithm:?} {purpose:?}: {outcome:?}");
        assert_nothing_is_there(shared, &request.key.id).await;
    }
    let import_key = ImportKeyPair::generate_key(shared).await;
    let key = Foreign { public: None, ..foreign(Algorithm::P256) };
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
    let wrapped = import_key.wrap(mechanism, &key.bytes);
    let request = import_key.request(Algorithm::P256, Purpose::Sign, mechanism, wrapped, &key);
    let outcome = shared.token.import_wrapped(request).await;
    assert!(matches!(outcome, Err(ImportError::Malformed(_))), "{outcome:?}");
}

//! What does not come in, and leaves nothing behind.

use hsm::{Algorithm, ImportError, ImportMechanism, KeyMaterial, Purpose};

use super::{ImportKeyPair, assert_nothing_is_there, order};
use crate::support::Bench;
use crate::support::foreign::{Foreign, foreign};

on_both_tokens! {
    a_changed_wrapped_key_does_not_unwrap,
    a_key_of_another_kind_than_declared_does_not_unwrap,
    an_id_is_unique,
    inconsistent_requests_are_refused,
}

async fn a_changed_wrapped_key_does_not_unwrap(bench: &Bench) {
    let import_key = ImportKeyPair::make(bench).await;
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
    let (algorithm, purpose) = (Algorithm::Aes256, Purpose::Data);
    let key = foreign(algorithm);
    let wrapped = import_key.wrap(mechanism, &key.bytes);
    let modulus_len = wrapped.len() - 40;
    let places = (0..modulus_len)
        .step_by(37)
        .chain(modulus_len..wrapped.len());
    let changed = places.map(|place| {
        let mut changed = wrapped.clone();
        changed[place] ^= 1;
        changed
    });
    let lengths = [0, 1, modulus_len, modulus_len + 8, wrapped.len() - 1];
    let cut = lengths.map(|length| wrapped[..length].to_vec());
    let longer = [wrapped.as_slice(), &[0; 8]].concat();
    for wrapped in changed.chain(cut).chain([longer]) {
        let order = import_key.order(algorithm, purpose, mechanism, wrapped, &key);
        let outcome = bench.token.import_wrapped(order.clone()).await;
        assert!(
            matches!(outcome, Err(ImportError::NotUnwrapped)),
            "{outcome:?}"
        );
        assert_nothing_is_there(bench, &order.key.id).await;
    }
}

async fn a_key_of_another_kind_than_declared_does_not_unwrap(bench: &Bench) {
    let import_key = ImportKeyPair::make(bench).await;
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
    for (made, declared, purpose) in [
        (Algorithm::P256, Algorithm::P384, Purpose::Sign),
        (Algorithm::P256, Algorithm::Rsa2048, Purpose::Sign),
        (Algorithm::Rsa2048, Algorithm::P256, Purpose::Sign),
        (Algorithm::Rsa2048, Algorithm::Rsa3072, Purpose::Sign),
        (Algorithm::Aes128, Algorithm::Aes256, Purpose::Data),
        (Algorithm::Aes256, Algorithm::Aes128, Purpose::Data),
        (Algorithm::HmacSha256, Algorithm::P256, Purpose::Sign),
    ] {
        let key = foreign(made);
        let half = Foreign {
            public: foreign(declared).public,
            ..key
        };
        let wrapped = import_key.wrap(mechanism, &half.bytes);
        let order = import_key.order(declared, purpose, mechanism, wrapped, &half);
        let outcome = bench.token.import_wrapped(order.clone()).await;
        let refused = matches!(
            outcome,
            Err(ImportError::NotUnwrapped | ImportError::Mismatch)
        );
        assert!(refused, "{made:?} as {declared:?}: {outcome:?}");
        assert_nothing_is_there(bench, &order.key.id).await;
    }
    // Some tokens unwrap this as an AES key and fail when it is used.
    let odd = Foreign {
        bytes: vec![7; 20],
        public: None,
        material: None,
    };
    let wrapped = import_key.wrap(mechanism, &odd.bytes);
    let order = import_key.order(Algorithm::Aes256, Purpose::Data, mechanism, wrapped, &odd);
    let outcome = bench.token.import_wrapped(order).await;
    assert!(
        matches!(outcome, Err(ImportError::NotUnwrapped)),
        "{outcome:?}"
    );
}

async fn an_id_is_unique(bench: &Bench) {
    let key = foreign(Algorithm::HmacSha256);
    let order = order(Algorithm::HmacSha256, Purpose::Sign, key.material.unwrap());
    let id = order.key.id.clone();
    let imported = bench.token.import(order.clone()).await.unwrap();
    let again = bench.token.import(order).await;
    assert!(matches!(again, Err(ImportError::Malformed(_))), "{again:?}");
    assert_eq!(bench.objects(&id), 1);
    bench
        .token
        .hmac(&imported.key, b"still there")
        .await
        .unwrap();
}

async fn inconsistent_requests_are_refused(bench: &Bench) {
    let secret = || KeyMaterial::Secret(vec![7; 32].into());
    for (algorithm, purpose, material) in [
        (Algorithm::Aes256, Purpose::Sign, secret()),
        (Algorithm::P256, Purpose::Sign, secret()),
        (Algorithm::Aes128, Purpose::Data, secret()),
        (Algorithm::Rsa4096, Purpose::Import, secret()),
        (
            Algorithm::HmacSha256,
            Purpose::Sign,
            KeyMaterial::Secret(vec![7; 31].into()),
        ),
    ] {
        let order = order(algorithm, purpose, material);
        let outcome = bench.token.import(order.clone()).await;
        let malformed = matches!(outcome, Err(ImportError::Malformed(_)));
        assert!(malformed, "{algorithm:?} {purpose:?}: {outcome:?}");
        assert_nothing_is_there(bench, &order.key.id).await;
    }
    let import_key = ImportKeyPair::make(bench).await;
    let key = Foreign {
        public: None,
        ..foreign(Algorithm::P256)
    };
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
    let wrapped = import_key.wrap(mechanism, &key.bytes);
    let order = import_key.order(Algorithm::P256, Purpose::Sign, mechanism, wrapped, &key);
    let outcome = bench.token.import_wrapped(order).await;
    assert!(
        matches!(outcome, Err(ImportError::Malformed(_))),
        "{outcome:?}"
    );
}

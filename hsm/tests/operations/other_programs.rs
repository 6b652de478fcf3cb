//! Keys that other programs create, rename and replace on the same token.

use formats::algorithms::{Algorithm, SignatureScheme};
use hsm::{AdoptError, Config, ErrorKind, KeyName, KeyRef, Purpose, RecordedKey, Token};

use crate::support::{SharedToken, generate_key, id};

on_both_tokens! {
    alone:
    destroying_a_key_keeps_other_keys_with_its_id,
    another_key_that_takes_the_name_of_a_used_key_stays,
    a_key_is_not_adopted_with_the_public_key_of_another,
    a_short_hmac_key_is_not_adopted,
    an_object_that_is_visible_without_a_login_replaces_no_key,
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
async fn another_key_that_takes_the_name_of_a_used_key_stays(shared: &SharedToken) {
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

//! Objects that are no internal keys, and keys that are refused.

use cryptoki::object::{Attribute, KeyType};
use hsm::ErrorKind;

use super::{LABEL, copied, create, id_of, objects, parts, secrets, session_on, with};
use crate::support::in_child_processes;

/// Such objects can be made without the PIN.
#[test]
fn an_object_that_is_not_private_is_no_internal_key() {
    in_child_processes(|fixture| async move {
        let token = fixture.open().await;
        let decoy = copied(KeyType::GENERIC_SECRET, 1, &[7; 32]);
        create(&with(decoy.clone(), Attribute::Private(false)));
        assert!(secrets(&token).await.unwrap().is_empty());
        let missing = token.destroy_internal_secret(1).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::KeyMissing, "{missing:?}");

        let made = token.make_internal_secret(1).await.unwrap();
        let found = secrets(&token).await.unwrap();
        assert_eq!(found.iter().map(parts).collect::<Vec<_>>(), [parts(&made)]);
        token.destroy_internal_secret(1).await.unwrap();
        assert_eq!(objects(1), 1, "the decoy");

        // The same object that is private counts, and derives another secret.
        create(&decoy);
        assert_ne!(parts(&secrets(&token).await.unwrap()[0]), parts(&made));
        token.close().await;
    });
}

#[test]
fn a_generation_is_made_once() {
    in_child_processes(|fixture| async move {
        let token = fixture.open().await;
        let made = token.make_internal_secret(1).await.unwrap();
        let error = token.make_internal_secret(1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.report().contains("an internal key of generation 1 exists"), "{error:?}");
        assert_eq!(parts(&secrets(&token).await.unwrap()[0]), parts(&made));
        token.close().await;
    });
}

#[test]
fn two_keys_of_one_generation_are_an_error_until_they_are_destroyed() {
    in_child_processes(|fixture| async move {
        let token = fixture.open().await;
        token.make_internal_secret(1).await.unwrap();
        let other = token.make_internal_secret(2).await.unwrap();
        create(&copied(KeyType::AES, 1, &[7; 32]));
        let error = secrets(&token).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        let why = "several internal keys have the generation 1";
        assert!(error.report().contains(why), "{error:?}");

        token.destroy_internal_secret(1).await.unwrap();
        assert_eq!(objects(1), 0);
        let left = secrets(&token).await.unwrap();
        assert_eq!(left.iter().map(parts).collect::<Vec<_>>(), [parts(&other)]);
        token.close().await;
    });
}

#[test]
fn weak_and_unknown_keys_are_refused() {
    in_child_processes(|fixture| async move {
        let token = fixture.open().await;
        let hmac = || copied(KeyType::GENERIC_SECRET, 1, &[7; 32]);
        for (template, why) in [
            (with(hmac(), Attribute::Sensitive(false)), "CKA_SENSITIVE is false"),
            (with(hmac(), Attribute::Extractable(true)), "CKA_EXTRACTABLE is true"),
            (with(hmac(), Attribute::Derive(true)), "more usages"),
            (copied(KeyType::AES, 1, &[7; 16]), "of an unknown kind"),
            (with(hmac(), Attribute::Id(b"sealward row".to_vec())), "an unknown id"),
            (with(hmac(), Attribute::Id([&id_of(1)[..], &[0]].concat())), "an unknown id"),
        ] {
            create(&template);
            let error = secrets(&token).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused);
            assert!(error.report().contains(why), "{error:?}");
            let session = session_on("one");
            for object in session.find_objects(&[Attribute::Label(LABEL.to_vec())]).unwrap() {
                session.destroy_object(object).unwrap();
            }
        }
        assert!(secrets(&token).await.unwrap().is_empty());
        token.close().await;
    });
}

//! Making internal keys, and what keeps them apart from other keys.

use cryptoki::object::{Attribute, AttributeType};
use cryptoki_sys::{
    CK_MECHANISM_TYPE, CKM_AES_CBC, CKM_AES_KEY_GEN, CKM_GENERIC_SECRET_KEY_GEN, CKM_RSA_PKCS,
    CKM_RSA_PKCS_KEY_PAIR_GEN, CKM_SHA256_HMAC, CKM_SHA256_RSA_PKCS, CKR_GENERAL_ERROR,
    CKR_KEY_SIZE_RANGE, CKR_MECHANISM_INVALID,
};
use faulty_token::{Fault, Rule};
use hsm::{AdoptError, ErrorKind, KeyName, KeyRef, Purpose, SecretMethod};

use super::{WORKER, id_of, objects, parts, secrets, session_on};
use crate::support::{in_child_process, in_child_processes};

#[test]
fn the_first_method_of_the_token_makes_the_key_and_is_found_again() {
    in_child_processes(|fixture| async move {
        // Without HMAC keys, the canary signs with ECDSA, so that HMAC can be refused later.
        fixture.faults.rules(&lacking(&[CKM_GENERIC_SECRET_KEY_GEN]));
        let token = fixture.open().await;
        let mut made = Vec::new();
        for (generation, lacks, method) in [
            (1, &[CKM_GENERIC_SECRET_KEY_GEN][..], SecretMethod::AesCbc),
            (2, &[CKM_SHA256_HMAC], SecretMethod::AesCbc),
            (3, &[CKM_SHA256_HMAC, CKM_AES_KEY_GEN], SecretMethod::RsaSignature),
            (4, &[CKM_SHA256_HMAC, CKM_AES_CBC], SecretMethod::RsaSignature),
            // A TPM signs only what it has hashed.
            (5, &[CKM_SHA256_HMAC, CKM_AES_CBC, CKM_RSA_PKCS], SecretMethod::RsaSignature),
            (6, &[], SecretMethod::Hmac),
        ] {
            fixture.faults.rules(&lacking(lacks));
            let secret = token.make_internal_secret(generation).await.unwrap();
            assert_eq!((secret.generation, secret.method), (generation, method));
            // A pair of RSA keys has two objects.
            let expected = 1 + usize::from(method == SecretMethod::RsaSignature);
            assert_eq!(objects(generation), expected, "generation {generation}");
            made.push(parts(&secret));
        }
        let generation = 7;
        for last in [&[CKM_RSA_PKCS_KEY_PAIR_GEN][..], &[CKM_RSA_PKCS, CKM_SHA256_RSA_PKCS]] {
            fixture.faults.rules(&lacking(&[&[CKM_SHA256_HMAC, CKM_AES_CBC], last].concat()));
            let error = token.make_internal_secret(generation).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused, "{error:?}");
            assert_eq!(objects(generation), 0);
        }
        token.close().await;

        fixture.faults.rules(&[]);
        let token = fixture.open().await;
        let found: Vec<_> = secrets(&token).await.unwrap().iter().map(parts).collect();
        assert_eq!(found, made);
        token.close().await;
    });
}

/// Many TPMs have no RSA-3072.
#[test]
fn a_token_without_rsa_3072_derives_from_a_shorter_key() {
    in_child_process(|fixture| async move {
        // Without HMAC keys, the canary signs with ECDSA, so that HMAC can be refused later.
        fixture.faults.rules(&lacking(&[CKM_GENERIC_SECRET_KEY_GEN]));
        let token = fixture.open().await;
        let mut rules = lacking(&[CKM_SHA256_HMAC, CKM_AES_CBC]);
        let once = Fault::Return(CKR_KEY_SIZE_RANGE).on("C_GenerateKeyPair").calls(1..=1);
        rules.push(once);
        fixture.faults.rules(&rules);
        let secret = token.make_internal_secret(1).await.unwrap();
        assert_eq!((secret.method, secret.bytes.len()), (SecretMethod::RsaSignature, 256));
        let found = secrets(&token).await.unwrap();
        assert_eq!(found.iter().map(parts).collect::<Vec<_>>(), [parts(&secret)]);
        token.close().await;
    });
}

#[test]
fn secrets_have_no_visible_bytes_and_differ_between_generations() {
    in_child_processes(|fixture| async move {
        let token = fixture.open().await;
        assert!(secrets(&token).await.unwrap().is_empty());
        let one = token.make_internal_secret(1).await.unwrap();
        let shown = r#"InternalSecret { generation: 1, method: Hmac, bytes: "[redacted]" }"#;
        assert_eq!(format!("{one:?}"), shown);
        assert_eq!(one.bytes.len(), 32);
        let last = token.make_internal_secret(u32::MAX).await.unwrap();
        assert_ne!(one.bytes, last.bytes);
        let generations = secrets(&token).await.unwrap();
        let generations: Vec<_> = generations.iter().map(|secret| secret.generation).collect();
        assert_eq!(generations, [1, u32::MAX]);
        token.close().await;
    });
}

#[test]
fn a_key_allows_nothing_but_its_derivation() {
    in_child_processes(|fixture| async move {
        let token = fixture.open().await;
        for (generation, lacks, method) in [
            (1, &[][..], SecretMethod::Hmac),
            (2, &[CKM_GENERIC_SECRET_KEY_GEN], SecretMethod::AesCbc),
            (3, &[CKM_GENERIC_SECRET_KEY_GEN, CKM_AES_KEY_GEN], SecretMethod::RsaSignature),
        ] {
            fixture.faults.rules(&lacking(lacks));
            assert_eq!(token.make_internal_secret(generation).await.unwrap().method, method);
            let (encrypts, signs) = match method {
                SecretMethod::AesCbc => (true, false),
                SecretMethod::Hmac | SecretMethod::RsaSignature => (false, true),
            };
            let mut expected = vec![
                Attribute::Sensitive(true),
                Attribute::Extractable(false),
                Attribute::NeverExtractable(true),
                Attribute::Sign(signs),
                Attribute::Decrypt(false),
                Attribute::Derive(false),
                Attribute::Unwrap(false),
            ];
            if method != SecretMethod::RsaSignature {
                expected.extend([
                    Attribute::Encrypt(encrypts),
                    Attribute::Verify(false),
                    Attribute::Wrap(false),
                ]);
            }
            let wanted: Vec<AttributeType> =
                expected.iter().map(Attribute::attribute_type).collect();
            let session = session_on("one");
            let private = [Attribute::Id(id_of(generation)), Attribute::Private(true)];
            let keys = session.find_objects(&private).unwrap();
            assert_eq!(keys.len(), 1);
            assert_eq!(session.get_attributes(keys[0], &wanted).unwrap(), expected, "{method:?}");
        }
        token.close().await;
    });
}

#[test]
fn a_method_that_is_not_deterministic_is_not_used() {
    in_child_processes(|fixture| async move {
        let token = fixture.open().await;
        let vary = |function| Fault::Vary.on(function);
        fixture.faults.rules(&[vary("C_Sign"), vary("C_Encrypt")]);
        let error = token.make_internal_secret(1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error:?}");
        assert_eq!(objects(1), 0);

        fixture.faults.rules(&[vary("C_Sign")]);
        let secret = token.make_internal_secret(1).await.unwrap();
        assert_eq!(secret.method, SecretMethod::AesCbc);
        fixture.faults.rules(&[vary("C_Encrypt")]);
        let error = secrets(&token).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error:?}");
        fixture.faults.rules(&[]);
        assert_eq!(parts(&secrets(&token).await.unwrap()[0]), parts(&secret));
        token.close().await;
    });
}

#[test]
fn a_repeated_write_leaves_one_key_and_a_failed_one_none() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        for (generation, fault, function) in [
            // The token ends the session after it has made the key, when the key is read back.
            (1, Fault::DropSessions, "C_GetAttributeValue"),
            (2, Fault::Return(CKR_GENERAL_ERROR), "C_GenerateKey"),
            (3, Fault::ThenReturn(CKR_GENERAL_ERROR), "C_GenerateKey"),
        ] {
            let before = fixture.faults.calls("C_GenerateKey");
            fixture.faults.rules(&[fault.on(function).thread(WORKER).calls(1..=1)]);
            let secret = token.make_internal_secret(generation).await.unwrap();
            assert_eq!(secret.method, SecretMethod::Hmac);
            assert_eq!(fixture.faults.calls("C_GenerateKey"), before + 2, "{fault:?}");
            assert_eq!(objects(generation), 1, "{fault:?}");
        }
        let failures = ["C_GenerateKey", "C_GenerateKeyPair"]
            .map(|function| Fault::ThenReturn(CKR_GENERAL_ERROR).on(function));
        fixture.faults.rules(&failures);
        let error = token.make_internal_secret(4).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error:?}");
        assert_eq!(objects(4), 0);
        token.close().await;
    });
}

#[test]
fn an_internal_key_is_not_listed_adopted_used_or_destroyed_as_another_key() {
    in_child_processes(|fixture| async move {
        let token = fixture.open().await;
        let secret = token.make_internal_secret(1).await.unwrap();
        let inventory = token.inventory().await.unwrap();
        let name = KeyName::Id(id_of(1));
        let listed: Vec<_> = inventory.iter().filter(|object| object.key.name == name).collect();
        assert!(matches!(listed.as_slice(), [object] if object.internal), "{listed:?}");

        for name in [name, KeyName::Label("sealward-internal rows".to_owned())] {
            let adopted = token.adopt(name, Purpose::Sign, None).await;
            assert!(matches!(adopted, Err(AdoptError::Internal)), "{adopted:?}");
        }
        let key = KeyRef::secret(id_of(1));
        let used = token.hmac(&key, b"message").await.unwrap_err();
        assert_eq!(used.kind(), ErrorKind::KeyMissing, "{used:?}");
        let destroyed = token.destroy(&key).await.unwrap_err();
        assert_eq!(destroyed.kind(), ErrorKind::Refused, "{destroyed:?}");
        assert_eq!(parts(&secrets(&token).await.unwrap()[0]), parts(&secret));
        token.close().await;
    });
}

/// Rules with which the token lacks these mechanisms.
fn lacking(mechanisms: &[CK_MECHANISM_TYPE]) -> Vec<Rule> {
    let refuse = |mechanism: &CK_MECHANISM_TYPE| {
        ["C_GenerateKey", "C_GenerateKeyPair", "C_SignInit", "C_EncryptInit"]
            .map(|function| Fault::Return(CKR_MECHANISM_INVALID).on(function).mechanism(*mechanism))
    };
    mechanisms.iter().flat_map(refuse).collect()
}

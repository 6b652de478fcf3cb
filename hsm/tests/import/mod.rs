//! Keys that come from elsewhere: in plaintext, and wrapped for the token.

mod accepted;
mod refused;
mod unlike;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rsa::PublicKeyComponents;
use hsm::{
    AdoptError, Algorithm, ErrorKind, Generated, ImportKey, ImportMechanism, ImportWrapped,
    Imported, KeyKind, KeyMaterial, KeyRef, NewKey, PublicKey, Purpose, Weakness, wrap_for_import,
};

use crate::support::foreign::Foreign;
use crate::support::{Bench, Kind, id};

fn purposes(algorithm: Algorithm) -> &'static [Purpose] {
    match algorithm {
        Algorithm::Aes128 | Algorithm::Aes256 => &[Purpose::Data],
        Algorithm::Ed25519 | Algorithm::HmacSha256 => &[Purpose::Sign],
        _ => &[Purpose::Envelope, Purpose::Sign],
    }
}

/// The token takes the key for what it is, and it is as guarded as one made there, except that it
/// has been outside.
async fn assert_sound(
    bench: &Bench,
    imported: &Imported,
    came: Came,
    algorithm: Algorithm,
    purpose: Purpose,
) {
    let name = imported.key.name.clone();
    let adopt = |expected| bench.token.adopt(name.clone(), purpose, expected);
    // SoftHSM does not tell the length of an AES key that it unwrapped.
    let is_aes = matches!(algorithm, Algorithm::Aes128 | Algorithm::Aes256);
    let untold = is_aes && bench.kind == Kind::SoftHsm && came == Came::Wrapped;
    if untold {
        let adopted = adopt(None).await;
        assert!(
            matches!(adopted, Err(AdoptError::UnknownLength)),
            "{adopted:?}"
        );
    }
    let adopted = adopt(untold.then_some(algorithm)).await.unwrap();
    assert_eq!(adopted.algorithm, algorithm);
    assert_eq!(adopted.public, imported.public);
    // kryoptic takes a key that came wrapped for one that was never outside.
    let weaknesses: &[_] = match (bench.kind, came) {
        (Kind::Kryoptic, Came::Wrapped) => &[],
        _ if untold => &[Weakness::WasExtractable, Weakness::UnknownLength],
        _ => &[Weakness::WasExtractable],
    };
    assert_eq!(adopted.weaknesses, weaknesses);
    let unlike = adopt(Some(Algorithm::P521)).await;
    match algorithm {
        Algorithm::P521 => assert!(unlike.is_ok(), "{unlike:?}"),
        _ if untold => assert!(matches!(unlike, Err(AdoptError::Unfit(_))), "{unlike:?}"),
        _ => assert!(
            matches!(unlike, Err(AdoptError::OtherAlgorithm(actual)) if actual == algorithm),
            "{unlike:?}"
        ),
    }
    let kind = bench.token.find(&imported.key).await.unwrap().kind;
    match untold {
        true => assert_eq!(kind, KeyKind::AesOfUnknownLength),
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
        (Purpose::Sign, Algorithm::HmacSha256) => {
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

fn order(algorithm: Algorithm, purpose: Purpose, material: KeyMaterial) -> ImportKey {
    ImportKey {
        key: NewKey {
            id: id(),
            label: "imported".to_owned(),
            algorithm,
            purpose,
        },
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
        let order = NewKey {
            id: id(),
            label: "import".to_owned(),
            algorithm: Algorithm::Rsa2048,
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
        algorithm: Algorithm,
        purpose: Purpose,
        mechanism: ImportMechanism,
        wrapped: Vec<u8>,
        key: &Foreign,
    ) -> ImportWrapped {
        ImportWrapped {
            key: NewKey {
                id: id(),
                label: "imported".to_owned(),
                algorithm,
                purpose,
            },
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

//! Import of keys in plaintext and wrapped.

mod accepted;
mod refused;
mod unlike;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rsa::PublicKeyComponents;
use formats::algorithms::PublicParts;
use formats::algorithms::{Algorithm, ImportMechanism};
use hsm::{
    AdoptError, ErrorKind, Generated, ImportKey, ImportWrapped, Imported, KeyKind, KeyMaterial,
    KeyRef, NewKey, Purpose, Weakness, wrap_for_import,
};

use crate::support::foreign::Foreign;
use crate::support::{Kind, SharedToken, id};

fn purposes(algorithm: Algorithm) -> &'static [Purpose] {
    match algorithm {
        Algorithm::Aes128 | Algorithm::Aes256 => &[Purpose::Data],
        Algorithm::Ed25519 | Algorithm::HmacSha256 => &[Purpose::Sign],
        _ => &[Purpose::Envelope, Purpose::Sign],
    }
}

/// Asserts that the token recognizes the key and protects it like a generated one, except that the
/// key was outside the token.
async fn assert_sound(
    shared: &SharedToken,
    imported: &Imported,
    source: ImportedAs,
    algorithm: Algorithm,
    purpose: Purpose,
) {
    let name = imported.key.name.clone();
    let adopt = |expected| shared.token.adopt(name.clone(), purpose, expected);
    // SoftHSM does not report the length of an unwrapped AES key.
    let is_aes = matches!(algorithm, Algorithm::Aes128 | Algorithm::Aes256);
    let has_unknown_length =
        is_aes && shared.kind == Kind::SoftHsm && source == ImportedAs::Wrapped;
    if has_unknown_length {
        let adopted = adopt(None).await;
        assert!(matches!(adopted, Err(AdoptError::UnknownLength)), "{adopted:?}");
    }
    let adopted = adopt(has_unknown_length.then_some(algorithm)).await.unwrap();
    assert_eq!(adopted.algorithm, algorithm);
    assert_eq!(adopted.public, imported.public);
    // kryoptic reports an unwrapped key as never extractable.
    let weaknesses: &[_] = match (shared.kind, source) {
        (Kind::Kryoptic, ImportedAs::Wrapped) => &[],
        _ if has_unknown_length => &[Weakness::WasExtractable, Weakness::UnknownLength],
        _ => &[Weakness::WasExtractable],
    };
    assert_eq!(adopted.weaknesses, weaknesses);
    let mismatched = adopt(Some(Algorithm::P521)).await;
    match algorithm {
        Algorithm::P521 => assert!(mismatched.is_ok(), "{mismatched:?}"),
        _ if has_unknown_length => {
            assert!(matches!(mismatched, Err(AdoptError::Unfit(_))), "{mismatched:?}")
        }
        _ => assert!(
            matches!(mismatched, Err(AdoptError::OtherAlgorithm(actual)) if actual == algorithm),
            "{mismatched:?}"
        ),
    }
    let kind = shared.token.find(&imported.key).await.unwrap().kind;
    match has_unknown_length {
        true => assert_eq!(kind, KeyKind::AesOfUnknownLength),
        false => assert_eq!(kind, KeyKind::Known(algorithm)),
    }
    match (purpose, algorithm) {
        (Purpose::Data, _) => {
            let sealed =
                shared.token.aes_gcm_encrypt(&imported.key, b"aad", b"text").await.unwrap();
            let opened = shared
                .token
                .aes_gcm_decrypt(&imported.key, &sealed.iv, b"aad", &sealed.ciphertext, &sealed.tag)
                .await;
            assert_eq!(*opened.unwrap(), b"text");
        }
        (Purpose::Sign, Algorithm::HmacSha256) => {
            assert_eq!(shared.token.hmac(&imported.key, b"m").await.unwrap().len(), 32);
        }
        _ => {}
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ImportedAs {
    Wrapped,
    Material,
}

/// Asserts that neither the token nor a session contains an object with this ID. The test uses its
/// own session, because the crate lists no session objects.
async fn assert_nothing_is_there(shared: &SharedToken, id: &[u8]) {
    for key in [KeyRef::private(id), KeyRef::secret(id)] {
        let found = shared.token.find(&key).await.map_err(|error| error.kind());
        assert_eq!(found.map(|_| ()), Err(ErrorKind::KeyMissing));
    }
    assert_eq!(shared.objects(id), 0, "objects remain");
}

fn request(algorithm: Algorithm, purpose: Purpose, material: KeyMaterial) -> ImportKey {
    ImportKey {
        key: NewKey { id: id(), label: "imported".to_owned(), algorithm, purpose },
        material,
    }
}

/// An import key in the token and its SPKI.
struct ImportKeyPair {
    created: Generated,
    spki: Vec<u8>,
}

impl ImportKeyPair {
    async fn generate_key(shared: &SharedToken) -> Self {
        let request = NewKey {
            id: id(),
            label: "import".to_owned(),
            algorithm: Algorithm::Rsa2048,
            purpose: Purpose::Import,
        };
        let created = shared.token.generate(request).await.unwrap();
        let Some(PublicParts::Rsa { modulus, exponent }) = &created.public else {
            panic!("{created:?}");
        };
        let spki: PublicKeyX509Der<'_> =
            PublicKeyComponents { n: modulus, e: exponent }.as_der().unwrap();
        let spki = spki.as_ref().to_vec();
        Self { created, spki }
    }

    fn wrap(&self, mechanism: ImportMechanism, key: &[u8]) -> Vec<u8> {
        wrap_for_import(&self.spki, mechanism, key).unwrap()
    }

    fn request(
        &self,
        algorithm: Algorithm,
        purpose: Purpose,
        mechanism: ImportMechanism,
        wrapped: Vec<u8>,
        key: &Foreign,
    ) -> ImportWrapped {
        ImportWrapped {
            key: NewKey { id: id(), label: "imported".to_owned(), algorithm, purpose },
            import_key: self.created.key.clone(),
            mechanism,
            wrapped,
            public: key.public.clone(),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

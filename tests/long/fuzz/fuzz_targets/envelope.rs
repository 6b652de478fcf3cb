//! Envelopes as objects: every parsed envelope results in a valid private key operation, and no
//! envelope opens without its result.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use formats::clock::Entropy;
use formats::envelope::{Envelope, Family, HpkeRevision, PublicKey, Question};
use formats::json::Text;
use formats::material::Kem;

static RSA: LazyLock<PublicKey> = LazyLock::new(|| key(include_bytes!("../keys/rsa-2048.spki")));
static P256: LazyLock<PublicKey> = LazyLock::new(|| key(P256_SPKI));
static ML_KEM_768: LazyLock<PublicKey> = LazyLock::new(|| kem_key(Kem::MlKem768));
static ML_KEM_1024: LazyLock<PublicKey> = LazyLock::new(|| kem_key(Kem::MlKem1024));
static HYBRID: LazyLock<PublicKey> = LazyLock::new(|| kem_key(Kem::P256MlKem768));

const P256_SPKI: &[u8] = include_bytes!("../keys/p-256.spki");

fuzz_target!(|body: &[u8]| {
    let Ok(text) = Text::parse(body) else { return };
    match Envelope::parse(text) {
        Err(problems) => assert!(!problems.is_empty()),
        Ok(envelope) => {
            let entropy = Entropy::system();
            let (fit, length) = match envelope.family() {
                Family::Rsa => (&*RSA, 256),
                Family::Ec => (&*P256, 65),
                Family::MlKem768 => (&*ML_KEM_768, Kem::MlKem768.ciphertext_len()),
                Family::MlKem1024 => (&*ML_KEM_1024, Kem::MlKem1024.ciphertext_len()),
                Family::P256MlKem768 => (&*HYBRID, Kem::P256MlKem768.ciphertext_len()),
                other => panic!("no envelope is for {other}"),
            };
            let opening = envelope
                .for_key(&entropy, fit)
                .expect("a key of the right family fits");
            let asked = match opening.question() {
                Question::Decrypt { wrapped_key, .. } => wrapped_key,
                Question::Agree { peer } => peer,
                Question::Decapsulate { ciphertext, .. } => ciphertext,
            };
            assert_eq!(asked.len(), length);
            let answer = body.get(..32).filter(|_| body.len() % 2 == 0);
            assert!(
                opening.open(&entropy, answer, None).is_err(),
                "opened without the key"
            );
        }
    }
});

/// Zeros are an encapsulation key of ML-KEM. The point is the end of a SubjectPublicKeyInfo.
fn kem_key(kem: Kem) -> PublicKey {
    let mut key = vec![0; kem.ml_kem().public_len()];
    key.extend_from_slice(&P256_SPKI[P256_SPKI.len() - (kem.public_len() - key.len())..]);
    PublicKey::of_kem(HpkeRevision::Pqt01, kem, &key).expect("it is a key")
}

fn key(spki: &[u8]) -> PublicKey {
    PublicKey::from_spki(spki).expect("the key of the corpus is one")
}

//! Envelopes as objects: every parsed envelope results in a valid private key operation, and no
//! envelope opens without its result.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sealward::clock::Entropy;
use sealward::envelope::{Envelope, Family, PublicKey, Question};
use sealward::json::Text;

static RSA: LazyLock<PublicKey> = LazyLock::new(|| key(include_bytes!("../keys/rsa-2048.spki")));
static P256: LazyLock<PublicKey> = LazyLock::new(|| key(include_bytes!("../keys/p-256.spki")));

fuzz_target!(|body: &[u8]| {
    let Ok(text) = Text::parse(body) else { return };
    match Envelope::parse(text) {
        Err(problems) => assert!(!problems.is_empty()),
        Ok(envelope) => {
            let entropy = Entropy::system();
            let (fit, length) = match envelope.family() {
                Family::Rsa => (&*RSA, 256),
                Family::Ec => (&*P256, 65),
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

fn key(spki: &[u8]) -> PublicKey {
    PublicKey::from_spki(spki).expect("the key of the corpus is one")
}

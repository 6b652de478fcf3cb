//! Imported keys: PEM, JWK and DER, public and private.
#![no_main]

use libfuzzer_sys::fuzz_target;
use formats::envelope;
use formats::json::Text;
use formats::material::{Algorithm, PrivateKey, PrivatePem, PublicKey};

fuzz_target!(|bytes: &[u8]| {
    PublicKey::from_spki(bytes)
        .into_iter()
        .for_each(|key| public(&key));
    PrivateKey::from_pkcs8(bytes)
        .into_iter()
        .for_each(|key| private(&key));
    if let Ok(text) = str::from_utf8(bytes) {
        PublicKey::from_pem(text)
            .into_iter()
            .for_each(|key| public(&key));
        if let Ok(PrivatePem::Open(key)) = PrivatePem::read(text) {
            private(&key);
        }
    }
    if let Ok(text) = Text::parse(bytes) {
        PublicKey::from_jwk(text)
            .into_iter()
            .for_each(|key| public(&key));
        PrivateKey::from_jwk(text)
            .into_iter()
            .for_each(|key| private(&key));
    }
});

/// A parsed key can be encoded and parsed again, and can receive envelopes.
fn public(key: &PublicKey) {
    let spki = key.to_spki();
    let again = PublicKey::from_spki(&spki).expect("our SPKI reads back");
    assert_eq!(again.to_spki(), spki);
    assert_eq!(again.thumbprint(), key.thumbprint());
    let from_pem = PublicKey::from_pem(&key.to_pem()).expect("our PEM reads back");
    assert_eq!(from_pem.to_spki(), spki);
    if key.algorithm() != Algorithm::Ed25519 {
        envelope::PublicKey::from_spki(&spki).expect("envelopes can be made for it");
    }
}

fn private(key: &PrivateKey) {
    let again = PrivateKey::from_pkcs8(&key.to_pkcs8()).expect("our PKCS#8 reads back");
    assert_eq!(again.public().to_spki(), key.public().to_spki());
    public(key.public());
}

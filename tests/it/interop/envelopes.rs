//! Envelopes in both directions, for every algorithm and curve.

use formats::envelope::{Curve, Enc, Envelope};
use formats::json::Text;
use serde_json::{Value, json};

use super::peer::Peer;
use crate::envelope::{read, sealed};
use testkit::PrivateKey;

const PLAINTEXT: &str = "{\"b\": 1.0, \"a\":[\"grün\",12345678901234567890]}";

#[test]
fn sealward_and_jose_open_each_others_envelopes() {
    exchange(Peer::jose());
}

#[test]
fn sealward_and_jwcrypto_open_each_others_envelopes() {
    exchange(Peer::jwcrypto());
}

#[test]
fn sealward_and_joserfc_open_each_others_envelopes() {
    exchange(Peer::joserfc());
}

#[test]
fn apu_and_apv_from_jose_enter_the_key_derivation() {
    let key = PrivateKey::ec(Curve::P256);
    let from_peer = Peer::jose().ask(&json!({
        "do": "seal", "alg": "ECDH-ES+A128KW", "enc": "A256GCM", "publicKey": key.spki_pem(),
        "plaintext": PLAINTEXT, "header": {}, "apu": "Alice", "apv": "Bob",
    }));
    assert_eq!(key.open(read(&from_peer.to_string())).unwrap().as_bytes(), PLAINTEXT.as_bytes());
}

fn exchange(mut peer: Peer) {
    let headers = [json!({}), json!({"kid": "theirs", "cty": "json", "typ": "JWE"})];
    let mut exchanged = 0;
    for (key, algs) in PrivateKey::of_every_kind() {
        for (alg, enc) in algs.iter().flat_map(|&alg| Enc::ALL.map(|enc| (alg, enc))) {
            let own: Value = serde_json::from_str(&sealed(&key, alg, enc, PLAINTEXT)).unwrap();
            let opened = peer.ask(&json!({
                "do": "open", "alg": alg, "privateKey": key.pkcs8_pem(), "jwe": own,
            }));
            assert_eq!(opened, PLAINTEXT, "the peer opens envelopes of Sealward: {alg} {enc}");

            for header in &headers {
                let from_peer = peer.ask(&json!({
                    "do": "seal", "alg": alg, "enc": enc, "publicKey": key.spki_pem(),
                    "plaintext": PLAINTEXT, "header": header,
                }));
                let opened = key.open(either_form(&from_peer)).unwrap();
                assert_eq!(
                    opened.as_bytes(),
                    PLAINTEXT.as_bytes(),
                    "Sealward opens envelopes of the peer: {alg} {enc}"
                );
            }
            exchanged += 1;
        }
    }
    assert_eq!(exchanged, 16, "RSA and three curves, two algorithms each, two ciphers each");
}

/// The flattened object, or the compact form converted to it.
fn either_form(answer: &Value) -> Envelope {
    let Value::String(compact) = answer else {
        return read(&answer.to_string());
    };
    let names = ["protected", "encrypted_key", "iv", "ciphertext", "tag"];
    let members = names.into_iter().map(str::to_owned).zip(compact.split('.').map(Value::from));
    let object = Value::Object(members.collect()).to_string();
    Envelope::parse(Text::parse(object.as_bytes()).unwrap()).unwrap()
}

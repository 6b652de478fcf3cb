//! Envelopes, both ways, for every algorithm and curve.

use sealward::envelope::{Curve, Enc, Envelope};
use sealward::json::Text;
use serde_json::{Value, json};

use super::peer::Peer;
use crate::envelope::{PrivateKey, read, sealed};

const PLAINTEXT: &str = "{\"b\": 1.0, \"a\":[\"grün\",12345678901234567890]}";

#[test]
fn jose_opens_ours_and_we_open_those_of_jose() {
    exchange(Peer::jose());
}

#[test]
fn jwcrypto_opens_ours_and_we_open_those_of_jwcrypto() {
    exchange(Peer::jwcrypto());
}

#[test]
fn joserfc_opens_ours_and_we_open_those_of_joserfc() {
    exchange(Peer::joserfc());
}

#[test]
fn parties_that_jose_names_go_into_the_key() {
    let key = PrivateKey::ec(Curve::P256);
    let theirs = Peer::jose().ask(&json!({
        "do": "seal", "alg": "ECDH-ES+A128KW", "enc": "A256GCM", "publicKey": key.spki_pem(),
        "plaintext": PLAINTEXT, "header": {}, "apu": "Alice", "apv": "Bob",
    }));
    assert_eq!(
        key.open(read(&theirs.to_string())).unwrap().as_bytes(),
        PLAINTEXT.as_bytes()
    );
}

fn exchange(mut peer: Peer) {
    let headers = [
        json!({}),
        json!({"kid": "theirs", "cty": "json", "typ": "JWE"}),
    ];
    let mut exchanged = 0;
    for (key, algs) in PrivateKey::of_every_kind() {
        for (alg, enc) in algs.iter().flat_map(|&alg| Enc::ALL.map(|enc| (alg, enc))) {
            let ours: Value = serde_json::from_str(&sealed(&key, alg, enc, PLAINTEXT)).unwrap();
            let opened = peer.ask(&json!({
                "do": "open", "alg": alg, "privateKey": key.pkcs8_pem(), "jwe": ours,
            }));
            assert_eq!(opened, PLAINTEXT, "they open ours: {alg} {enc}");

            for header in &headers {
                let theirs = peer.ask(&json!({
                    "do": "seal", "alg": alg, "enc": enc, "publicKey": key.spki_pem(),
                    "plaintext": PLAINTEXT, "header": header,
                }));
                let opened = key.open(either_form(&theirs)).unwrap();
                assert_eq!(
                    opened.as_bytes(),
                    PLAINTEXT.as_bytes(),
                    "we open theirs: {alg} {enc}"
                );
            }
            exchanged += 1;
        }
    }
    assert_eq!(
        exchanged, 16,
        "RSA and three curves, two algorithms each, two ciphers each"
    );
}

/// The flattened object, or the compact form split into it.
fn either_form(answer: &Value) -> Envelope {
    let Value::String(compact) = answer else {
        return read(&answer.to_string());
    };
    let names = ["protected", "encrypted_key", "iv", "ciphertext", "tag"];
    let members = names
        .into_iter()
        .map(str::to_owned)
        .zip(compact.split('.').map(Value::from));
    let object = Value::Object(members.collect()).to_string();
    Envelope::parse(Text::parse(object.as_bytes()).unwrap()).unwrap()
}

//! A modified envelope does not open.

use formats::clock::Entropy;
use formats::envelope::{Alg, Context, Curve, Enc, Envelope, Unopenable};
use formats::json::Text;
use serde_json::{Value, json};

use testkit::PrivateKey;

use super::{read, sealed, sealed_in};

const MEMBERS: [&str; 5] = ["protected", "encrypted_key", "iv", "ciphertext", "tag"];

const POLICY: &str = "pol_01h455vb4pex5vsknk084sn02q";

/// Replacements for a character: those that differ in one bit, a distant one, and three outside the
/// alphabet.
const OTHERS: [fn(u8) -> u8; 6] = [
    |it| it ^ 1,
    |it| it ^ 2,
    |it| if it == b'A' { b'z' } else { b'A' },
    |_| b'=',
    |_| b'.',
    |_| b' ',
];

#[test]
fn every_changed_character_of_every_member_is_refused() {
    for (key, alg) in
        [(PrivateKey::rsa(), Alg::RsaOaep256), (PrivateKey::ec(Curve::P256), Alg::EcdhEsA256Kw)]
    {
        let object: Value =
            serde_json::from_str(&sealed(&key, alg, Enc::A256GCM, r#"{"iban":"DE02"}"#)).unwrap();
        for name in MEMBERS {
            let whole = object[name].as_str().unwrap();
            for (at, change) in (0..whole.len()).flat_map(|at| OTHERS.map(|change| (at, change))) {
                let mut bytes = whole.as_bytes().to_vec();
                bytes[at] = change(bytes[at]);
                let Ok(changed) = String::from_utf8(bytes) else {
                    continue;
                };
                let mut tampered = object.clone();
                tampered[name] = changed.into();
                assert!(!opens(&key, &tampered), "{alg}: {name} changed at {at}");
            }
        }
    }
}

#[test]
fn every_changed_character_of_a_bound_header_is_refused() {
    let context = Context::parse(Text::parse(br#"{"tenant":"acme"}"#).unwrap()).unwrap();
    let key = PrivateKey::ec(Curve::P256);
    let (alg, enc) = (Alg::EcdhEsA256Kw, Enc::A256GCM);
    let sealed = sealed_in(&key, alg, enc, "1", Some(POLICY), Some(&context));
    let object: Value = serde_json::from_str(&sealed).unwrap();
    assert!(opens_in(&key, &object, Some(&context)));
    assert!(!opens(&key, &object));
    let whole = object["protected"].as_str().unwrap();
    for (at, change) in (0..whole.len()).flat_map(|at| OTHERS.map(|change| (at, change))) {
        let mut bytes = whole.as_bytes().to_vec();
        bytes[at] = change(bytes[at]);
        let Ok(changed) = String::from_utf8(bytes) else {
            continue;
        };
        let mut tampered = object.clone();
        tampered["protected"] = changed.into();
        let opened = opens_in(&key, &tampered, Some(&context)) || opens(&key, &tampered);
        assert!(!opened, "changed at {at}");
    }
}

#[test]
fn every_shortened_or_lengthened_member_is_refused() {
    let key = PrivateKey::ec(Curve::P384);
    let object: Value =
        serde_json::from_str(&sealed(&key, Alg::EcdhEsA128Kw, Enc::A128GCM, "[1,2,3]")).unwrap();
    for name in MEMBERS {
        let whole = object[name].as_str().unwrap();
        let cut = (0..whole.len()).map(|end| whole[..end].to_owned());
        let grown = ["A", "AA", "AAA", "AAAA"].map(|more| format!("{whole}{more}"));
        for changed in cut.chain(grown) {
            let mut tampered = object.clone();
            tampered[name] = changed.as_str().into();
            assert!(!opens(&key, &tampered), "{name} as {changed}");
        }
    }
}

#[test]
fn members_of_two_envelopes_cannot_be_combined() {
    let key = PrivateKey::rsa();
    let [one, other] = ["1", "2"].map(|plaintext| {
        let object = sealed(&key, Alg::RsaOaep, Enc::A256GCM, plaintext);
        serde_json::from_str::<Value>(&object).unwrap()
    });
    assert!(opens(&key, &one) && opens(&key, &other));
    for name in ["encrypted_key", "iv", "ciphertext", "tag"] {
        let mut mixed = one.clone();
        mixed[name] = other[name].clone();
        assert!(!opens(&key, &mixed), "{name} of the other");
    }
}

/// Every cryptographic failure uses the key once, with a well-formed question, and returns the same
/// error.
#[test]
fn all_cryptographic_failures_return_the_same_error() {
    let (rsa, ec) = (PrivateKey::rsa(), PrivateKey::ec(Curve::P256));
    let of_rsa = sealed(&rsa, Alg::RsaOaep256, Enc::A256GCM, "1");
    let of_ec = sealed(&ec, Alg::EcdhEsA256Kw, Enc::A256GCM, "1");
    let (short, long) = ("AAAA".to_owned(), "A".repeat(400));
    // Neither is a whole number of bytes: 6 bits, and 12 bits with the last bit set.
    let (cut, altered) = ("A".to_owned(), "AB".to_owned());
    let above_modulus = format!("{}w", "_".repeat(341));
    for (key, object, name, value, about) in [
        (&rsa, &of_rsa, "encrypted_key", String::new(), "no wrapped key"),
        (&rsa, &of_rsa, "encrypted_key", short.clone(), "a short wrapped key"),
        (&rsa, &of_rsa, "encrypted_key", long.clone(), "a long wrapped key"),
        (&rsa, &of_rsa, "encrypted_key", above_modulus, "a wrapped key above the modulus"),
        (&rsa, &of_rsa, "encrypted_key", "A".repeat(342), "a padding that does not decode"),
        (&rsa, &of_rsa, "iv", short.clone(), "a short iv"),
        (&rsa, &of_rsa, "iv", long.clone(), "a long iv"),
        (&rsa, &of_rsa, "tag", short.clone(), "a short tag"),
        (&rsa, &of_rsa, "tag", "A".repeat(22), "a wrong tag"),
        (&rsa, &of_rsa, "ciphertext", String::new(), "no ciphertext"),
        (&rsa, &of_rsa, "encrypted_key", cut.clone(), "a wrapped key that was cut"),
        (&rsa, &of_rsa, "iv", altered.clone(), "an altered iv"),
        (&rsa, &of_rsa, "ciphertext", altered, "altered ciphertext"),
        (&rsa, &of_rsa, "tag", cut.clone(), "a tag that was cut"),
        (&ec, &of_ec, "encrypted_key", cut, "a wrapped key that was cut"),
        (&ec, &of_ec, "protected", with_point("A", &"A".repeat(43)), "a coordinate that was cut"),
        (&ec, &of_ec, "encrypted_key", short, "a short wrapped key"),
        (&ec, &of_ec, "encrypted_key", long, "a long wrapped key"),
        (&ec, &of_ec, "encrypted_key", "A".repeat(54), "a key wrap that is not authentic"),
        (&ec, &of_ec, "protected", with_point("AA", "AA"), "coordinates that are too short"),
        (
            &ec,
            &of_ec,
            "protected",
            with_point(&"A".repeat(43), &"A".repeat(43)),
            "a point off the curve",
        ),
    ] {
        let mut tampered: Value = serde_json::from_str(object).unwrap();
        tampered[name] = value.into();
        let opening = key.asked(read(&tampered.to_string()));
        let right_form = key.asked(read(object));
        let length = |opening: &formats::envelope::Opening| match opening.question() {
            formats::envelope::Question::Decrypt { wrapped_key, .. } => wrapped_key.len(),
            formats::envelope::Question::Agree { peer } => peer.len(),
            formats::envelope::Question::Decapsulate { ciphertext, .. } => ciphertext.len(),
        };
        assert_eq!(length(&opening), length(&right_form), "{about}");
        let answer = key.answer(opening.question());
        assert!(
            matches!(opening.open(&Entropy::system(), answer.as_deref(), None), Err(Unopenable)),
            "{about}"
        );
    }
    let unanswered = rsa.asked(read(&of_rsa)).open(&Entropy::system(), None, None);
    assert!(matches!(unanswered, Err(Unopenable)));
    for wrong in [&b""[..], &[0; 16], &[0; 32], &[0; 64]] {
        let opened = rsa.asked(read(&of_rsa)).open(&Entropy::system(), Some(wrong), None);
        assert!(matches!(opened, Err(Unopenable)), "a content key of {} bytes", wrong.len());
    }
}

fn with_point(x: &str, y: &str) -> String {
    let header = json!({
        "alg": "ECDH-ES+A256KW", "enc": "A256GCM",
        "epk": {"kty": "EC", "crv": "P-256", "x": x, "y": y},
    });
    formats::binary::to_base64url(header.to_string().as_bytes())
}

fn opens(key: &PrivateKey, object: &Value) -> bool {
    opens_in(key, object, None)
}

fn opens_in(key: &PrivateKey, object: &Value, context: Option<&Context>) -> bool {
    let object = object.to_string();
    let Ok(envelope) = Envelope::parse(Text::parse(object.as_bytes()).unwrap()) else {
        return false;
    };
    match envelope.for_key(&Entropy::system(), key.public()) {
        Ok(opening) => {
            let answer = key.answer(opening.question());
            opening.open(&Entropy::system(), answer.as_deref(), context).is_ok()
        }
        Err(_) => false,
    }
}

//! An envelope opens to the exact plaintext with its key and with no other key.

use std::sync::LazyLock;

use formats::clock::Entropy;
use formats::envelope::{Alg, Curve, Enc, HeaderMembers, Recipient, SealError, Unopenable, seal};
use formats::json::Text;
use proptest::prelude::*;

use testkit::PrivateKey;

use super::{read, sealed};

type Kinds = Vec<(PrivateKey, Vec<Alg>)>;

static KEYS: LazyLock<Kinds> = LazyLock::new(PrivateKey::of_every_kind);

#[test]
fn every_algorithm_opens_its_own_envelopes() {
    for (key, alg, enc) in every_way(&KEYS) {
        let object = sealed(key, alg, enc, "{\"b\": 1.0, \"a\":\"\\u00e9\"}");
        let envelope = read(&object);
        assert_eq!(envelope.kid(), Some("key_01h455vb4pex5vsknk084sn02q"));
        assert_eq!(envelope.family(), alg.family());
        let opened = key.open(envelope).unwrap();
        assert_eq!(opened.as_bytes(), b"{\"b\": 1.0, \"a\":\"\\u00e9\"}", "{alg} {enc}");
    }
}

#[test]
fn another_key_of_the_same_type_does_not_open_an_envelope() {
    let others = PrivateKey::of_every_kind();
    for ((key, alg, enc), (other, _, _)) in every_way(&KEYS).zip(every_way(&others)) {
        let envelope = read(&sealed(key, alg, enc, "1"));
        assert!(matches!(other.open(envelope), Err(Unopenable)), "{alg} {enc}");
    }
}

#[test]
fn a_private_key_only_receives_points_of_its_own_curve() {
    for (key, made_for) in [(Curve::P256, Curve::P384), (Curve::P521, Curve::P256)] {
        let envelope =
            read(&sealed(&PrivateKey::ec(made_for), Alg::EcdhEsA256Kw, Enc::A256GCM, "1"));
        let key = PrivateKey::ec(key);
        let opening = key.asked(envelope);
        let answer = key.answer(opening.question());
        assert!(answer.is_some(), "the key was asked about a point that is not on its curve");
        assert!(matches!(
            opening.open(&Entropy::system(), answer.as_deref(), None),
            Err(Unopenable)
        ));
    }
}

#[test]
fn an_algorithm_of_another_key_family_is_refused_before_any_key_operation() {
    let (rsa, ec) = (PrivateKey::rsa(), PrivateKey::ec(Curve::P256));
    for (key, alg) in [(&rsa, Alg::EcdhEsA256Kw), (&ec, Alg::RsaOaep256)] {
        let recipient = Recipient {
            key: key.public(),
            kid: "k",
            alg,
            enc: Enc::A256GCM,
            policy: None,
            context: None,
            members: HeaderMembers::default(),
        };
        let mut out = String::new();
        assert_eq!(seal(&Entropy::system(), recipient, b"1", &mut out), Err(SealError::Unfit));
        assert_eq!(out, "");
    }
    let envelope = read(&sealed(&rsa, Alg::RsaOaep, Enc::A128GCM, "1"));
    let problems = envelope.for_key(&Entropy::system(), ec.public()).unwrap_err();
    assert_eq!(problems.as_slice()[0].field, "protected.alg");
}

#[test]
fn two_envelopes_of_one_plaintext_share_only_the_header() {
    let (key, _) = &KEYS[0];
    let [one, other] = [(); 2].map(|()| sealed(key, Alg::RsaOaep256, Enc::A256GCM, "\"same\""));
    let members = |object: &str| serde_json::from_str::<serde_json::Value>(object).unwrap();
    let (one, other) = (members(&one), members(&other));
    assert_eq!(one["protected"], other["protected"]);
    for name in ["encrypted_key", "iv", "ciphertext", "tag"] {
        assert_ne!(one[name], other[name], "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_json_text_is_returned_exactly(text in json_text(), way in 0..16_usize) {
        let ways: Vec<_> = every_way(&KEYS).collect();
        let (key, alg, enc) = ways[way % ways.len()];
        prop_assume!(Text::parse(text.as_bytes()).is_ok());
        let opened = key.open(read(&sealed(key, alg, enc, &text))).unwrap();
        prop_assert_eq!(opened.as_bytes(), text.as_bytes());
    }
}

fn every_way(keys: &Kinds) -> impl Iterator<Item = (&PrivateKey, Alg, Enc)> {
    keys.iter().flat_map(|(key, algs)| {
        algs.iter().flat_map(move |&alg| Enc::ALL.map(move |enc| (key, alg, enc)))
    })
}

/// JSON with spaces, escapes, numbers beyond double precision and deep nesting.
fn json_text() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        "\"(\\\\u[0-9a-fA-F]{4}|\\\\[\"/bfnrt]|[ !#-\\[\\]-~]){0,20}\"",
    ];
    scalar.prop_recursive(6, 64, 6, |inner| {
        let name = any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap());
        let space = "[ \n\r\t]{0,3}";
        prop_oneof![
            (space, prop::collection::vec(inner.clone(), 0..6)).prop_map(|(space, items)| format!(
                "[{space}{}]",
                items.join(&format!("{space},"))
            )),
            (space, prop::collection::vec((name, inner), 0..6)).prop_map(|(space, items)| {
                let members = items.iter().map(|(name, value)| format!("{name}{space}:{value}"));
                format!("{{{space}{}}}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

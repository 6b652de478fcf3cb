//! The accepted forms of an envelope, and the errors for malformed ones.

use formats::binary::{from_base64url, to_base64url};
use formats::envelope::{Alg, Curve, Enc, Envelope};
use formats::json::Text;
use formats::problem::Code::{
    self, Conflict, Format, Length, Required, Type, Unknown, Unsupported,
};
use serde_json::{Value, json};

use testkit::PrivateKey;

use super::{read, sealed};

#[test]
fn errors_name_the_malformed_member_and_the_reason() {
    let good: Value =
        serde_json::from_str(&sealed(&PrivateKey::rsa(), Alg::RsaOaep, Enc::A128GCM, "1")).unwrap();
    let with = |name: &str, value: Value| {
        let mut object = good.clone();
        object[name] = value;
        object.to_string()
    };
    let header = |json: &str| with("protected", to_base64url(json.as_bytes()).into());
    for (object, expected) in [
        ("[]".to_owned(), vec![("", Type)]),
        ("null".to_owned(), vec![("", Type)]),
        (
            "{}".to_owned(),
            ["protected", "encrypted_key", "iv", "ciphertext", "tag"]
                .map(|name| (name, Required))
                .into(),
        ),
        (with("iv", json!(null)), vec![("iv", Type)]),
        (with("iv", json!("A+/A")), vec![("iv", Format)]),
        (with("tag", json!("AAAA\u{0}")), vec![("tag", Format)]),
        (with("ciphertext", json!("AA==")), vec![("ciphertext", Format)]),
        (with("protected", json!("A")), vec![("protected", Format)]),
        (with("protected", json!("AB")), vec![("protected", Format)]),
        (with("aad", json!("")), vec![("aad", Unknown)]),
        (with("header", json!({})), vec![("header", Unknown)]),
        (with("protected", json!("A".repeat(8193))), vec![("protected", Length)]),
        (with("protected", json!("e30=")), vec![("protected", Format)]),
        (with("protected", json!("_w")), vec![("protected", Format)]),
        (with("protected", json!("")), vec![("protected", Format)]),
        (header("[]"), vec![("protected", Type)]),
        (header(r#"{"alg":"RSA1_5","enc":"A128GCM"}"#), vec![("protected.alg", Unsupported)]),
        (
            header(r#"{"alg":"dir","enc":"A128CBC-HS256"}"#),
            vec![("protected.alg", Unsupported), ("protected.enc", Unsupported)],
        ),
        (
            header(r#"{"alg":"RSA-OAEP","enc":"A128GCM","zip":"DEF"}"#),
            vec![("protected.zip", Unsupported)],
        ),
        (
            header(r#"{"alg":"RSA-OAEP","enc":"A128GCM","kid":"\u0000"}"#),
            vec![("protected.kid", Format)],
        ),
        (
            header(r#"{"alg":"RSA-OAEP","alg":"RSA-OAEP","enc":"A128GCM"}"#),
            vec![("protected.alg", Conflict)],
        ),
        (good.to_string().replacen('{', r#"{"t\u0061g":"","#, 1), vec![("tag", Conflict)]),
        (
            json!({"protected": 1, "iv": "=", "tag": "AAAA", "x": 1}).to_string(),
            vec![
                ("x", Unknown),
                ("protected", Type),
                ("encrypted_key", Required),
                ("ciphertext", Required),
                ("iv", Format),
            ],
        ),
    ] {
        assert_eq!(problems(&object), owned(&expected), "{object}");
    }
}

#[test]
fn legacy_strings_have_three_forms() {
    let key = PrivateKey::rsa();
    let object = sealed(&key, Alg::RsaOaep256, Enc::A256GCM, "\"legacy\"");
    let members: Value = serde_json::from_str(&object).unwrap();
    let compact = ["protected", "encrypted_key", "iv", "ciphertext", "tag"]
        .map(|name| members[name].as_str().unwrap().to_owned())
        .join(".");
    let padded = |text: &str| {
        let text = to_base64url(text.as_bytes());
        let padding = "=".repeat((4 - text.len() % 4) % 4);
        format!("{text}{padding}")
    };
    let spaced = object.replace(',', ",\n   ");
    for text in [
        to_base64url(object.as_bytes()),
        padded(&object),
        to_base64url(spaced.as_bytes()),
        padded(&spaced),
        to_base64url(compact.as_bytes()),
        padded(&compact),
        compact.clone(),
    ] {
        let envelope = Envelope::parse_legacy(&text).expect(&text);
        assert_eq!(key.open(envelope).unwrap().as_bytes(), b"\"legacy\"");
    }
    // A truncated tag is a cryptographic failure, as in an object.
    let cut = &compact[..compact.rfind('.').unwrap() + 2];
    assert!(key.open(Envelope::parse_legacy(cut).unwrap()).is_err());
    let twice = to_base64url(to_base64url(object.as_bytes()).as_bytes());
    let four = compact.rsplit_once('.').unwrap().0;
    for text in [
        "",
        ".",
        "....",
        "null",
        "e30",
        "!",
        "bnVsbA",
        "_w",
        &object,
        &twice,
        four,
        &format!("{compact}."),
        &format!("{compact}="),
        &format!(" {compact}"),
        &format!("{compact}\n"),
        &to_base64url(b"[]"),
        &to_base64url(object.replace("\"iv\"", "\"vi\"").as_bytes()),
        &to_base64url(four.as_bytes()),
        &compact.replacen("eyJ", "eyK", 1),
    ] {
        assert!(Envelope::parse_legacy(text).is_err(), "{text}");
    }
}

#[test]
fn nothing_else_outside_of_protected_is_supported() {
    let key = PrivateKey::ec(Curve::P256);
    let inside: Value =
        serde_json::from_str(&sealed(&key, Alg::EcdhEsA256Kw, Enc::A256GCM, "7")).unwrap();
    let protected = from_base64url(inside["protected"].as_str().unwrap()).unwrap();
    let mut protected: Value = serde_json::from_slice(&protected).unwrap();
    let epk = protected.as_object_mut().unwrap().remove("epk").unwrap();
    let mut good = inside.clone();
    good["protected"] = to_base64url(protected.to_string().as_bytes()).into();
    good["unprotected"] = json!({ "epk": epk });
    read(&good.to_string());
    let mut twice = inside;
    twice["header"] = json!({ "epk": epk });
    let with = |name: &str, value: Value| {
        let mut object = good.clone();
        object[name] = value;
        object
    };
    let lacking = ("protected.epk", Required);
    for (object, expected) in [
        (twice, vec![("header", Unknown)]),
        (with("header", good["unprotected"].clone()), vec![("header", Unknown)]),
        (with("unprotected", json!({})), vec![("unprotected", Unknown), lacking]),
        (with("unprotected", json!("epk")), vec![("unprotected", Unknown), lacking]),
        (with("unprotected", Value::Null), vec![lacking]),
        (
            with("unprotected", json!({ "epk": epk, "kid": "key_1" })),
            vec![("unprotected", Unknown), lacking],
        ),
        (
            with("unprotected", json!({ "alg": "ECDH-ES+A256KW" })),
            vec![("unprotected", Unknown), lacking],
        ),
        (
            with("unprotected", json!({ "epk": { "kty": "OKP", "crv": "X25519", "x": "=" } })),
            vec![
                ("unprotected.epk.kty", Unsupported),
                ("unprotected.epk.crv", Unsupported),
                ("unprotected.epk.x", Format),
                ("unprotected.epk.y", Required),
            ],
        ),
        (with("recipients", json!([])), vec![("recipients", Unknown)]),
    ] {
        let mut expected = owned(&expected);
        let mut found = problems(&object.to_string());
        expected.sort_by(|one, other| one.0.cmp(&other.0));
        found.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(found, expected, "{object}");
    }
}

fn problems(object: &str) -> Vec<(String, Code)> {
    let problems = Envelope::parse(Text::parse(object.as_bytes()).unwrap()).unwrap_err();
    problems.into_vec().into_iter().map(|problem| (problem.field, problem.code)).collect()
}

fn owned(problems: &[(&str, Code)]) -> Vec<(String, Code)> {
    problems.iter().map(|&(field, code)| (field.to_owned(), code)).collect()
}

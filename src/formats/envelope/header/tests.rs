use super::*;

fn problems(json: &str) -> Vec<(String, Code)> {
    let problems = read(json.as_bytes(), &mut None).err().unwrap_or_default().into_vec();
    problems.into_iter().map(|problem| (problem.field, problem.code)).collect()
}

fn new_header(kid: &str) -> NewHeader<'_> {
    NewHeader {
        alg: Alg::RsaOaep256,
        enc: Enc::A256GCM,
        kid,
        pol: None,
        ctx: None,
        members: HeaderMembers::default(),
        epk: None,
        ek: None,
    }
}

fn written(header: NewHeader<'_>) -> String {
    String::from_utf8(from_base64url(&write(header)).unwrap()).unwrap()
}

#[test]
fn a_header_has_one_form_and_round_trips() {
    let json = written(new_header("key_1"));
    assert_eq!(json, r#"{"alg":"RSA-OAEP-256","cty":"json","enc":"A256GCM","kid":"key_1"}"#);
    let header = read(json.as_bytes(), &mut None).unwrap();
    assert!(matches!(header.wrapping, Wrapping::Oaep(OaepHash::Sha256)));
    assert_eq!(
        (header.enc, header.kid.as_deref(), header.pol, header.ctx),
        (Enc::A256GCM, Some("key_1"), None, Ctx::Absent)
    );

    let point = [vec![4], vec![1; 32], vec![2; 32]].concat();
    let text = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE";
    let Ctx::Tag(tag) = Ctx::of(Some(text)) else { panic!("{text}") };
    let json = written(NewHeader {
        alg: Alg::EcdhEsA128Kw,
        enc: Enc::A128GCM,
        pol: Some("pol_1"),
        ctx: Some(tag),
        epk: Some((Curve::P256, &point)),
        ..new_header("k\"")
    });
    let y = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI";
    assert_eq!(
        json,
        format!(
            r#"{{"alg":"ECDH-ES+A128KW","ctx":"{text}","cty":"json","enc":"A128GCM","epk":{{"crv":"P-256","kty":"EC","x":"{text}","y":"{y}"}},"kid":"k\"","pol":"pol_1"}}"#
        )
    );
    let header = read(json.as_bytes(), &mut None).unwrap();
    let Wrapping::Agreement(agreement) = header.wrapping else { panic!("{header:?}") };
    assert_eq!((agreement.curve, agreement.point), (Curve::P256, point));
    assert_eq!(header.kid.as_deref(), Some("k\""));
    assert_eq!(header.pol.as_deref(), Some("pol_1"));
    assert_eq!(header.ctx, Ctx::Tag(tag));
}

#[test]
fn a_recipient_decides_on_members() {
    let members = HeaderMembers { typ: Some("JOSE"), iat: Some(1_900_000_000), cty: false };
    let json = written(NewHeader { members, ..new_header("visa-MLE-123") });
    assert_eq!(
        json,
        r#"{"alg":"RSA-OAEP-256","enc":"A256GCM","iat":1900000000,"kid":"visa-MLE-123","typ":"JOSE"}"#
    );
    assert!(read(json.as_bytes(), &mut None).is_ok());
}

#[test]
fn a_ctx_that_is_not_a_tag_is_accepted() {
    for text in ["", "AA", "A", "*", "somebody else's", &"A".repeat(44)] {
        let json = format!(r#"{{"alg":"RSA-OAEP","enc":"A256GCM","ctx":"{text}"}}"#);
        assert_eq!(read(json.as_bytes(), &mut None).unwrap().ctx, Ctx::Other, "{text}");
    }
}

#[test]
fn all_problems_are_reported_with_one_error() {
    use Code::{Conflict, Format, Required, Type, Unsupported};
    let rsa = |more: &str| format!(r#"{{"alg":"RSA-OAEP","enc":"A256GCM"{more}}}"#);
    let ec = |more: &str| format!(r#"{{"alg":"ECDH-ES+A256KW","enc":"A128GCM"{more}}}"#);
    for (json, expected) in [
        (rsa(""), vec![]),
        (rsa(r#","b64":true,"x5t":"a","epk":7"#), vec![]),
        ("[]".into(), vec![("", Type)]),
        ("{".into(), vec![("", Format)]),
        ("{}".into(), vec![("alg", Required), ("enc", Required)]),
        (
            r#"{"alg":"dir","enc":"A192GCM"}"#.into(),
            vec![("alg", Unsupported), ("enc", Unsupported)],
        ),
        (rsa(r#","kid":1,"cty":null,"typ":[]"#), vec![("kid", Type), ("cty", Type), ("typ", Type)]),
        (rsa(r#","pol":1,"ctx":null"#), vec![("pol", Type), ("ctx", Type)]),
        (rsa(r#","pol":"\u0000""#), vec![("pol", Format)]),
        (rsa(r#","zip":"DEF""#), vec![("zip", Unsupported)]),
        (
            rsa(r#","crit":[],"p2c":1,"jku":"","jwk":{},"x5u":"","x5c":[]"#),
            ["crit", "p2c", "jku", "jwk", "x5u", "x5c"].map(|name| (name, Unsupported)).into(),
        ),
        (rsa(r#","enc":"A256GCM""#), vec![("enc", Conflict)]),
        (rsa(r#","a":1,"a":1"#), vec![("a", Conflict)]),
        (ec(""), vec![("epk", Required)]),
        (
            ec(r#","apu":"A","apv":"AB","epk":{"kty":"EC","crv":"P-256","x":"A","y":"AB"}"#),
            vec![("apu", Format), ("apv", Format)],
        ),
        (ec(r#","epk":"x""#), vec![("epk", Type)]),
        (
            ec(r#","apu":"=","apv":1,"epk":{"kty":"OKP","crv":"X25519","x":"AA=="}"#),
            vec![
                ("apu", Format),
                ("apv", Type),
                ("epk.kty", Unsupported),
                ("epk.crv", Unsupported),
                ("epk.x", Format),
                ("epk.y", Required),
            ],
        ),
    ] {
        let expected: Vec<_> = expected.into_iter().map(|(f, c)| (f.to_owned(), c)).collect();
        let mut found = problems(&json);
        found.sort_by_key(|(field, _)| expected.iter().position(|(wanted, _)| wanted == field));
        assert_eq!(found, expected, "{json}");
    }
}

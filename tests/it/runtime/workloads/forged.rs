//! Tokens that are forged, malformed or of another issuer.

use aws_lc_rs::hmac;
use engine::settings::Auth;
use formats::clock::Clock;
use serde_json::{Value, json};

use testkit::{SigningKey, TokenIssuer, World, encode, unsigned};

use super::{CALLER, Site, identity};

#[tokio::test]
async fn each_signature_algorithm_is_verified() {
    for key in [SigningKey::rsa("r"), SigningKey::ed("e"), SigningKey::ec("c")] {
        let name = key.algorithm();
        let site = Site::with_key(key).await;
        assert_eq!(site.status(&site.token()).await, 200, "{name}");
        if name == "RS256" {
            let header = json!({ "alg": "PS256", "kid": "r" });
            let token = site.key.signed(&header, &site.claims(json!({})));
            assert_eq!(site.status(&token).await, 200);
            // Its settings do not allow this one.
            let header = json!({ "alg": "RS512", "kid": "r" });
            let token = site.key.signed(&header, &site.claims(json!({})));
            assert_eq!(site.status(&token).await, 401);
        }
        // A token can leave out `kid` and `typ`.
        let token = site.key.signed(&json!({ "alg": name }), &site.claims(json!({})));
        assert_eq!(site.status(&token).await, 200, "{name}");
    }
}

#[tokio::test]
async fn forged_tokens_are_refused() {
    let site = Site::new().await;
    let (good, foreign) = (site.claims(json!({})), SigningKey::ec("one"));
    let unsecured =
        |alg: &str| format!("{}.", unsigned(&json!({ "alg": alg, "kid": "one" }), &good));
    let with_hmac = |secret: &[u8]| {
        let signed = unsigned(&json!({ "alg": "HS256", "kid": "one" }), &good);
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
        let tag = hmac::sign(&key, signed.as_bytes());
        format!("{signed}.{}", encode(tag.as_ref()))
    };
    let header = |members: Value| {
        let mut header = json!({ "alg": "ES256", "kid": "one" });
        for (name, value) in members.as_object().unwrap() {
            header[name] = value.clone();
        }
        header
    };
    let token = site.token();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let jwk = site.key.jwk().to_string();
    for (attack, forged) in [
        ("alg none", unsecured("none")),
        ("alg NONE", unsecured("NONE")),
        ("no signature", format!("{signed}.")),
        ("HMAC with the public key", with_hmac(jwk.as_bytes())),
        ("HMAC with nothing", with_hmac(b"")),
        ("another key with the same kid", foreign.token(&good)),
        ("embedded jwk", foreign.signed(&header(json!({ "jwk": foreign.jwk() })), &good)),
        (
            "embedded jwk without kid",
            foreign.signed(&json!({ "alg": "ES256", "jwk": foreign.jwk() }), &good),
        ),
        ("jku", foreign.signed(&header(json!({ "jku": "https://localhost:1/keys" })), &good)),
        ("unknown crit", site.key.signed(&header(json!({ "crit": ["exp"], "exp": 1 })), &good)),
        ("b64", site.key.signed(&header(json!({ "crit": ["b64"], "b64": false })), &good)),
        (
            "other algorithm of the family",
            site.key.signed(&header(json!({ "alg": "ES384" })), &good),
        ),
        ("another purpose", site.key.signed(&header(json!({ "typ": "logout+jwt" })), &good)),
        ("padded signature", format!("{signed}.{signature}==")),
        ("white space", format!("{signed}.{signature}\t")),
        ("one part more", format!("{token}.e30")),
        ("JWE", "e30.e30.e30.e30.e30".to_owned()),
    ] {
        assert_eq!(site.status(&forged).await, 401, "{attack}");
    }
    assert_eq!(site.status(&token).await, 200);
}

#[tokio::test]
async fn claims_are_checked() {
    let site = Site::new().await;
    let now = site.world.clock.now().as_millis() / 1_000;
    let name = site.issuer.name();
    for (claim, members, expected) in [
        ("aud list", json!({ "aud": ["other", "https://sealward.example"] }), 200),
        ("wrong aud", json!({ "aud": "https://other.example" }), 401),
        ("part of aud", json!({ "aud": "https://sealward.example/" }), 401),
        ("no aud", json!({ "aud": null }), 401),
        ("empty aud", json!({ "aud": [] }), 401),
        ("aud object", json!({ "aud": {} }), 401),
        ("wrong iss", json!({ "iss": "https://other.example" }), 401),
        ("iss with slash", json!({ "iss": format!("{name}/") }), 401),
        ("iss list", json!({ "iss": [name] }), 401),
        ("no sub", json!({ "sub": null }), 401),
        ("empty sub", json!({ "sub": "" }), 401),
        ("other sub", json!({ "sub": "JOB" }), 401),
        ("sub with U+0000", json!({ "sub": "job\0" }), 401),
        ("sub with a space", json!({ "sub": "job " }), 401),
        ("sub in full-width letters", json!({ "sub": "\u{ff4a}ob" }), 401),
        ("no exp", json!({ "exp": null }), 401),
        ("exp text", json!({ "exp": "9999999999" }), 401),
        ("expired", json!({ "exp": now - 60 }), 401),
        ("expired within leeway", json!({ "exp": now - 59 }), 200),
        ("exp with fraction", json!({ "exp": now as f64 + 0.5 }), 200),
        ("exp beyond the calendar", json!({ "exp": 1e300 }), 200),
        ("not yet valid", json!({ "nbf": now + 61 }), 401),
        ("valid within leeway", json!({ "nbf": now + 60 }), 200),
        ("issued in the future", json!({ "iat": now + 61 }), 401),
        ("issued within leeway", json!({ "iat": now + 60 }), 200),
        ("nbf text", json!({ "nbf": "0" }), 401),
    ] {
        let token = site.key.token(&site.claims(members));
        assert_eq!(site.status(&token).await, expected, "{claim}");
    }
}

#[tokio::test]
async fn a_token_with_duplicate_claims_is_refused() {
    let site = Site::new().await;
    let claims = site.claims(json!({})).to_string();
    let twice = claims.replacen('{', r#"{"sub":"other","#, 1);
    assert_ne!(claims, twice);
    // A string is signed as it is, because JSON objects cannot have duplicates.
    let header = json!({ "alg": "ES256", "kid": "one" });
    let nested = |members: &str| claims.replacen('{', &format!("{{\"k8s\":[{members}],"), 1);
    let deep = nested(r#"{"ns":"a","n\u0073":"b"}"#);
    let two_objects = nested(r#"{"ns":"a"},{"ns":"b"}"#);
    for (claims, expected) in [(&twice, 401), (&deep, 401), (&two_objects, 200), (&claims, 200)] {
        let token = site.key.signed_text(&header, claims);
        assert_eq!(site.status(&token).await, expected, "{claims}");
    }
}

#[tokio::test]
async fn a_long_token_is_refused() {
    let site = Site::new().await;
    for (length, expected) in [(8_000, 200), (100_000, 401)] {
        let token = site.key.token(&site.claims(json!({ "more": "x".repeat(length) })));
        assert_eq!(site.status(&token).await, expected, "{length}");
    }
}

#[tokio::test]
async fn a_key_authenticates_only_tokens_of_its_issuer() {
    let keys = [SigningKey::ec("a"), SigningKey::ec("b")];
    let one = TokenIssuer::publishing(&[&keys[0]]).await;
    let other = TokenIssuer::publishing(&[&keys[1]]).await;
    let issuers = vec![one.settings(), other.settings()];
    let world = World::with_auth(Clock::system(), Auth { issuers, ..Auth::default() }).await;
    let service = world.service("billing").await;
    for issuer in [&one, &other] {
        let matching = json!({ "issuer": issuer.name(), "subject": "job" });
        identity(&world, &service, matching).await;
    }
    let now = world.clock.now();
    for (issuer, key, expected) in [
        (&one, &keys[0], 200),
        (&other, &keys[1], 200),
        (&one, &keys[1], 401),
        (&other, &keys[0], 401),
    ] {
        let token = key.token(&issuer.claims("job", now));
        let answer = world.client(&token).get(CALLER).await;
        assert_eq!(answer.status, expected, "{}", issuer.name());
    }
}

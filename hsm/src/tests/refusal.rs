//! A token that refuses the PIN.

use super::*;
use crate::OpenError;

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_pin_prevents_the_start_even_if_another_token_works() {
    if !in_child_process(
        "refusal::a_refused_pin_prevents_the_start_even_if_another_token_works",
        &["one", "two"],
    ) {
        return;
    }
    let mut config = quick(&["one", "two"]);
    config.tokens[1].pin = "wrong".to_owned().into();
    let refusal = Token::open(config).await.unwrap_err();
    assert!(refusal.is_pin_refusal());
    assert!(matches!(&refusal, OpenError::PinRefused { token } if token == "two"), "{refusal}");
    let text = refusal.to_string();
    assert!(text.contains("hsm.tokens.pin") && text.contains("two"), "{text}");
    assert!(!text.contains("wrong\""), "the message contains the PIN: {text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_cannot_be_opened_is_reported_with_setting_and_remedy() {
    if !in_child_process(
        "refusal::a_token_that_cannot_be_opened_is_reported_with_setting_and_remedy",
        &["one"],
    ) {
        return;
    }
    let with = |change: fn(&mut TokenConfig)| {
        let mut config = quick(&["one"]);
        change(&mut config.tokens[0]);
        config
    };
    let cases: [(Config, &[&str]); 5] = [
        (Config::new(vec![]), &["hsm.tokens is empty"]),
        (with(|token| token.module = "/no/such.so".into()), &["hsm.tokens.module", "/no/such.so"]),
        (
            with(|token| token.module = "/etc/passwd".into()),
            &["hsm.tokens.module", "not a PKCS#11"],
        ),
        (
            with(|token| token.select = TokenSelect::Label("two".to_owned())),
            &["hsm.tokens.label", "\"two\"", "it shows \"one\""],
        ),
        (
            with(|token| token.select = TokenSelect::Serial("0".to_owned())),
            &["hsm.tokens.serial", "\"0\""],
        ),
    ];
    for (config, expected) in cases {
        let error = Token::open(config).await.unwrap_err();
        assert!(!error.is_pin_refusal());
        let text = error.to_string();
        for part in expected {
            assert!(text.contains(part), "{part:?} is not in {text:?}");
        }
    }
}

//! Two tokens, one of them faulty.

use cryptoki_sys::{
    CKR_DEVICE_MEMORY, CKR_DEVICE_REMOVED, CKR_GENERAL_ERROR, CKR_KEY_FUNCTION_NOT_PERMITTED,
};
use faulty_token::Fault;
use formats::algorithms::Algorithm;
use hsm::{
    AdoptError, ErrorKind, ImportKey, KeyMaterial, KeyRef, NewKey, Purpose, Token, TokenState,
    Weakness,
};
use zeroize::Zeroizing;

use super::WORKER;
use crate::support::{id, in_child_processes, is_out, status, wait_until};

#[test]
fn an_outage_of_one_of_two_tokens_causes_no_errors() {
    in_child_processes(|fixture| async move {
        let token = Token::open(fixture.config_of_both()).await.unwrap();
        let missing = ["C_GetTokenInfo", "C_OpenSession", "C_SignInit", "C_GenerateRandom"]
            .map(|function| Fault::Return(CKR_DEVICE_REMOVED).on(function).token("one"));
        fixture.faults.rules(&missing);
        while !is_out(&status(&token, "one")) {
            token.random(8).await.unwrap();
        }
        let before = status(&token, "two").counters.operations;
        for _ in 0..50 {
            token.random(8).await.unwrap();
        }
        assert_eq!(status(&token, "two").counters.operations, before + 50);
        assert_eq!(status(&token, "two").counters.outages, 0);

        fixture.faults.rules(&[]);
        wait_until("the token recovers", || status(&token, "one").state == TokenState::Serving)
            .await;
        // The token receives operations again.
        let before = status(&token, "one").counters.operations;
        for _ in 0..10 {
            token.random(8).await.unwrap();
        }
        assert_eq!(status(&token, "one").counters.operations, before + 5);
        token.close().await;
    });
}

#[test]
fn a_busy_token_fails_over_to_the_other() {
    in_child_processes(|fixture| async move {
        let token = Token::open(fixture.config_of_both()).await.unwrap();
        let busy = Fault::Return(CKR_DEVICE_MEMORY).on("C_GenerateRandom");
        fixture.faults.rules(&[busy.token("one").thread(WORKER)]);
        for _ in 0..20 {
            token.random(8).await.unwrap();
        }
        assert_eq!(status(&token, "one").counters.outages, 0);
        token.close().await;
    });
}

#[test]
fn an_ambiguous_code_is_not_failed_over() {
    in_child_processes(|fixture| async move {
        let token = Token::open(fixture.config_of_both()).await.unwrap();
        let vague = Fault::Return(CKR_GENERAL_ERROR).on("C_GenerateRandom");
        fixture.faults.rules(&[vague.thread(WORKER)]);
        let done = || {
            let of = |label| status(&token, label).counters.operations;
            of("one") + of("two")
        };
        let before = done();
        for _ in 0..10 {
            let error = token.random(8).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused, "{error:?}");
        }
        assert_eq!(done(), before + 10);
        token.close().await;
    });
}

#[test]
fn a_token_that_does_not_use_a_key_leaves_it_to_the_other() {
    in_child_processes(|fixture| async move {
        let token = Token::open(fixture.config_of_both()).await.unwrap();
        let key = on_both(&token).await;
        let refusal = Fault::Return(CKR_KEY_FUNCTION_NOT_PERMITTED).on("C_SignInit");
        fixture.faults.rules(&[refusal.token("one").thread(WORKER)]);
        for _ in 0..10 {
            token.hmac(&key, b"message").await.unwrap();
        }
        assert_eq!(status(&token, "one").counters.unusable, 5);
        assert_eq!(status(&token, "two").counters.unusable, 0);
        token.close().await;
    });
}

/// An HMAC key of both tokens, which is another one on each.
async fn on_both(token: &Token) -> KeyRef {
    let key = NewKey {
        id: id(),
        label: "for tests".to_owned(),
        algorithm: Algorithm::HmacSha256,
        purpose: Purpose::Sign,
    };
    // Writes take turns: one token generates the key, and the other imports one of this name.
    let generated = token.generate(key.clone()).await.unwrap().key;
    let material = KeyMaterial::Secret(Zeroizing::new(vec![7; 32]));
    token.import(ImportKey { key, material }).await.unwrap();
    let presence = token.find(&generated).await.unwrap().presence;
    assert!(presence.iter().all(|it| it.holds == Some(true)), "{presence:?}");
    generated
}

#[test]
fn adoption_reports_the_weaknesses_of_every_token() {
    in_child_processes(|fixture| async move {
        let token = Token::open(fixture.config_of_both()).await.unwrap();
        let generated = on_both(&token).await;

        let adopt = || token.adopt(generated.name.clone(), Purpose::Sign, None);
        for _ in 0..2 {
            let adopted = adopt().await.unwrap();
            assert_eq!(adopted.weaknesses, [Weakness::WasExtractable]);
        }

        let missing = Fault::Return(CKR_DEVICE_REMOVED).on("C_GetTokenInfo");
        let missing_session = Fault::Return(CKR_DEVICE_REMOVED).on("C_OpenSession");
        let missing_find = Fault::Return(CKR_DEVICE_REMOVED).on("C_FindObjectsInit");
        fixture
            .faults
            .rules(&[missing, missing_session, missing_find].map(|fault| fault.token("two")));
        let refused = adopt().await;
        assert!(matches!(refused, Err(AdoptError::Token(_))), "{refused:?}");
        token.close().await;
    });
}

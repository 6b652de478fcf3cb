//! Two tokens, one of them faulty.

use cryptoki_sys::{CKR_DEVICE_MEMORY, CKR_DEVICE_REMOVED, CKR_GENERAL_ERROR};
use faulty_token::Fault;
use hsm::{ErrorKind, Token, TokenState};

use super::WORKER;
use crate::support::{in_child_processes, is_out, status, wait_until};

#[test]
fn an_outage_of_one_of_two_tokens_causes_no_errors() {
    in_child_processes(|fixture| async move {
        let token = Token::open(fixture.config_of_both()).await.unwrap();
        let missing = [
            "C_GetTokenInfo",
            "C_OpenSession",
            "C_SignInit",
            "C_GenerateRandom",
        ]
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
        wait_until("the token recovers", || {
            status(&token, "one").state == TokenState::Serving
        })
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

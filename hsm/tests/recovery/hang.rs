//! Calls that hang.

use std::time::Duration;

use faulty_token::Fault;
use hsm::{ErrorKind, Fatal, OpenError, Token, TokenState};

use super::{MONITOR, WORKER, hmac_key};
use crate::support::{in_child_process, is_out, status, wait_until};

#[test]
fn a_hung_call_times_out_and_its_thread_is_replaced() {
    in_child_process(|fixture| async move {
        let token = fixture.open_with_short_deadline().await;
        let key = hmac_key(&token).await;
        fixture.faults.rules(&[Fault::Hang.on("C_Sign").thread(WORKER).calls(1..=1)]);
        let error = token.hmac(&key, b"message").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Late);
        wait_until("the thread is abandoned", || status(&token, "one").hung == 1).await;
        wait_until("the thread is replaced", || status(&token, "one").workers == 2).await;
        token.hmac(&key, b"message").await.unwrap();
        assert_eq!(status(&token, "one").counters.outages, 0);

        fixture.faults.rules(&[]);
        wait_until("the thread exits", || status(&token, "one").hung == 0).await;
        token.hmac(&key, b"message").await.unwrap();
        token.close().await;
    });
}

#[test]
fn a_hung_canary_marks_the_token_unavailable_and_another_canary_restores_it() {
    in_child_process(|fixture| async move {
        let token = fixture.open_with_short_deadline().await;
        let key = hmac_key(&token).await;
        fixture.faults.rules(&[Fault::Hang.on("C_Sign").thread(MONITOR).calls(1..=1)]);
        wait_until("the outage is detected", || status(&token, "one").counters.outages == 1).await;
        // The hung call is still running, so the module cannot be initialized again.
        wait_until("another canary runs", || status(&token, "one").state == TokenState::Serving)
            .await;
        token.hmac(&key, b"message").await.unwrap();
        assert_eq!(status(&token, "one").hung, 1);
        fixture.faults.rules(&[]);
        wait_until("the thread exits", || status(&token, "one").hung == 0).await;
        token.close().await;
    });
}

#[test]
fn more_hung_calls_than_the_budget_allows_are_fatal() {
    in_child_process(|fixture| async move {
        let token = fixture.open_with_short_deadline().await;
        let key = hmac_key(&token).await;
        fixture.faults.rules(&[Fault::Hang.on("C_Sign").thread(WORKER)]);
        let fatal = tokio::spawn({
            let token = token.clone();
            async move { token.fatal().await }
        });
        while !fatal.is_finished() {
            let error = token.hmac(&key, b"message").await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Late | ErrorKind::TokenOut), "{error:?}");
        }
        let Fatal::HangBudgetSpent { token: label, hung } = fatal.await.unwrap();
        assert!(label == "one" && hung > 2, "{hung} hang");
        fixture.faults.rules(&[]);
        wait_until("the calls return", || status(&token, "one").hung == 0).await;
        token.close().await;
    });
}

#[test]
fn a_token_that_hangs_at_the_start_is_reported() {
    in_child_process(|fixture| async move {
        let mut config = fixture.with_short_deadline();
        config.generate_deadline = config.deadline;
        fixture.faults.rules(&[Fault::Hang.on("C_Login")]);
        let error = Token::open(config).await.unwrap_err();
        assert!(matches!(&error, OpenError::Hangs { token } if token == "one"), "{error}");
        // The late result is discarded.
        fixture.faults.rules(&[]);
        wait_until("the module is finalized", || fixture.faults.calls("C_Finalize") == 1).await;
    });
}

#[test]
fn a_token_that_hangs_at_the_start_does_not_delay_another_one() {
    in_child_process(|fixture| async move {
        let mut config = fixture.config_of_both();
        config.deadline = Duration::from_secs(2);
        config.generate_deadline = config.deadline;
        fixture.faults.rules(&[Fault::Hang.on("C_Login").token("one")]);
        let token = Token::open(config).await.unwrap();
        assert!(is_out(&status(&token, "one")));
        token.random(8).await.unwrap();
        fixture.faults.rules(&[]);
        wait_until("it serves too", || status(&token, "one").state == TokenState::Serving).await;
        token.close().await;
    });
}

#[test]
fn a_token_that_opens_after_the_start_has_one_monitor() {
    in_child_process(|fixture| async move {
        fixture.faults.rules(&[Fault::Hang.on("C_Login")]);
        let token = Token::open_when_reached(fixture.with_short_deadline()).await.unwrap();
        assert!(is_out(&status(&token, "one")));
        fixture.faults.rules(&[]);
        wait_until("it serves", || status(&token, "one").state == TokenState::Serving).await;
        let canaries = || status(&token, "one").counters.finds;
        let before = canaries();
        wait_until("canaries run", || canaries() >= before + 4).await;
        assert_eq!(status(&token, "one").sessions, 3, "two workers and the monitor");
        token.close().await;
    });
}

#[test]
fn a_hung_login_delays_other_operations_at_most_until_the_deadline() {
    in_child_process(|fixture| async move {
        let token = fixture.open_with_short_deadline().await;
        let key = hmac_key(&token).await;
        fixture.faults.rules(&[
            Fault::DropLogin.on("C_SignInit").thread(WORKER).calls(1..=1),
            Fault::Hang.on("C_Login").calls(1..=1),
        ]);
        token.hmac(&key, b"message").await.unwrap_err();
        wait_until("the outage is detected or the thread is abandoned", || {
            let status = status(&token, "one");
            is_out(&status) || status.hung > 0
        })
        .await;
        fixture.faults.rules(&[]);
        wait_until("the token serves", || {
            let status = status(&token, "one");
            status.state == TokenState::Serving && status.hung == 0
        })
        .await;
        token.hmac(&key, b"message").await.unwrap();
        token.close().await;
    });
}

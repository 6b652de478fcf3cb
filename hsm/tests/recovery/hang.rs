//! Calls that do not come back.

use faulty_token::Fault;
use hsm::{ErrorKind, Fatal, OpenError, Token, TokenState};

use super::{MONITOR, WORKER, hmac_key};
use crate::support::{alone, is_out, status, until};

#[test]
fn a_hung_call_times_out_and_its_thread_is_replaced() {
    alone(|rig| async move {
        let token = rig.open_hastily().await;
        let key = hmac_key(&token).await;
        rig.faults
            .rules(&[Fault::Hang.on("C_Sign").thread(WORKER).calls(1..=1)]);
        let error = token.hmac(&key, b"message").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Late);
        until("it is written off", || status(&token, "one").hung == 1).await;
        until("it is replaced", || status(&token, "one").workers == 2).await;
        token.hmac(&key, b"message").await.unwrap();
        assert_eq!(status(&token, "one").counters.outages, 0);

        rig.faults.rules(&[]);
        until("it has come back and left", || {
            status(&token, "one").hung == 0
        })
        .await;
        token.hmac(&key, b"message").await.unwrap();
        token.close().await;
    });
}

#[test]
fn a_hung_canary_marks_the_token_unavailable_and_another_canary_restores_it() {
    alone(|rig| async move {
        let token = rig.open_hastily().await;
        let key = hmac_key(&token).await;
        rig.faults
            .rules(&[Fault::Hang.on("C_Sign").thread(MONITOR).calls(1..=1)]);
        until("it is found out", || {
            status(&token, "one").counters.outages == 1
        })
        .await;
        // The hung one is still inside, so the module cannot be initialized again.
        until("another one sang", || {
            status(&token, "one").state == TokenState::Serving
        })
        .await;
        token.hmac(&key, b"message").await.unwrap();
        assert_eq!(status(&token, "one").hung, 1);
        rig.faults.rules(&[]);
        until("it has come back and left", || {
            status(&token, "one").hung == 0
        })
        .await;
        token.close().await;
    });
}

#[test]
fn more_hung_calls_than_the_budget_allows_are_fatal() {
    alone(|rig| async move {
        let token = rig.open_hastily().await;
        let key = hmac_key(&token).await;
        rig.faults.rules(&[Fault::Hang.on("C_Sign").thread(WORKER)]);
        let fatal = tokio::spawn({
            let token = token.clone();
            async move { token.fatal().await }
        });
        while !fatal.is_finished() {
            let error = token.hmac(&key, b"message").await.unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::Late | ErrorKind::TokenOut),
                "{error:?}"
            );
        }
        let Fatal::HangBudgetSpent { token: label, hung } = fatal.await.unwrap();
        assert!(label == "one" && hung > 2, "{hung} hang");
        rig.faults.rules(&[]);
        until("they have come back", || status(&token, "one").hung == 0).await;
        token.close().await;
    });
}

#[test]
fn a_token_that_hangs_at_the_start_is_reported() {
    alone(|rig| async move {
        let mut config = rig.hasty();
        config.generate_deadline = config.deadline;
        rig.faults.rules(&[Fault::Hang.on("C_Login")]);
        let error = Token::open(config).await.unwrap_err();
        assert!(
            matches!(&error, OpenError::Hangs { token } if token == "one"),
            "{error}"
        );
        // The late answer is discarded.
        rig.faults.rules(&[]);
        until("it is left alone", || rig.faults.calls("C_Finalize") == 1).await;
    });
}

#[test]
fn a_hung_login_delays_other_operations_at_most_until_the_deadline() {
    alone(|rig| async move {
        let token = rig.open_hastily().await;
        let key = hmac_key(&token).await;
        rig.faults.rules(&[
            Fault::DropLogin
                .on("C_SignInit")
                .thread(WORKER)
                .calls(1..=1),
            Fault::Hang.on("C_Login").calls(1..=1),
        ]);
        token.hmac(&key, b"message").await.unwrap_err();
        until("it is found out or written off", || {
            let status = status(&token, "one");
            is_out(&status) || status.hung > 0
        })
        .await;
        rig.faults.rules(&[]);
        until("it serves", || {
            let status = status(&token, "one");
            status.state == TokenState::Serving && status.hung == 0
        })
        .await;
        token.hmac(&key, b"message").await.unwrap();
        token.close().await;
    });
}

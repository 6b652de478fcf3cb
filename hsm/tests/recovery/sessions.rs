//! Lost sessions and logins on a working token.

use std::time::Duration;

use cryptoki_sys::{
    CKR_OPERATION_ACTIVE, CKR_SESSION_CLOSED, CKR_SESSION_HANDLE_INVALID, CKR_USER_NOT_LOGGED_IN,
};
use faulty_token::Fault;
use hsm::{ErrorKind, KeyRef, Token};

use super::{WORKER, hmac_key};
use crate::support::{Fixture, Kind, in_child_process, in_child_processes, status, wait_until};

#[test]
fn a_lost_session_is_replaced_and_the_operation_is_repeated_once() {
    in_child_processes(|fixture| async move {
        let token = one_worker(&fixture).await;
        let key = hmac_key(&token).await;
        for code in [CKR_SESSION_HANDLE_INVALID, CKR_SESSION_CLOSED, CKR_OPERATION_ACTIVE] {
            let before = status(&token, "one").counters;
            let lost = Fault::Return(code).on("C_SignInit").thread(WORKER).calls(1..=1);
            fixture.faults.rules(&[lost]);
            token.hmac(&key, b"message").await.unwrap();
            let after = status(&token, "one").counters;
            assert_eq!(after.sessions_opened, before.sessions_opened + 1);
            assert_eq!(after.operations, before.operations + 1);
            assert_eq!(after.outages, 0);
        }
        assert_eq!(fixture.faults.calls("C_Login"), 1);
        token.close().await;
    });
}

#[test]
fn repeated_session_loss_fails_the_operation_after_one_retry() {
    in_child_process(|fixture| async move {
        let token = one_worker(&fixture).await;
        let key = hmac_key(&token).await;
        let lost = Fault::Return(CKR_SESSION_HANDLE_INVALID).on("C_SignInit").thread(WORKER);
        // A third attempt would succeed.
        fixture.faults.rules(&[lost.calls(1..=2)]);
        let error = token.hmac(&key, b"message").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TokenOut);
        assert_eq!(fixture.faults.calls("C_Login"), 1);
        fixture.faults.rules(&[]);
        token.hmac(&key, b"message").await.unwrap();
        token.close().await;
    });
}

#[test]
fn closed_sessions_cause_one_login_and_no_errors() {
    in_child_processes(|fixture| async move {
        let token = fixture.open().await;
        let key = hmac_key(&token).await;
        for round in 1..=5 {
            let dropped = Fault::DropSessions.on("C_SignInit").thread(WORKER);
            fixture.faults.rules(&[dropped.calls(1..=1)]);
            run_concurrently(&token, &key).await;
            assert_eq!(fixture.faults.calls("C_Login"), 1 + round);
            fixture.faults.rules(&[]);
        }
        assert_eq!(status(&token, "one").counters.outages, 0);
        token.close().await;
    });
}

#[test]
fn a_lost_login_is_renewed_once_without_failed_operations() {
    in_child_processes(|fixture| async move {
        let mut config = fixture.config();
        if fixture.kind == Kind::Kryoptic {
            // The module deadlocks if one thread starts to sign while another logs out.
            config.workers = 1;
            config.canary_interval = Duration::from_secs(600);
        }
        let token = Token::open(config).await.unwrap();
        let key = hmac_key(&token).await;
        fixture.faults.rules(&[Fault::DropLogin.on("C_SignInit").thread(WORKER).calls(1..=1)]);
        run_concurrently(&token, &key).await;
        assert_eq!(fixture.faults.calls("C_Login"), 2);
        assert_eq!(status(&token, "one").counters.outages, 0);
        token.close().await;
    });
}

#[test]
fn a_false_not_logged_in_error_causes_no_further_login() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let key = hmac_key(&token).await;
        fixture.faults.rules(&[Fault::Return(CKR_USER_NOT_LOGGED_IN).on("C_SignInit")]);
        let error = token.hmac(&key, b"message").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TokenOut);
        fixture.faults.rules(&[]);
        // The token is out for a moment if a canary failed before.
        while let Err(error) = token.hmac(&key, b"message").await {
            assert_eq!(error.kind(), ErrorKind::TokenOut);
        }
        token.close().await;
    });
}

#[test]
fn idle_sessions_are_kept_alive() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let alive = || fixture.faults.calls("C_GenerateRandom");
        let before = alive();
        wait_until("both workers have used their idle sessions", || alive() >= before + 4).await;
        assert_eq!(status(&token, "one").counters.operations, 0);
        token.close().await;
    });
}

/// A token with one worker, so that no other worker opens sessions.
async fn one_worker(fixture: &Fixture) -> Token {
    let mut config = fixture.config();
    config.workers = 1;
    Token::open(config).await.unwrap()
}

async fn run_concurrently(token: &Token, key: &KeyRef) {
    let callers: Vec<_> = (0..16)
        .map(|_| {
            let (token, key) = (token.clone(), key.clone());
            tokio::spawn(async move { token.hmac(&key, b"message").await })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap().unwrap();
    }
}

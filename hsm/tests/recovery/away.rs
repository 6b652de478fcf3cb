//! Tokens that become unavailable and recover.

use std::fs;
use std::time::{Duration, Instant};

use cryptoki_sys::{CKR_DEVICE_ERROR, CKR_DEVICE_REMOVED, CKR_TOKEN_NOT_PRESENT};
use faulty_token::Fault;
use hsm::{ErrorKind, KeyRef, TokenState};

use super::{MONITOR, hmac_key};
use crate::support::{id, in_child_process, is_out, status, wait_until};

/// Much less than the deadline, also on a loaded machine.
const IMMEDIATE: Duration = Duration::from_secs(1);

#[test]
fn a_removed_token_fails_immediately_and_recovers_automatically() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let key = hmac_key(&token).await;
        for code in [CKR_DEVICE_REMOVED, CKR_TOKEN_NOT_PRESENT, CKR_DEVICE_ERROR] {
            let before = status(&token, "one").counters.outages;
            let missing = ["C_GetTokenInfo", "C_OpenSession", "C_SignInit", "C_GetSessionInfo"]
                .map(|function| Fault::Return(code).on(function));
            fixture.faults.rules(&missing);
            // The first failed operation triggers the canary, which detects the outage.
            token.hmac(&key, b"message").await.unwrap_err();
            wait_until("the outage is detected", || is_out(&status(&token, "one"))).await;
            let began = Instant::now();
            let error = token.hmac(&key, b"message").await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TokenOut);
            assert!(began.elapsed() < IMMEDIATE, "the operation did not fail immediately");

            fixture.faults.rules(&[]);
            wait_until("the token recovers", || status(&token, "one").state == TokenState::Serving)
                .await;
            token.hmac(&key, b"message").await.unwrap();
            assert_eq!(status(&token, "one").counters.outages, before + 1);
        }
        token.close().await;
    });
}

#[test]
fn a_token_directory_moved_away_and_back_never_reports_a_missing_key() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let key = hmac_key(&token).await;
        let (here, away) = (fixture.home.tokens(), fixture.home.folder().join("away"));
        let never_made = || KeyRef::secret(id());
        for _ in 0..3 {
            fs::rename(&here, &away).unwrap();
            let failed = |error: hsm::HsmError| {
                assert_ne!(error.kind(), ErrorKind::KeyMissing, "{error:?}");
            };
            while !is_out(&status(&token, "one")) {
                token.hmac(&key, b"message").await.map_or_else(failed, drop);
                // A different key each time, because a proven absence is cached.
                token.hmac(&never_made(), b"message").await.map_or_else(failed, drop);
            }
            fs::rename(&away, &here).unwrap();
            wait_until("the token recovers", || status(&token, "one").state == TokenState::Serving)
                .await;
            token.hmac(&key, b"message").await.unwrap();
            let error = token.hmac(&never_made(), b"message").await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::KeyMissing);
        }
        token.close().await;
    });
}

#[test]
fn the_canary_opens_the_breaker_only_when_it_fails_twice() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let key = hmac_key(&token).await;
        let fail =
            |times| Fault::Return(CKR_DEVICE_ERROR).on("C_Sign").thread(MONITOR).calls(1..=times);
        let canaries = || fixture.faults.calls("C_SignInit");

        fixture.faults.rules(&[fail(1)]);
        let before = canaries();
        wait_until("the canary runs again", || canaries() >= before + 4).await;
        assert_eq!(status(&token, "one").counters.outages, 0);

        fixture.faults.rules(&[fail(2)]);
        wait_until("the breaker opens", || status(&token, "one").counters.outages == 1).await;
        wait_until("the token recovers", || status(&token, "one").state == TokenState::Serving)
            .await;
        token.hmac(&key, b"message").await.unwrap();
        token.close().await;
    });
}

#[test]
fn probes_start_immediately_and_back_off() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        fixture.faults.rules(&[
            Fault::Return(CKR_DEVICE_REMOVED).on("C_OpenSession"),
            Fault::Return(CKR_DEVICE_REMOVED).on("C_SignInit"),
        ]);
        let restarts = || fixture.faults.calls("C_Initialize");
        let before = restarts();
        wait_until("the outage is detected", || is_out(&status(&token, "one"))).await;
        let mut last = Instant::now();
        let mut gaps = Vec::new();
        for tries in 1..=3 {
            wait_until("the next probe", || restarts() >= before + tries).await;
            gaps.push(last.elapsed());
            last = Instant::now();
        }
        let seconds = Duration::from_secs;
        assert!(gaps[0] < gaps[1] && gaps[1] < seconds(2) && gaps[2] > gaps[1], "{gaps:?}");
        fixture.faults.rules(&[]);
        token.close().await;
    });
}

//! Tokens that go away and come back.

use std::fs;
use std::time::{Duration, Instant};

use cryptoki_sys::{CKR_DEVICE_ERROR, CKR_DEVICE_REMOVED, CKR_TOKEN_NOT_PRESENT};
use faulty_token::Fault;
use hsm::{ErrorKind, KeyRef, TokenState};

use super::{MONITOR, hmac_key};
use crate::support::{alone, id, is_out, status, until};

/// Far from the deadline, even on a machine with much else to do.
const AT_ONCE: Duration = Duration::from_secs(1);

#[test]
fn a_removed_token_fails_immediately_and_recovers_automatically() {
    alone(|rig| async move {
        let token = rig.open().await;
        let key = hmac_key(&token).await;
        for code in [CKR_DEVICE_REMOVED, CKR_TOKEN_NOT_PRESENT, CKR_DEVICE_ERROR] {
            let before = status(&token, "one").counters.outages;
            let gone = [
                "C_GetTokenInfo",
                "C_OpenSession",
                "C_SignInit",
                "C_GetSessionInfo",
            ]
            .map(|function| Fault::Return(code).on(function));
            rig.faults.rules(&gone);
            // The first operation that fails asks for the canary, which finds out.
            token.hmac(&key, b"message").await.unwrap_err();
            until("it is found out", || is_out(&status(&token, "one"))).await;
            let began = Instant::now();
            let error = token.hmac(&key, b"message").await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TokenOut);
            assert!(began.elapsed() < AT_ONCE, "it did not fail at once");

            rig.faults.rules(&[]);
            until("it is back", || {
                status(&token, "one").state == TokenState::Serving
            })
            .await;
            token.hmac(&key, b"message").await.unwrap();
            assert_eq!(status(&token, "one").counters.outages, before + 1);
        }
        token.close().await;
    });
}

#[test]
fn a_token_directory_moved_away_and_back_never_reports_a_missing_key() {
    alone(|rig| async move {
        let token = rig.open().await;
        let key = hmac_key(&token).await;
        let (here, away) = (rig.home.tokens(), rig.home.folder().join("away"));
        let never_made = || KeyRef::secret(id());
        for _ in 0..3 {
            fs::rename(&here, &away).unwrap();
            let failed = |error: hsm::HsmError| {
                assert_ne!(error.kind(), ErrorKind::KeyMissing, "{error:?}");
            };
            while !is_out(&status(&token, "one")) {
                token.hmac(&key, b"message").await.map_or_else(failed, drop);
                // Another one each time: what was proven missing before is missing still.
                token
                    .hmac(&never_made(), b"message")
                    .await
                    .map_or_else(failed, drop);
            }
            fs::rename(&away, &here).unwrap();
            until("it is back", || {
                status(&token, "one").state == TokenState::Serving
            })
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
    alone(|rig| async move {
        let token = rig.open().await;
        let key = hmac_key(&token).await;
        let fail = |times| {
            Fault::Return(CKR_DEVICE_ERROR)
                .on("C_Sign")
                .thread(MONITOR)
                .calls(1..=times)
        };
        let songs = || rig.faults.calls("C_SignInit");

        rig.faults.rules(&[fail(1)]);
        let before = songs();
        until("the canary sang again", || songs() >= before + 4).await;
        assert_eq!(status(&token, "one").counters.outages, 0);

        rig.faults.rules(&[fail(2)]);
        until("the breaker opened", || {
            status(&token, "one").counters.outages == 1
        })
        .await;
        until("it is back", || {
            status(&token, "one").state == TokenState::Serving
        })
        .await;
        token.hmac(&key, b"message").await.unwrap();
        token.close().await;
    });
}

#[test]
fn probes_start_immediately_and_back_off() {
    alone(|rig| async move {
        let token = rig.open().await;
        rig.faults.rules(&[
            Fault::Return(CKR_DEVICE_REMOVED).on("C_OpenSession"),
            Fault::Return(CKR_DEVICE_REMOVED).on("C_SignInit"),
        ]);
        let restarts = || rig.faults.calls("C_Initialize");
        let before = restarts();
        until("it is found out", || is_out(&status(&token, "one"))).await;
        let mut last = Instant::now();
        let mut gaps = Vec::new();
        for tries in 1..=3 {
            until("the next try", || restarts() >= before + tries).await;
            gaps.push(last.elapsed());
            last = Instant::now();
        }
        let seconds = Duration::from_secs;
        assert!(
            gaps[0] < gaps[1] && gaps[1] < seconds(2) && gaps[2] > gaps[1],
            "{gaps:?}"
        );
        rig.faults.rules(&[]);
        token.close().await;
    });
}

//! Sessions that tokens refuse, and stalls.

use std::time::Duration;

use faulty_token::Fault;
use formats::algorithms::Algorithm;
use hsm::{Config, ErrorKind, Purpose, Token, TokenState};

use crate::support::{generate_key, in_child_process, is_out, status, wait_until};

/// The token reports no limit and gives four sessions: two workers have one beside the anchor and the monitor.
#[test]
fn a_worker_without_a_session_takes_no_work_and_asks_again() {
    in_child_process(|fixture| async move {
        let limit = Fault::SessionLimit(4).on("C_OpenSession");
        fixture.faults.rules(std::slice::from_ref(&limit));
        let token = Token::open(Config { workers: 4, ..fixture.config() }).await.unwrap();
        let workers = || {
            let status = status(&token, "one");
            (status.workers, status.workers_configured)
        };
        wait_until("two workers have no session", || workers() == (2, 4)).await;
        let key = generate_key(&token, Algorithm::HmacSha256, Purpose::Sign).await.key;
        let callers: Vec<_> = (0..60)
            .map(|_| {
                let (token, key) = (token.clone(), key.clone());
                tokio::spawn(async move { token.hmac(&key, b"message").await })
            })
            .collect();
        for caller in callers {
            caller.await.unwrap().unwrap();
        }
        let report = token.probe().await.pop().unwrap().1.unwrap();
        assert!(report.broken.iter().any(|it| it.contains("gives 4")), "{:?}", report.broken);

        fixture.faults.rules(&[]);
        wait_until("all workers have a session", || workers() == (4, 4)).await;
        token.close().await;
    });
}

/// A daemon that is stopped and goes on later.
#[test]
fn a_stall_costs_no_process_and_ends_by_itself() {
    in_child_process(|fixture| async move {
        let config = Config { deadline: Duration::from_secs(1), ..fixture.config() };
        let token = Token::open(config).await.unwrap();
        let key = generate_key(&token, Algorithm::HmacSha256, Purpose::Sign).await.key;
        let stalled = [
            "C_SignInit",
            "C_Sign",
            "C_OpenSession",
            "C_CloseSession",
            "C_GetSessionInfo",
            "C_GetTokenInfo",
            "C_GetSlotList",
            "C_FindObjectsInit",
            "C_GenerateRandom",
        ];
        fixture.faults.rules(&stalled.map(|function| Fault::Hang.on(function)));
        wait_until("the token is out", || is_out(&status(&token, "one"))).await;
        let mut most = 0;
        let began = std::time::Instant::now();
        while began.elapsed() < Duration::from_secs(8) {
            let error = token.hmac(&key, b"message").await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Late | ErrorKind::TokenOut), "{error:?}");
            most = most.max(status(&token, "one").hung);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(most <= 9, "{most} threads hang");
        fixture.faults.rules(&[]);
        let ended = std::time::Instant::now();
        wait_until("the token serves", || status(&token, "one").state == TokenState::Serving).await;
        assert!(ended.elapsed() < Duration::from_secs(2), "{:?}", ended.elapsed());
        token.hmac(&key, b"message").await.unwrap();
        wait_until("no thread hangs", || status(&token, "one").hung == 0).await;
        token.close().await;
    });
}

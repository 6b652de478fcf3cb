//! Slow tokens, deadlines and abandoned operations.

use std::time::{Duration, Instant};

use faulty_token::{Fault, Rule};
use formats::algorithms::Algorithm;
use hsm::{CancelGuard, Config, Counters, ErrorKind, HsmError, KeyRef, Purpose, Token};
use tokio::task::JoinHandle;

use super::{WORKER, hmac_key};
use crate::support::{Fixture, generate_key, in_child_process, status, wait_until};

#[test]
fn a_slow_call_completes() {
    in_child_process(|fixture| async move {
        let token = fixture.open().await;
        let key = hmac_key(&token).await;
        let slow = Fault::Delay(Duration::from_millis(200)).on("C_SignInit");
        fixture.faults.rules(&[slow]);
        for _ in 0..3 {
            token.hmac(&key, b"message").await.unwrap();
        }
        let status = status(&token, "one");
        assert_eq!((status.counters.outages, status.hung), (0, 0));
        token.close().await;
    });
}

#[test]
fn a_job_that_waits_longer_than_the_deadline_is_late_and_never_started() {
    in_child_process(|fixture| async move {
        let config = Config { workers: 1, ..fixture.with_short_deadline() };
        let deadline = config.deadline;
        let token = Token::open(config).await.unwrap();
        let key = hmac_key(&token).await;
        // The only worker generates a key, which has a longer deadline than the waiting job.
        fixture.faults.rules(&[Fault::Hang.on("C_GenerateKeyPair")]);
        let before = status(&token, "one").counters;
        let started = || status(&token, "one").counters.operations - before.operations;
        let generating = tokio::spawn({
            let token = token.clone();
            async move { generate_key(&token, Algorithm::P256, Purpose::Envelope).await }
        });
        wait_until("the worker is in a call", || started() == 1).await;
        let began = Instant::now();
        let error = token.hmac(&key, b"message").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Late);
        let took = began.elapsed();
        assert!(took >= deadline && took < deadline * 2, "it took {took:?}");

        fixture.faults.rules(&[]);
        generating.await.unwrap();
        token.hmac(&key, b"message").await.unwrap();
        let after = status(&token, "one").counters;
        let skipped = |counted: Counters| counted.abandoned + counted.late;
        assert_eq!((started(), skipped(after) - skipped(before)), (2, 1));
        token.close().await;
    });
}

#[test]
fn a_full_queue_is_busy() {
    in_child_process(|fixture| async move {
        let config = Config { workers: 1, queue: 3, ..fixture.config() };
        let token = Token::open(config).await.unwrap();
        let key = hmac_key(&token).await;
        let before = status(&token, "one").counters.operations;
        fixture.faults.rules(&[held()]);
        let first = ask(&token, &key);
        wait_until("the worker is in a call", || {
            status(&token, "one").counters.operations == before + 1
        })
        .await;
        let waiting = [ask(&token, &key), ask(&token, &key), ask(&token, &key)];
        wait_until("the queue is full", || status(&token, "one").queued == 3).await;
        let began = Instant::now();
        let error = token.hmac(&key, b"message").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy);
        assert!(began.elapsed() < Duration::from_secs(1), "the operation waited");
        fixture.faults.rules(&[]);
        first.await.unwrap().unwrap();
        for other in waiting {
            other.await.unwrap().unwrap();
        }
        token.close().await;
    });
}

/// A token whose only worker is in a call until the rules are removed.
struct BusyToken {
    token: Token,
    key: KeyRef,
    before: Counters,
    inside: JoinHandle<Result<Vec<u8>, HsmError>>,
}

impl BusyToken {
    async fn by(fixture: &Fixture) -> Self {
        let config = Config { workers: 1, ..fixture.config() };
        let token = Token::open(config).await.unwrap();
        let key = hmac_key(&token).await;
        let before = status(&token, "one").counters;
        fixture.faults.rules(&[held()]);
        let busy = Self { inside: ask(&token, &key), token, key, before };
        wait_until("the worker is in a call", || busy.started() == 1).await;
        busy
    }

    /// The number of operations that started since.
    fn started(&self) -> u64 {
        status(&self.token, "one").counters.operations - self.before.operations
    }

    /// Operations that were skipped because their callers gave up.
    fn abandoned(&self) -> u64 {
        status(&self.token, "one").counters.abandoned - self.before.abandoned
    }

    async fn waits_for(&self, operations: usize) {
        let waiting = || status(&self.token, "one").queued;
        wait_until("the operations wait", || waiting() == operations).await;
    }
}

#[test]
fn an_abandoned_operation_does_not_use_the_token() {
    in_child_process(|fixture| async move {
        let mut busy = BusyToken::by(&fixture).await;
        let (token, key) = (busy.token.clone(), busy.key.clone());
        let waiting: Vec<_> = (0..20).map(|_| ask(&token, &key)).collect();
        busy.waits_for(20).await;
        for caller in waiting {
            caller.abort();
            assert!(caller.await.unwrap_err().is_cancelled());
        }
        fixture.faults.rules(&[]);
        (&mut busy.inside).await.unwrap().unwrap();
        token.hmac(&key, b"message").await.unwrap();
        assert_eq!((busy.started(), busy.abandoned()), (2, 20));
        token.close().await;
    });
}

#[test]
fn a_cancelled_task_ends_without_its_operation() {
    in_child_process(|fixture| async move {
        let mut busy = BusyToken::by(&fixture).await;
        let (token, key) = (busy.token.clone(), busy.key.clone());
        let (interest, wanted) = (CancelGuard::default(), CancelGuard::default());
        let left = tokio::spawn(interest.scope(hmac(token.clone(), key.clone())));
        let kept = tokio::spawn(wanted.scope(hmac(token.clone(), key)));
        busy.waits_for(2).await;
        drop(interest);
        fixture.faults.rules(&[]);
        (&mut busy.inside).await.unwrap().unwrap();
        kept.await.unwrap().unwrap();
        assert_eq!(left.await.unwrap().unwrap_err().kind(), ErrorKind::TokenOut);
        assert_eq!((busy.started(), busy.abandoned()), (2, 1));
        token.close().await;
    });
}

#[test]
fn a_slow_key_generation_is_not_an_outage_and_does_not_block_other_operations() {
    in_child_process(|fixture| async move {
        let token = fixture.open_with_short_deadline().await;
        let key = hmac_key(&token).await;
        let slow = Fault::Delay(Duration::from_secs(4)).on("C_GenerateKeyPair");
        fixture.faults.rules(&[slow]);
        let started = || fixture.faults.calls("C_GenerateKeyPair");
        let before = started();
        let generating = tokio::spawn({
            let token = token.clone();
            async move { generate_key(&token, Algorithm::P256, Purpose::Envelope).await }
        });
        wait_until("the operation starts", || started() > before).await;
        let mut meanwhile = 0;
        while !generating.is_finished() {
            token.hmac(&key, b"message").await.unwrap();
            meanwhile += 1;
        }
        generating.await.unwrap();
        assert!(meanwhile > 20, "only {meanwhile} operations meanwhile");
        let status = status(&token, "one");
        assert_eq!((status.counters.outages, status.hung), (0, 0));
        token.close().await;
    });
}

/// A rule that blocks the worker in the token.
fn held() -> Rule {
    Fault::Hang.on("C_Sign").thread(WORKER).calls(1..=1)
}

fn ask(token: &Token, key: &KeyRef) -> JoinHandle<Result<Vec<u8>, HsmError>> {
    tokio::spawn(hmac(token.clone(), key.clone()))
}

async fn hmac(token: Token, key: KeyRef) -> Result<Vec<u8>, HsmError> {
    token.hmac(&key, b"message").await
}

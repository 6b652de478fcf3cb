//! Slow tokens, deadlines, and callers that do not wait.

use std::time::{Duration, Instant};

use faulty_token::{Fault, Rule};
use hsm::{Algorithm, CancelGuard, Config, Counters, ErrorKind, HsmError, KeyRef, Purpose, Token};
use tokio::task::JoinHandle;

use super::{WORKER, hmac_key};
use crate::support::{Rig, alone, make, status, until};

#[test]
fn a_slow_call_completes() {
    alone(|rig| async move {
        let token = rig.open().await;
        let key = hmac_key(&token).await;
        let slow = Fault::Delay(Duration::from_millis(200)).on("C_SignInit");
        rig.faults.rules(&[slow]);
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
    alone(|rig| async move {
        let config = Config {
            workers: 1,
            ..rig.hasty()
        };
        let deadline = config.deadline;
        let token = Token::open(config).await.unwrap();
        let key = hmac_key(&token).await;
        // The only worker makes a key, for which it has more time than others have to wait.
        rig.faults.rules(&[Fault::Hang.on("C_GenerateKeyPair")]);
        let before = status(&token, "one").counters;
        let begun = || status(&token, "one").counters.operations - before.operations;
        let making = tokio::spawn({
            let token = token.clone();
            async move { make(&token, Algorithm::P256, Purpose::Envelope).await }
        });
        until("the worker is inside", || begun() == 1).await;
        let began = Instant::now();
        let error = token.hmac(&key, b"message").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Late);
        let took = began.elapsed();
        assert!(took >= deadline && took < deadline * 2, "it took {took:?}");

        rig.faults.rules(&[]);
        making.await.unwrap();
        token.hmac(&key, b"message").await.unwrap();
        let after = status(&token, "one").counters;
        let passed_over = |counted: Counters| counted.abandoned + counted.late;
        assert_eq!((begun(), passed_over(after) - passed_over(before)), (2, 1));
        token.close().await;
    });
}

#[test]
fn a_full_queue_is_busy() {
    alone(|rig| async move {
        let config = Config {
            workers: 1,
            queue: 3,
            ..rig.config()
        };
        let token = Token::open(config).await.unwrap();
        let key = hmac_key(&token).await;
        let before = status(&token, "one").counters.operations;
        rig.faults.rules(&[held()]);
        let first = ask(&token, &key);
        until("the worker is inside", || {
            status(&token, "one").counters.operations == before + 1
        })
        .await;
        let waiting = [ask(&token, &key), ask(&token, &key), ask(&token, &key)];
        until("the queue is full", || status(&token, "one").queued == 3).await;
        let began = Instant::now();
        let error = token.hmac(&key, b"message").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy);
        assert!(began.elapsed() < Duration::from_secs(1), "it waited");
        rig.faults.rules(&[]);
        first.await.unwrap().unwrap();
        for other in waiting {
            other.await.unwrap().unwrap();
        }
        token.close().await;
    });
}

/// A token whose only worker is inside the module, until the rules are lifted.
struct Occupied {
    token: Token,
    key: KeyRef,
    before: Counters,
    inside: JoinHandle<Result<Vec<u8>, HsmError>>,
}

impl Occupied {
    async fn by(rig: &Rig) -> Self {
        let config = Config {
            workers: 1,
            ..rig.config()
        };
        let token = Token::open(config).await.unwrap();
        let key = hmac_key(&token).await;
        let before = status(&token, "one").counters;
        rig.faults.rules(&[held()]);
        let occupied = Self {
            inside: ask(&token, &key),
            token,
            key,
            before,
        };
        until("the worker is inside", || occupied.begun() == 1).await;
        occupied
    }

    /// Operations that were begun since.
    fn begun(&self) -> u64 {
        status(&self.token, "one").counters.operations - self.before.operations
    }

    /// Operations that were skipped because their callers gave up.
    fn abandoned(&self) -> u64 {
        status(&self.token, "one").counters.abandoned - self.before.abandoned
    }

    async fn waits_for(&self, operations: usize) {
        let waiting = || status(&self.token, "one").queued;
        until("they wait", || waiting() == operations).await;
    }
}

#[test]
fn an_abandoned_operation_does_not_use_the_token() {
    alone(|rig| async move {
        let mut occupied = Occupied::by(&rig).await;
        let (token, key) = (occupied.token.clone(), occupied.key.clone());
        let waiting: Vec<_> = (0..20).map(|_| ask(&token, &key)).collect();
        occupied.waits_for(20).await;
        for caller in waiting {
            caller.abort();
            assert!(caller.await.unwrap_err().is_cancelled());
        }
        rig.faults.rules(&[]);
        (&mut occupied.inside).await.unwrap().unwrap();
        token.hmac(&key, b"message").await.unwrap();
        assert_eq!((occupied.begun(), occupied.abandoned()), (2, 20));
        token.close().await;
    });
}

#[test]
fn a_cancelled_task_ends_without_its_operation() {
    alone(|rig| async move {
        let mut occupied = Occupied::by(&rig).await;
        let (token, key) = (occupied.token.clone(), occupied.key.clone());
        let (interest, wanted) = (CancelGuard::default(), CancelGuard::default());
        let left = tokio::spawn(interest.scope(hmac(token.clone(), key.clone())));
        let kept = tokio::spawn(wanted.scope(hmac(token.clone(), key)));
        occupied.waits_for(2).await;
        drop(interest);
        rig.faults.rules(&[]);
        (&mut occupied.inside).await.unwrap().unwrap();
        kept.await.unwrap().unwrap();
        assert_eq!(left.await.unwrap().unwrap_err().kind(), ErrorKind::TokenOut);
        assert_eq!((occupied.begun(), occupied.abandoned()), (2, 1));
        token.close().await;
    });
}

#[test]
fn a_slow_key_generation_is_not_an_outage_and_does_not_block_other_operations() {
    alone(|rig| async move {
        let token = rig.open_hastily().await;
        let key = hmac_key(&token).await;
        let slow = Fault::Delay(Duration::from_secs(4)).on("C_GenerateKeyPair");
        rig.faults.rules(&[slow]);
        let begun = || rig.faults.calls("C_GenerateKeyPair");
        let before = begun();
        let making = tokio::spawn({
            let token = token.clone();
            async move { make(&token, Algorithm::P256, Purpose::Envelope).await }
        });
        until("it is begun", || begun() > before).await;
        let mut meanwhile = 0;
        while !making.is_finished() {
            token.hmac(&key, b"message").await.unwrap();
            meanwhile += 1;
        }
        making.await.unwrap();
        assert!(meanwhile > 20, "only {meanwhile} operations meanwhile");
        let status = status(&token, "one");
        assert_eq!((status.counters.outages, status.hung), (0, 0));
        token.close().await;
    });
}

/// A worker is held inside the token until this rule is gone.
fn held() -> Rule {
    Fault::Hang.on("C_Sign").thread(WORKER).calls(1..=1)
}

fn ask(token: &Token, key: &KeyRef) -> JoinHandle<Result<Vec<u8>, HsmError>> {
    tokio::spawn(hmac(token.clone(), key.clone()))
}

async fn hmac(token: Token, key: KeyRef) -> Result<Vec<u8>, HsmError> {
    token.hmac(&key, b"message").await
}

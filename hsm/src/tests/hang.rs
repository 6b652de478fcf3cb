//! Calls that hang.

use std::sync::{Arc, Mutex, mpsc};

use super::*;
use crate::session::Session;
use crate::{Caller, ErrorKind, Fatal, HsmError};

/// A configuration that detects hung calls quickly.
fn with_short_deadline() -> Config {
    Config { deadline: Duration::from_secs(1), ..quick(&["one"]) }
}

/// Operations that hang until their release.
#[derive(Clone)]
struct Block {
    release: mpsc::Sender<()>,
    released: Arc<Mutex<mpsc::Receiver<()>>>,
}

impl Block {
    fn new() -> Self {
        let (release, released) = mpsc::channel();
        Self { release, released: Arc::new(Mutex::new(released)) }
    }

    fn work(&self) -> impl FnMut(&Session) -> Result<(), HsmError> + Clone + Send + use<> {
        let released = Arc::clone(&self.released);
        move |_| {
            released.lock().unwrap().recv().unwrap();
            Ok(())
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hung_worker_is_replaced_and_exits_after_its_call_returns() {
    if !in_child_process(
        "hang::a_hung_worker_is_replaced_and_exits_after_its_call_returns",
        &["one"],
    ) {
        return;
    }
    let token = Token::open(with_short_deadline()).await.unwrap();
    let block = Block::new();
    let error = token.dispatcher.anywhere(block.work()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Late);
    wait_until("the worker is abandoned and replaced", || {
        let status = status(&token, "one");
        (status.hung, status.workers) == (1, 2)
    })
    .await;
    token.random(8).await.unwrap();

    block.release.send(()).unwrap();
    wait_until("the hung thread exits", || status(&token, "one").hung == 0).await;
    wait_until("its session is closed", || status(&token, "one").sessions <= 3).await;
    assert_eq!(status(&token, "one").state, TokenState::Serving);
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hung_operation_takes_no_answer_of_its_group() {
    if !in_child_process("hang::a_hung_operation_takes_no_answer_of_its_group", &["one"]) {
        return;
    }
    let token = Token::open(with_short_deadline()).await.unwrap();
    let block = Block::new();
    let together = async { tokio::join!(token.random(8), token.dispatcher.anywhere(block.work())) };
    let (answer, hung) = Caller::default().together().scope(together).await;
    answer.unwrap();
    assert_eq!(hung.unwrap_err().kind(), ErrorKind::Late);
    block.release.send(()).unwrap();
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exhausted_hang_budget_is_fatal() {
    if !in_child_process("hang::an_exhausted_hang_budget_is_fatal", &["one"]) {
        return;
    }
    let config = Config { workers: 1, hang_budget: 0, ..with_short_deadline() };
    let token = Token::open(config).await.unwrap();
    let block = Block::new();
    // A stall of the whole token costs fewer threads.
    const LEAST: usize = 6;
    for _ in 0..=LEAST {
        // The worker is replaced after each call.
        token.dispatcher.anywhere(block.work()).await.unwrap_err();
    }
    let fatal = tokio::time::timeout(Duration::from_secs(10), token.fatal()).await.unwrap();
    assert_eq!(fatal, Fatal::HangBudgetSpent { token: "one".to_owned(), hung: 7 });
    (0..=LEAST).for_each(|_| block.release.send(()).unwrap());
    wait_until("all calls return", || status(&token, "one").hung == 0).await;
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_write_is_neither_an_outage_nor_a_hang() {
    if !in_child_process("hang::a_long_write_is_neither_an_outage_nor_a_hang", &["one"]) {
        return;
    }
    let token = Token::open(with_short_deadline()).await.unwrap();
    let block = Block::new();
    let writing = {
        let (pool, work) = (Arc::clone(&token.dispatcher), block.work());
        tokio::spawn(async move { pool.write(work).await })
    };
    // Longer than the deadline of reads and several canaries.
    let canaries = || status(&token, "one").counters.finds;
    let before = canaries();
    wait_until("the canary runs", || canaries() >= before + 4).await;
    assert_eq!(status(&token, "one").hung, 0);
    assert_eq!(status(&token, "one").counters.outages, 0);
    block.release.send(()).unwrap();
    writing.await.unwrap().unwrap();
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_operation_is_not_run() {
    if !in_child_process("hang::an_abandoned_operation_is_not_run", &["one"]) {
        return;
    }
    let token = Token::open(Config { workers: 1, ..with_short_deadline() }).await.unwrap();
    let block = Block::new();
    let busy = {
        let (pool, work) = (Arc::clone(&token.dispatcher), block.work());
        tokio::spawn(async move { pool.anywhere(work).await })
    };
    wait_until("the worker is busy", || status(&token, "one").counters.operations == 1).await;
    let missing = {
        let token = token.clone();
        tokio::spawn(async move { token.random(8).await })
    };
    wait_until("the second operation waits", || status(&token, "one").queued == 1).await;
    missing.abort();
    missing.await.unwrap_err();
    block.release.send(()).unwrap();
    busy.await.unwrap().unwrap();
    wait_until("the operation is removed", || status(&token, "one").counters.abandoned == 1).await;
    assert_eq!(status(&token, "one").counters.operations, 1);
    token.close().await;
}

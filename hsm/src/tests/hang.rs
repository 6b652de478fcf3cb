//! Calls that do not come back.

use std::sync::{Arc, Mutex, mpsc};

use super::*;
use crate::session::Session;
use crate::{ErrorKind, Fatal, HsmError};

/// A configuration under which a hung call is soon noticed.
fn impatient() -> Config {
    Config {
        deadline: Duration::from_secs(1),
        ..quick(&["one"])
    }
}

/// Operations that hang until they are let go.
#[derive(Clone)]
struct Trap {
    release: mpsc::Sender<()>,
    sprung: Arc<Mutex<mpsc::Receiver<()>>>,
}

impl Trap {
    fn new() -> Self {
        let (release, sprung) = mpsc::channel();
        Self {
            release,
            sprung: Arc::new(Mutex::new(sprung)),
        }
    }

    fn work(&self) -> impl FnMut(&Session) -> Result<(), HsmError> + Clone + Send + use<> {
        let sprung = Arc::clone(&self.sprung);
        move |_| {
            sprung.lock().unwrap().recv().unwrap();
            Ok(())
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hung_worker_is_replaced_and_exits_after_its_call_returns() {
    if !alone(
        "hang::a_hung_worker_is_replaced_and_exits_after_its_call_returns",
        &["one"],
    ) {
        return;
    }
    let token = Token::open(impatient()).await.unwrap();
    let trap = Trap::new();
    let late = token.dispatcher.anywhere(trap.work()).await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Late);
    until("the worker is written off", || {
        status(&token, "one").hung == 1
    })
    .await;
    assert_eq!(status(&token, "one").workers, 2);
    token.random(8).await.unwrap();

    trap.release.send(()).unwrap();
    until("the hung thread has left", || {
        status(&token, "one").hung == 0
    })
    .await;
    until("its session is closed", || {
        status(&token, "one").sessions <= 3
    })
    .await;
    assert_eq!(status(&token, "one").state, TokenState::Serving);
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exhausted_hang_budget_is_fatal() {
    if !alone("hang::an_exhausted_hang_budget_is_fatal", &["one"]) {
        return;
    }
    let token = Token::open(impatient()).await.unwrap();
    let trap = Trap::new();
    for _ in 0..3 {
        // Two workers hang side by side at most, so these are three calls one after another.
        token.dispatcher.anywhere(trap.work()).await.unwrap_err();
    }
    let fatal = tokio::time::timeout(Duration::from_secs(10), token.fatal())
        .await
        .unwrap();
    assert_eq!(
        fatal,
        Fatal::HangBudgetSpent {
            token: "one".to_owned(),
            hung: 3
        }
    );
    (0..3).for_each(|_| trap.release.send(()).unwrap());
    until("all have come back", || status(&token, "one").hung == 0).await;
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_write_is_neither_an_outage_nor_a_hang() {
    if !alone(
        "hang::a_long_write_is_neither_an_outage_nor_a_hang",
        &["one"],
    ) {
        return;
    }
    let token = Token::open(impatient()).await.unwrap();
    let trap = Trap::new();
    let writing = {
        let (pool, work) = (Arc::clone(&token.dispatcher), trap.work());
        tokio::spawn(async move { pool.write(work).await })
    };
    // Longer than the deadline of reads, and than several canaries take.
    let canaries = || status(&token, "one").counters.finds;
    let before = canaries();
    until("the canary sang meanwhile", || canaries() >= before + 4).await;
    assert_eq!(status(&token, "one").hung, 0);
    assert_eq!(status(&token, "one").counters.outages, 0);
    trap.release.send(()).unwrap();
    writing.await.unwrap().unwrap();
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_operation_is_not_run() {
    if !alone("hang::an_abandoned_operation_is_not_run", &["one"]) {
        return;
    }
    let token = Token::open(Config {
        workers: 1,
        ..impatient()
    })
    .await
    .unwrap();
    let trap = Trap::new();
    let busy = {
        let (pool, work) = (Arc::clone(&token.dispatcher), trap.work());
        tokio::spawn(async move { pool.anywhere(work).await })
    };
    until("the worker is busy", || {
        status(&token, "one").counters.operations == 1
    })
    .await;
    let gone = {
        let token = token.clone();
        tokio::spawn(async move { token.random(8).await })
    };
    until("the second one waits", || status(&token, "one").queued == 1).await;
    gone.abort();
    gone.await.unwrap_err();
    trap.release.send(()).unwrap();
    busy.await.unwrap().unwrap();
    until("it is taken out", || {
        status(&token, "one").counters.abandoned == 1
    })
    .await;
    assert_eq!(status(&token, "one").counters.operations, 1);
    token.close().await;
}

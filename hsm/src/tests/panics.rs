//! Threads that panic.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::Observer;
use crate::threads::{PANICS, Role};

/// Tells a thread to panic, again and again. Without replacement, the second time has no thread.
async fn ends(role: Role) {
    for _ in 0..3 {
        *PANICS.lock().unwrap() = Some(role);
        wait_until("a thread panics", || PANICS.lock().unwrap().is_none()).await;
    }
}

/// Without a monitor, a token that does not answer would stay in service.
#[tokio::test(flavor = "multi_thread")]
async fn a_monitor_that_panics_is_replaced() {
    if !in_child_process("panics::a_monitor_that_panics_is_replaced", &["one"]) {
        return;
    }
    let token = Token::open(quick(&["one"])).await.unwrap();
    ends(Role::Monitor).await;
    // The state of the token is unknown, so it is out until the next canary.
    wait_until("the token serves", || status(&token, "one").state == TokenState::Serving).await;
    token.random(8).await.unwrap();
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_panics_is_replaced() {
    if !in_child_process("panics::a_worker_that_panics_is_replaced", &["one"]) {
        return;
    }
    let token = Token::open(Config { workers: 1, ..quick(&["one"]) }).await.unwrap();
    ends(Role::Worker).await;
    token.random(8).await.unwrap();
    token.close().await;
}

/// Ends the thread after the next operation.
#[derive(Debug, Default)]
struct PanicsOnce(AtomicBool);

impl Observer for PanicsOnce {
    fn operation(&self, _: &str, _: Duration, _: Duration) {
        assert!(!self.0.swap(false, Ordering::Relaxed), "a test ends the thread");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_panics_in_a_write_blocks_no_other_write() {
    if !in_child_process("panics::a_worker_that_panics_in_a_write_blocks_no_other_write", &["one"])
    {
        return;
    }
    let observer = Arc::new(PanicsOnce::default());
    let shared: Arc<dyn Observer> = observer.clone();
    let token = Token::open(Config { observer: Some(shared), ..quick(&["one"]) }).await.unwrap();
    observer.0.store(true, Ordering::Relaxed);
    token.dispatcher.write(|_| Ok(())).await.unwrap_err();
    token.dispatcher.write(|_| Ok(())).await.unwrap();
    token.close().await;
}

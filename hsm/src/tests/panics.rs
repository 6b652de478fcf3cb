//! Threads that panic.

use super::*;
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
    token.random(8).await.unwrap();
    assert_eq!(status(&token, "one").state, TokenState::Serving);
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

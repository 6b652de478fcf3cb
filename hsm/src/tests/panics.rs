//! Threads that panic.

use std::sync::atomic::Ordering;

use super::*;
use crate::threads::MONITOR_PANICS;

/// Without a monitor, a token that does not answer would stay in service.
#[tokio::test(flavor = "multi_thread")]
async fn a_monitor_that_panics_is_replaced() {
    if !in_child_process("panics::a_monitor_that_panics_is_replaced", &["one"]) {
        return;
    }
    let token = Token::open(quick(&["one"])).await.unwrap();
    // Only a replaced monitor can panic again.
    for _ in 0..3 {
        MONITOR_PANICS.store(true, Ordering::SeqCst);
        wait_until("a monitor panics", || !MONITOR_PANICS.load(Ordering::SeqCst)).await;
    }
    token.random(8).await.unwrap();
    assert_eq!(status(&token, "one").state, TokenState::Serving);
    token.close().await;
}

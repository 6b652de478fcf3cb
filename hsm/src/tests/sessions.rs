//! Lost sessions and logins on a working token.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cryptoki::mechanism::Mechanism;

use super::*;
use crate::{ErrorKind, HsmError};

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_login_is_renewed_once_without_errors() {
    if !in_child_process("sessions::a_lost_login_is_renewed_once_without_errors", &["one"]) {
        return;
    }
    let token = Token::open(quick(&["one"])).await.unwrap();
    let key = hmac_key(&token).await.key;
    let logins = status(&token, "one").counters.logins;
    assert_eq!(logins, 1);
    for round in 1..=5 {
        token.dispatcher.anywhere(|session| session.raw().logout()).await.unwrap();
        let callers = (0..8).map(|_| {
            let (token, key) = (token.clone(), key.clone());
            tokio::spawn(async move { token.hmac(&key, b"message").await })
        });
        for caller in callers.collect::<Vec<_>>() {
            caller.await.unwrap().unwrap();
        }
        assert_eq!(status(&token, "one").counters.logins, logins + round);
    }
    assert_eq!(status(&token, "one").counters.outages, 0);
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_left_in_the_middle_of_an_operation_is_discarded() {
    if !in_child_process(
        "sessions::a_session_left_in_the_middle_of_an_operation_is_discarded",
        &["one"],
    ) {
        return;
    }
    let token = Token::open(quick(&["one"])).await.unwrap();
    let key = hmac_key(&token).await.key;
    for _ in 0..4 {
        let started = key.clone();
        let begin = move |session: &crate::session::Session| {
            session.with_key(&started, |handle| {
                session.raw().begin_signature(&Mechanism::Sha256Hmac, handle)
            })
        };
        token.dispatcher.with_key(&key, begin).await.unwrap();
        token.hmac(&key, b"message").await.unwrap();
    }
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_session_is_replaced_and_the_operation_is_repeated_once() {
    if !in_child_process(
        "sessions::an_invalid_session_is_replaced_and_the_operation_is_repeated_once",
        &["one"],
    ) {
        return;
    }
    let token = Token::open(quick(&["one"])).await.unwrap();
    let attempts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&attempts);
    let invalid = move |_: &crate::session::Session| -> Result<(), HsmError> {
        counted.fetch_add(1, Ordering::SeqCst);
        Err(HsmError::login_lost())
    };
    let error = token.dispatcher.anywhere(invalid).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TokenOut);
    assert_eq!(attempts.load(Ordering::SeqCst), 2);
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_only_discards_one_session() {
    if !in_child_process("sessions::a_panic_only_discards_one_session", &["one"]) {
        return;
    }
    let token = Token::open(quick(&["one"])).await.unwrap();
    for _ in 0..4 {
        let boom = |_: &crate::session::Session| -> Result<(), HsmError> { panic!("boom") };
        let error = token.dispatcher.anywhere(boom).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
    }
    token.random(8).await.unwrap();
    assert_eq!(status(&token, "one").workers, 2);
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_operations_search_no_key_and_open_no_session() {
    if !in_child_process(
        "sessions::repeated_operations_search_no_key_and_open_no_session",
        &["one"],
    ) {
        return;
    }
    let config = Config { canary_interval: Duration::from_secs(60), ..quick(&["one"]) };
    let workers = config.workers;
    let token = Token::open(config).await.unwrap();
    wait_until("each worker and the canary have a session", || {
        status(&token, "one").sessions == workers + 1
    })
    .await;
    let key = hmac_key(&token).await.key;
    token.hmac(&key, b"message").await.unwrap();
    let before = status(&token, "one").counters;
    for _ in 0..200 {
        token.hmac(&key, b"message").await.unwrap();
    }
    let after = status(&token, "one").counters;
    assert_eq!(after.finds, before.finds);
    assert_eq!(after.sessions_opened, before.sessions_opened);
    assert_eq!(after.operations, before.operations + 200);
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_releases_every_session() {
    if !in_child_process("sessions::closing_releases_every_session", &["one"]) {
        return;
    }
    let token = Token::open(quick(&["one"])).await.unwrap();
    token.random(8).await.unwrap();
    token.close().await;
    let after = status(&token, "one");
    assert_eq!((after.state, after.workers, after.sessions), (TokenState::Closed, 0, 0));
    assert_eq!(token.random(8).await.unwrap_err().kind(), ErrorKind::TokenOut);
    drop(token);
    let again = Token::open(quick(&["one"])).await.unwrap();
    again.random(8).await.unwrap();
    again.close().await;
}

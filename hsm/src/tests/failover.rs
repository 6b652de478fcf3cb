//! Two tokens, one of them unavailable or without the key.

use super::*;
use crate::{ErrorKind, KeyRef};

#[tokio::test(flavor = "multi_thread")]
async fn the_token_with_the_key_is_found_and_an_outage_is_not_a_missing_key() {
    if !in_child_process(
        "failover::the_token_with_the_key_is_found_and_an_outage_is_not_a_missing_key",
        &["one", "two"],
    ) {
        return;
    }
    let token = Token::open(quick(&["one", "two"])).await.unwrap();
    let created = hmac_key(&token).await;
    for _ in 0..20 {
        token.hmac(&created.key, b"message").await.unwrap();
    }
    let found = token.find(&created.key).await.unwrap();
    for presence in found.presence {
        assert_eq!(presence.holds, Some(presence.token == created.token));
    }
    let unknown = KeyRef::secret(b"never generated".to_vec());
    assert_eq!(token.hmac(&unknown, b"message").await.unwrap_err().kind(), ErrorKind::KeyMissing);

    // While the other token is unavailable, no key is known to be missing.
    let other =
        token.dispatcher.devices().iter().find(|device| device.label() != created.token).unwrap();
    other.trip("for the test");
    assert_eq!(token.hmac(&unknown, b"message").await.unwrap_err().kind(), ErrorKind::TokenOut);
    token.hmac(&created.key, b"message").await.unwrap();
    wait_until("the token recovers", || other.is_serving()).await;

    // While the token with the key is unavailable, the key is not reported as missing.
    let holder =
        token.dispatcher.devices().iter().find(|device| device.label() == created.token).unwrap();
    holder.trip("for the test");
    assert_eq!(token.hmac(&created.key, b"message").await.unwrap_err().kind(), ErrorKind::TokenOut);
    assert_eq!(token.destroy(&created.key).await.unwrap_err().kind(), ErrorKind::TokenOut);
    token.random(8).await.unwrap();
    wait_until("the token recovers", || holder.is_serving()).await;
    token.destroy(&created.key).await.unwrap();
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_tokens_is_enough_to_start() {
    if !in_child_process("failover::one_of_two_tokens_is_enough_to_start", &["one"]) {
        return;
    }
    let token = Token::open(quick(&["one", "absent"])).await.unwrap();
    token.random(8).await.unwrap();
    assert!(is_out(&status(&token, "absent")));
    assert_eq!(status(&token, "one").state, TokenState::Serving);
    token.close().await;
}

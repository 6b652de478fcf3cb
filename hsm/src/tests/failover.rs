//! Two tokens, of which one is out or lacks the key.

use super::*;
use crate::{ErrorKind, KeyRef};

#[tokio::test(flavor = "multi_thread")]
async fn the_token_with_the_key_is_found_and_an_outage_is_not_a_missing_key() {
    if !alone(
        "failover::the_token_with_the_key_is_found_and_an_outage_is_not_a_missing_key",
        &["one", "two"],
    ) {
        return;
    }
    let token = Token::open(quick(&["one", "two"])).await.unwrap();
    let made = hmac_key(&token).await;
    for _ in 0..20 {
        token.hmac(&made.key, b"message").await.unwrap();
    }
    let found = token.find(&made.key).await.unwrap();
    for presence in found.presence {
        assert_eq!(presence.holds, Some(presence.token == made.token));
    }
    let unknown = KeyRef::secret(b"never made".to_vec());
    assert_eq!(
        token.hmac(&unknown, b"message").await.unwrap_err().kind(),
        ErrorKind::KeyMissing
    );

    // While the other one is out, nobody can say that a key is missing.
    let other = token
        .dispatcher
        .devices()
        .iter()
        .find(|device| device.label() != made.token)
        .unwrap();
    other.trip("for the test");
    assert_eq!(
        token.hmac(&unknown, b"message").await.unwrap_err().kind(),
        ErrorKind::TokenOut
    );
    token.hmac(&made.key, b"message").await.unwrap();
    until("it is back", || other.is_serving()).await;

    // While the one that holds the key is out, the key is not missing but out of reach.
    let holder = token
        .dispatcher
        .devices()
        .iter()
        .find(|device| device.label() == made.token)
        .unwrap();
    holder.trip("for the test");
    assert_eq!(
        token.hmac(&made.key, b"message").await.unwrap_err().kind(),
        ErrorKind::TokenOut
    );
    assert_eq!(
        token.destroy(&made.key).await.unwrap_err().kind(),
        ErrorKind::TokenOut
    );
    token.random(8).await.unwrap();
    until("it is back", || holder.is_serving()).await;
    token.destroy(&made.key).await.unwrap();
    token.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_tokens_is_enough_to_start() {
    if !alone("failover::one_of_two_tokens_is_enough_to_start", &["one"]) {
        return;
    }
    let token = Token::open(quick(&["one", "absent"])).await.unwrap();
    token.random(8).await.unwrap();
    assert!(is_out(&status(&token, "absent")));
    assert_eq!(status(&token, "one").state, TokenState::Serving);
    token.close().await;
}

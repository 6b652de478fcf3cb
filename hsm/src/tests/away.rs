//! A token directory that disappears and returns.

use super::*;
use crate::{ErrorKind, KeyRef};

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_token_is_unavailable_immediately_and_recovers_automatically() {
    if !in_child_process(
        "away::a_missing_token_is_unavailable_immediately_and_recovers_automatically",
        &["one"],
    ) {
        return;
    }
    let token = Token::open(quick(&["one"])).await.unwrap();
    let key = hmac_key(&token).await.key;
    let here = token_directory();
    let away = here.as_ref().with_extension("away");
    fs::rename(&here, &away).unwrap();

    // During the outage, no key is reported as missing.
    let unknown = KeyRef::secret(b"never generated".to_vec());
    wait_until("the outage is detected", || is_out(&status(&token, "one"))).await;
    for key in [&key, &unknown] {
        let began = Instant::now();
        let error = token.hmac(key, b"message").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TokenOut);
        assert!(began.elapsed() < Duration::from_secs(2), "the operation did not fail immediately");
    }
    assert_eq!(token.inventory().await.unwrap_err().kind(), ErrorKind::TokenOut);

    fs::rename(&away, &here).unwrap();
    wait_until("the token recovers", || status(&token, "one").state == TokenState::Serving).await;
    token.hmac(&key, b"message").await.unwrap();
    let error = token.hmac(&unknown, b"message").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyMissing);
    assert_eq!(status(&token, "one").counters.outages, 1);
    token.close().await;
}

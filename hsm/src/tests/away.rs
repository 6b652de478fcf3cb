//! A token directory that goes away and comes back.

use super::*;
use crate::{ErrorKind, KeyRef};

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_went_away_is_out_at_once_and_comes_back_by_itself() {
    if !alone(
        "away::a_token_that_went_away_is_out_at_once_and_comes_back_by_itself",
        &["one"],
    ) {
        return;
    }
    let token = Token::open(quick(&["one"])).await.unwrap();
    let key = hmac_key(&token).await.key;
    let here = token_directory();
    let away = here.as_ref().with_extension("away");
    fs::rename(&here, &away).unwrap();

    // Whatever is asked while it is away, a key is never said to be missing.
    let unknown = KeyRef::secret(b"never made".to_vec());
    until("it is found out", || is_out(&status(&token, "one"))).await;
    for key in [&key, &unknown] {
        let began = Instant::now();
        let error = token.hmac(key, b"message").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TokenOut);
        assert!(
            began.elapsed() < Duration::from_secs(2),
            "it did not fail at once"
        );
    }
    assert_eq!(
        token.inventory().await.unwrap_err().kind(),
        ErrorKind::TokenOut
    );

    fs::rename(&away, &here).unwrap();
    until("it is back", || {
        status(&token, "one").state == TokenState::Serving
    })
    .await;
    token.hmac(&key, b"message").await.unwrap();
    let error = token.hmac(&unknown, b"message").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyMissing);
    assert_eq!(status(&token, "one").counters.outages, 1);
    token.close().await;
}

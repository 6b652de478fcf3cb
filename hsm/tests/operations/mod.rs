//! Everything the crate does with keys and tokens that are well, on both tokens.

mod data;
mod envelopes;
mod keys;
mod signatures;

use crate::support::{Bench, make};
use hsm::{Algorithm, Config, ErrorKind, KeyRef, NewKey, PublicKey, Purpose, Token, TokenState};

on_both_tokens! { a_token_closes_and_reopens }

/// While another handle on the same token goes on as if nothing had happened.
async fn a_token_closes_and_reopens(bench: &Bench) {
    let key = make(&bench.token, Algorithm::HmacSha256, Purpose::Sign)
        .await
        .key;
    for _ in 0..3 {
        let token = Token::open(Config::new(vec![bench.config.clone()]))
            .await
            .unwrap();
        let status = &token.status().tokens[0];
        assert_eq!((&status.state, status.hung), (&TokenState::Serving, 0));
        token.hmac(&key, b"a message").await.unwrap();
        token.close().await;
        assert_eq!(token.status().tokens[0].state, TokenState::Closed);
        let error = token.hmac(&key, b"a message").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TokenOut);
        bench.token.hmac(&key, b"a message").await.unwrap();
    }
}

fn order(id: &[u8], algorithm: Algorithm, purpose: Purpose) -> NewKey {
    NewKey {
        id: id.to_vec(),
        label: "for tests".to_owned(),
        algorithm,
        purpose,
    }
}

async fn public_half(token: &Token, key: &KeyRef) -> Option<PublicKey> {
    Some(token.read_public(key).await.unwrap())
}

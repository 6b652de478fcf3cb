//! Operations on working tokens of both kinds.

mod data;
mod envelopes;
mod keys;
mod other_programs;
mod signatures;

use crate::support::{SharedToken, generate_key};
use formats::algorithms::Algorithm;
use formats::algorithms::PublicParts;
use hsm::{Config, ErrorKind, KeyRef, NewKey, Purpose, Token, TokenState};

on_both_tokens! { a_token_closes_and_reopens }

/// Another handle on the same token continues to work.
async fn a_token_closes_and_reopens(shared: &SharedToken) {
    let key = generate_key(&shared.token, Algorithm::HmacSha256, Purpose::Sign).await.key;
    for _ in 0..3 {
        let token = Token::open(Config::new(vec![shared.config.clone()])).await.unwrap();
        let status = &token.status().tokens[0];
        assert_eq!((&status.state, status.hung), (&TokenState::Serving, 0));
        token.hmac(&key, b"a message").await.unwrap();
        token.close().await;
        assert_eq!(token.status().tokens[0].state, TokenState::Closed);
        let error = token.hmac(&key, b"a message").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TokenOut);
        shared.token.hmac(&key, b"a message").await.unwrap();
    }
}

fn request(id: &[u8], algorithm: Algorithm, purpose: Purpose) -> NewKey {
    NewKey { id: id.to_vec(), label: "for tests".to_owned(), algorithm, purpose }
}

async fn public_key(token: &Token, key: &KeyRef) -> Option<PublicParts> {
    Some(token.read_public(key).await.unwrap())
}

//! The verification of tokens of one issuer, for one use.

use std::sync::Arc;

use super::compact::{Header, Unverified};
use super::key_set::PublishedKey;
use super::published::PublishedKeys;
use super::refused::TokenRefused;
use super::rules::TokenRules;
use super::token::VerifiedToken;
use formats::clock::Timestamp;

/// An issuer with the rules for its tokens.
pub struct Issuer {
    rules: TokenRules,
    keys: PublishedKeys,
}

impl Issuer {
    /// An issuer with these rules and keys.
    pub fn new(rules: TokenRules, keys: PublishedKeys) -> Self {
        Self { rules, keys }
    }

    pub fn name(&self) -> &str {
        &self.rules.issuer
    }

    pub fn keys(&self) -> &PublishedKeys {
        &self.keys
    }

    /// Verifies a token. An unknown key makes the issuer's keys be fetched again.
    pub async fn verify(
        &self,
        token: Unverified<'_>,
        now: Timestamp,
    ) -> Result<VerifiedToken, TokenRefused> {
        if token.issuer() != self.rules.issuer {
            return Err(TokenRefused::Issuer);
        }
        if !self.rules.algorithms.contains(&token.header.algorithm) {
            return Err(TokenRefused::Algorithm);
        }
        let mut candidates = self.candidates(&token.header);
        if candidates.is_empty() {
            self.keys.refresh().await;
            candidates = self.candidates(&token.header);
        }
        if candidates.is_empty() {
            return Err(TokenRefused::Key);
        }
        let key = candidates
            .into_iter()
            .find(|key| key.verifies(token.header.algorithm, token.signed, &token.signature))
            .ok_or(TokenRefused::Signature)?;
        VerifiedToken::check(&self.rules, token.header, &token.claims, key, now)
    }

    /// Whether the issuer still publishes the key of a verified token.
    pub fn publishes(&self, key: &Arc<PublishedKey>) -> bool {
        self.keys.current().iter().any(|it| Arc::ptr_eq(it, key))
    }

    /// The keys that the header can mean. Several keys can have one `kid`.
    fn candidates(&self, header: &Header) -> Vec<Arc<PublishedKey>> {
        let keys = self.keys.current();
        let fitting = keys.iter().filter(|key| key.fits(header));
        fitting.cloned().collect()
    }
}

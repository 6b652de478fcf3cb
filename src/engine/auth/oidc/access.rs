//! Access tokens of people for the management API (RFC 9068).
//!
//! Their audience is that of the management API and of nothing else. So neither an ID token nor the token
//! of a workload works here, and an access token works nowhere else.

use std::sync::Arc;

use moka::future::Cache;
use serde_json::Value;

use crate::ids::PersonId;
use crate::jwt::{
    Issuer, PublishedKey, PublishedKeys, TokenPurpose, TokenRefused, TokenRules, Unverified,
    VerifiedToken,
};
use crate::settings::Oidc;
use formats::algorithms::JwsAlgorithm;
use formats::clock::Timestamp;

/// The maximum number of cached tokens.
const CAPACITY: u64 = 1_000;

/// The type of access tokens, without the prefix `application/`.
const ACCESS_TOKEN: &str = "at+jwt";

/// The verification of access tokens.
pub(super) struct AccessTokens {
    issuer: Issuer,
    /// Verified tokens by their digests.
    verified: Cache<[u8; 32], Arc<CachedToken>>,
}

/// A verified access token.
#[derive(Debug)]
struct CachedToken {
    person: PersonId,
    issued_at: Option<Timestamp>,
    refused_from: Timestamp,
    key: Arc<PublishedKey>,
}

impl AccessTokens {
    /// None without an audience.
    pub(super) fn new(settings: &Oidc, keys: PublishedKeys) -> Option<Self> {
        let (issuer, audience) = (settings.issuer.clone()?, settings.api_audience.clone()?);
        let rules = TokenRules {
            issuer,
            audiences: vec![audience],
            algorithms: JwsAlgorithm::ALL.to_vec(),
            accepts_type: |typ| typ.is_none_or(|typ| matches!(typ, "jwt" | ACCESS_TOKEN)),
            purpose: TokenPurpose::Identity,
        };
        Some(Self { issuer: Issuer::new(rules, keys), verified: Cache::new(CAPACITY) })
    }

    /// The person of a token that was verified before, while it is valid, and when it was issued.
    pub(super) async fn known(
        &self,
        digest: &[u8; 32],
        now: Timestamp,
    ) -> Option<(PersonId, Option<Timestamp>)> {
        let known = self.verified.get(digest).await?;
        let is_current = now < known.refused_from && self.issuer.publishes(&known.key);
        is_current.then_some((known.person, known.issued_at))
    }

    /// Whether the provider issued the token.
    pub(super) fn are_of(&self, token: &Unverified<'_>) -> bool {
        token.issuer() == self.issuer.name()
    }

    /// Verifies a token. None if it has another audience.
    pub(super) async fn verify(
        &self,
        settings: &Oidc,
        token: Unverified<'_>,
        now: Timestamp,
    ) -> Result<Option<VerifiedToken>, TokenRefused> {
        let token = match self.issuer.verify(token, now).await {
            Err(TokenRefused::Audience) => return Ok(None),
            verified => verified?,
        };
        check(settings, &token)?;
        Ok(Some(token))
    }

    /// Remembers the person of a verified token.
    pub(super) async fn remember(&self, digest: [u8; 32], token: VerifiedToken, person: PersonId) {
        let verified = CachedToken {
            person,
            issued_at: token.issued_at,
            refused_from: token.refused_from,
            key: token.key,
        };
        self.verified.insert(digest, Arc::new(verified)).await;
    }
}

/// Checks that a token is an access token of a person. Its type shows that, or else the scope of the settings,
/// which it must have in any case.
fn check(settings: &Oidc, token: &VerifiedToken) -> Result<(), TokenRefused> {
    let is_typed = token.typ.as_deref() == Some(ACCESS_TOKEN);
    // Every ID token has the client as an audience.
    let is_id_token = has(token, "aud", &settings.client_id);
    let is_for_api = match &settings.api_scope {
        Some(scope) => has_scope(token, scope) && (is_typed || !is_id_token),
        None => is_typed,
    };
    if !is_for_api {
        return Err(TokenRefused::Type);
    }
    // A client that authenticates with its own credentials is its subject (RFC 9068, section 5).
    let client = ["client_id", "azp"].map(|name| token.claims.get(name).and_then(Value::as_str));
    if client.contains(&Some(token.subject.as_str())) {
        return Err(TokenRefused::Claim);
    }
    Ok(())
}

/// Whether a token has this scope: in `scope`, or in `scp` as some providers name it.
fn has_scope(token: &VerifiedToken, scope: &str) -> bool {
    ["scope", "scp"].iter().any(|name| has(token, name, scope))
}

/// Whether a claim, an array or a text with spaces, contains this value.
fn has(token: &VerifiedToken, claim: &str, value: &str) -> bool {
    match token.claims.get(claim) {
        Some(Value::String(values)) => values.split(' ').any(|it| it == value),
        Some(Value::Array(values)) => values.iter().any(|it| it == value),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => false,
    }
}

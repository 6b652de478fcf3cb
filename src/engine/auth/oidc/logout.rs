//! Logout by the provider (OpenID Connect Back-Channel Logout 1.0).

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Provider;
use crate::jwt::{TokenRefused, Unverified, VerifiedToken};

/// The event that makes a token a logout token.
const LOGOUT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// A logout that the provider asks for.
#[derive(Debug)]
pub struct Logout {
    /// The issuer of the person.
    pub(in crate::auth) issuer: String,
    /// The digest of the identifier of the token, which counts once.
    pub(in crate::auth) token: [u8; 32],
    /// The subject of the person; none if only the session is named.
    pub subject: Option<String>,
    /// The session at the provider; none for all sessions of the person.
    pub(in crate::auth) session: Option<String>,
}

/// Why a logout token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogoutRefused {
    /// It is not a valid token of the provider.
    #[error(transparent)]
    Token(#[from] TokenRefused),
    /// A claim is missing or wrong.
    #[error("the claim {0} of the logout token is missing or wrong")]
    Claim(&'static str),
}

impl Provider {
    /// Verifies a logout token (section 2.6).
    pub async fn verify_logout(&self, token: &str) -> Result<Logout, LogoutRefused> {
        let now = self.0.clock.now();
        let verified = self.0.logout_tokens.verify(Unverified::parse(token)?, now);
        Logout::of(&verified.await?)
    }
}

impl Logout {
    fn of(token: &VerifiedToken) -> Result<Self, LogoutRefused> {
        let claims = &token.claims;
        let event = claims.get("events").and_then(|events| events.get(LOGOUT));
        if !event.is_some_and(Value::is_object) {
            return Err(LogoutRefused::Claim("events"));
        }
        // A token with a nonce is an ID token, not a logout token.
        if claims.contains_key("nonce") {
            return Err(LogoutRefused::Claim("nonce"));
        }
        let text = |name: &'static str| match claims.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if !text.is_empty() && !text.contains('\0') => {
                Ok(Some(text.clone()))
            }
            Some(_) => Err(LogoutRefused::Claim(name)),
        };
        let (subject, session) = (text("sub")?, text("sid")?);
        if subject.is_none() && session.is_none() {
            return Err(LogoutRefused::Claim("sub"));
        }
        let identifier = text("jti")?.ok_or(LogoutRefused::Claim("jti"))?;
        let (issuer, token) = (token.issuer.clone(), Sha256::digest(identifier).into());
        Ok(Self { issuer, token, subject, session })
    }
}

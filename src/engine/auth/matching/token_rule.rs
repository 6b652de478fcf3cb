//! The tokens that match an identity.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::claims::{Claims, Exact};
use crate::jwt::VerifiedToken;

/// The tokens that match an identity: all conditions hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRule {
    /// The claim `iss` of the token.
    pub(super) issuer: Exact,
    /// The claim `sub` of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subject: Option<Exact>,
    /// Other claims of the token by their names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) claims: Option<Claims>,
}

impl TokenRule {
    pub(in crate::auth) fn matches(&self, token: &VerifiedToken) -> bool {
        token.issuer == self.issuer.as_str()
            && self.subject().is_none_or(|it| it == token.subject)
            && (self.subject.is_some() || self.claims.is_some())
            && self.claims.iter().all(|claims| claims.hold_in(token))
    }

    /// Whether each token that matches also matches `other`.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let has = |(name, value): (&str, &Json)| self.claims().any(|it| it == (name, value));
        self.issuer == other.issuer
            && (other.subject.is_none() || self.subject == other.subject)
            && other.claims().all(has)
    }

    /// Whether one token can match both: a token has one subject, and a claim can be an array with the values
    /// of both.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let subjects = self.subject.as_ref().zip(other.subject.as_ref());
        self.issuer == other.issuer && subjects.is_none_or(|(own, other)| own == other)
    }

    pub fn issuer(&self) -> &str {
        self.issuer.as_str()
    }

    /// The subject, if any.
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_ref().map(Exact::as_str)
    }

    /// The claims with their expected values.
    pub fn claims(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.claims.iter().flat_map(Claims::iter)
    }
}

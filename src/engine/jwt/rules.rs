//! The rules for the tokens of an issuer.

use formats::algorithms::JwsAlgorithm;

/// The rules for the tokens of an issuer. Each use of tokens has its own.
#[derive(Clone, Debug)]
pub struct TokenRules {
    /// The issuer, exactly as tokens name it.
    pub issuer: String,
    /// The accepted audiences. A token needs at least one of them.
    pub audiences: Vec<String>,
    /// The algorithms that the issuer uses.
    pub algorithms: Vec<JwsAlgorithm>,
    /// Whether a token can have this type: lower case, without the prefix `application/`.
    pub accepts_type: fn(Option<&str>) -> bool,
    /// What the tokens are for.
    pub purpose: TokenPurpose,
}

/// What tokens are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenPurpose {
    /// A token shows who its subject is, until its expiry.
    Identity,
    /// A token ends sessions shortly after the time of its issue. It can lack a subject, and an expiry.
    Logout,
}

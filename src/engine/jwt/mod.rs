//! JSON Web Tokens (RFC 7519) of issuers that publish their keys as a JWK Set (RFC 7517).
//!
//! A token chooses nothing for itself. The settings name the issuer, the audience and the algorithms, and
//! the key is one that the issuer publishes. Members of the header that carry or locate a key are ignored;
//! a header with `crit` is refused. This module knows neither callers nor identities.

#![deny(clippy::wildcard_enum_match_arm)]

mod compact;
mod issuer;
mod key_set;
mod published;
mod refused;
mod rules;
mod token;

pub use self::compact::Unverified;
pub use self::issuer::Issuer;
pub use self::key_set::{NotAKeySet, PublishedKey};
pub use self::published::{CannotFetch, Location, PublishedKeys, keep_all};
pub use self::refused::TokenRefused;
pub use self::rules::{TokenPurpose, TokenRules};
pub use self::token::VerifiedToken;

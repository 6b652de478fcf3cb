//! Operations with keys in a token.

pub(crate) mod ecdh;
pub(crate) mod gcm;
pub(crate) mod oaep;
mod scheme;
pub(crate) mod sign;

pub use scheme::{GcmSealed, OaepHash, OaepWay, OaepWays, SignatureScheme};

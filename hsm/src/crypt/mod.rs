//! Operations with keys in a token, and the proofs that they work.

#![deny(clippy::wildcard_enum_match_arm)]

pub(crate) mod ecdh;
pub(crate) mod gcm;
pub(crate) mod kem;
pub(crate) mod oaep;
mod padding;
pub(crate) mod proof;
pub(crate) mod secret;
pub(crate) mod sign;

pub use gcm::GcmSealed;
pub use secret::SecretMethod;

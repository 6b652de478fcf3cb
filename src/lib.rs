//! Sealward, a cryptographic protection service in front of a PKCS#11 token.

pub mod command;
pub mod server;

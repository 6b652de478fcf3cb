//! Sealward, a cryptographic protection service in front of a PKCS#11 token.
//!
//! | layer | modules |
//! |------:|---------|
//! | 1 | `command` |
//! | 0 | `server` |

pub mod command;
pub mod server;

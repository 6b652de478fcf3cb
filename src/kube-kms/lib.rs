//! A plugin for the Kubernetes KMS API, version 2. The API server encrypts secrets with seeds that it makes
//! itself. The plugin encrypts and decrypts these seeds with a key of Sealward, and stores nothing.
//!
//! The plugin is a client of the runtime API. It knows no token, no database and no crate of the service except
//! the data formats.
//!
//! | layer | modules |
//! |------:|---------|
//! | 4 | `plugin` |
//! | 3 | `monitor`, `service` |
//! | 2 | `probe` |
//! | 1 | `client`, `refused` |
//! | 0 | `ciphertext`, `connections`, `meter`, `proto`, `socket` |
#![forbid(unsafe_code)]

mod ciphertext;
#[cfg(feature = "client")]
pub mod client;
mod connections;
mod meter;
mod monitor;
mod plugin;
mod probe;
pub mod proto;
mod refused;
mod service;
mod socket;
#[cfg(test)]
mod tests;

pub use self::plugin::{CannotServe, Plugin};
pub use self::socket::{CannotBind, Socket};

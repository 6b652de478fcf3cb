#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod admin;
mod base64_bytes;
#[cfg(feature = "blocking")]
pub mod blocking;
mod builder;
mod client;
mod column;
#[cfg(test)]
mod conformance;
mod credential;
mod data_keys;
mod envelope;
mod error;
mod file;
mod local;
mod open_set;
mod payload;
mod refusal;
mod runtime;
mod secret;
#[cfg(feature = "sqlx")]
mod sqlx_text;
mod transport;

pub use self::admin::{Management, Outcome, Stored};
pub use self::builder::Builder;
pub use self::client::Client;
pub use self::column::Column;
pub use self::credential::Credential;
pub use self::data_keys::{CacheCounters, CacheLimits, CachedKey};
pub use self::envelope::{Context, Envelope, Scope};
pub use self::error::{CredentialError, Error, ErrorKind, FileError, Invalid, LocalError};
pub use self::file::Progress;
pub use self::local::SealingKey;
pub use self::payload::Payload;
pub use self::refusal::{Code, Problem, Refusal};
pub use self::runtime::*;
pub use self::secret::Secret;

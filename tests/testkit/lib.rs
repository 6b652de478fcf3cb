//! What tests, benches and long checks share: a service in this process ([`World`]) or in processes
//! of its own ([`Site`], [`Process`]), clients, databases, tokens, providers and proxies.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::new_without_default,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what arranges a test may fail it, and only tests use this crate"
)]

mod answer;
mod authority;
pub mod chaos;
mod clients;
mod cluster;
pub mod conformance;
mod destination;
mod envelope_builder;
mod exposition;
mod issuer;
mod jobs;
mod oidc_provider;
pub mod openssl;
mod own_port;
mod postgres;
mod private_key;
mod process;
mod proxy;
mod records;
mod scratch;
mod secure_client;
mod serving;
mod statements;
mod token;
pub mod valkey;
mod waiting;
mod world;

use std::path::{Path, PathBuf};

pub use self::answer::Answer;
pub use self::authority::{Authority, IssuedCertificate};
pub use self::clients::Client;
pub use self::cluster::Cluster;
pub use self::destination::{
    DATA_KEYS, Destination, OPERATIONS, PROTECT, PROTECT_BATCH, REWRAP, REWRAP_BATCH, UNPROTECT,
    UNPROTECT_BATCH, header_of, jwe,
};
pub use self::envelope_builder::{EnvelopeBuilder, epk};
pub use self::exposition::Exposition;
pub use self::issuer::{Behavior, SigningKey, TokenIssuer, encode, unsigned};
pub use self::jobs::{pulse, write};
pub use self::oidc_provider::{Cookies, OidcProvider};
pub use self::own_port::OwnPort;
pub use self::postgres::{
    Database, NEXT, begin_to_rewrite, pool, rewrite, seal_rows, superuser, with_migration,
};
pub use self::private_key::PrivateKey;
pub use self::process::{Exit, LABEL, Process, Site, program, sealward};
pub use self::proxy::Proxy;
pub use self::records::{RECORD_ID, insert_records, protect_record};
pub use self::scratch::Scratch;
pub use self::secure_client::{HOST, SecureClient, certificate};
pub use self::token::{
    EXTRACTABLE, NOT_SENSITIVE, SOUND, kryoptic, kryoptic_module, module as softhsm_module, token,
};
pub use self::valkey::Valkey;
pub use self::waiting::{PATIENCE, within};
pub use self::world::World;

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

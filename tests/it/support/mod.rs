//! Shared fixtures and clients of the integration tests.

mod answer;
mod authority;
mod clients;
mod cluster;
pub(crate) mod conformance;
mod destination;
mod envelope_builder;
mod exposition;
mod issuer;
mod oidc_provider;
pub(crate) mod openssl;
mod postgres;
mod proxy;
mod records;
mod scratch;
mod secure_client;
mod serving;
mod statements;
mod token;
pub(crate) mod valkey;
mod waiting;
mod world;

pub(crate) use self::answer::Answer;
pub(crate) use self::authority::{Authority, IssuedCertificate};
pub(crate) use self::clients::Client;
pub(crate) use self::cluster::Cluster;
pub(crate) use self::destination::{
    DATA_KEYS, Destination, OPERATIONS, PROTECT, PROTECT_BATCH, REWRAP, REWRAP_BATCH, UNPROTECT,
    UNPROTECT_BATCH, header_of, jwe,
};
pub(crate) use self::envelope_builder::{EnvelopeBuilder, epk};
pub(crate) use self::exposition::Exposition;
pub(crate) use self::issuer::{Behavior, SigningKey, TokenIssuer, encode, unsigned};
pub(crate) use self::oidc_provider::OidcProvider;
pub(crate) use self::postgres::{Database, NEXT, pool, superuser, with_migration};
pub(crate) use self::proxy::Proxy;
pub(crate) use self::records::{RECORD_ID, insert_records};
pub(crate) use self::scratch::Scratch;
pub(crate) use self::secure_client::{HOST, SecureClient, certificate};
pub(crate) use self::token::{
    EXTRACTABLE, NOT_SENSITIVE, SOUND, kryoptic, kryoptic_module, module as softhsm_module, token,
};
pub(crate) use self::valkey::Valkey;
pub(crate) use self::waiting::{PATIENCE, within};
pub(crate) use self::world::World;

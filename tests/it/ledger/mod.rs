//! The tamper-evident logs of the audit records.

mod anchor;
mod cosigning;
mod ecdsa_key;
mod failover;
mod fixture;
mod forward;
mod killed;
mod publishing;
mod retention;
mod rolled_back;
mod sealing;
mod segments;
mod serving;
mod verifying;
mod witness_server;
mod witnessing;

pub(crate) use self::fixture::{Kept, covered, hash, initialize, key, sealed_world};
pub(crate) use self::forward::HttpsCollector;
pub(crate) use self::witness_server::WitnessServer;

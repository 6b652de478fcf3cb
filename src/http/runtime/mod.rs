//! The runtime API: one file per endpoint, with shared receiving and responding.

pub(super) mod batch;
pub(super) mod caller;
pub(super) mod data_keys;
pub(super) mod health;
pub(super) mod operations;
pub(super) mod policy;
pub(super) mod protect;
mod receive;
mod respond;
pub(super) mod rewrap;
pub(super) mod unprotect;

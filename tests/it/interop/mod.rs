//! Interoperability with other JOSE libraries, for every algorithm.
//!
//! `./dev test` installs the libraries with `tests/outside/interop/setup` and sets the variable.

mod audit_log;
mod client;
mod envelopes;
mod hpke;
mod keys;
mod ml_dsa;
mod nimbus;
mod partners;
mod peer;
mod reports;
mod signatures;

pub(crate) use self::peer::{Peer, home};

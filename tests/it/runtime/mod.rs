//! The runtime API, as applications use it.

mod algorithms;
mod bad_input;
mod deputy;
mod fidelity;
mod health;
mod limits;
mod operations;
mod permissions;
mod protect;
mod signatures;
mod trail;
mod unavailable;
mod uniform;
mod unprotect;
mod worn_keys;

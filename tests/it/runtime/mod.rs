//! The runtime API, as applications use it.

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

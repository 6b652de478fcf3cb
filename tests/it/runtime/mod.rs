//! The runtime API, as applications use it.

mod algorithms;
mod audit;
mod bad_envelopes;
mod bad_input;
mod bad_members;
mod batch;
mod binding;
mod context;
mod data_keys;
mod encodings;
mod expiry;
mod fidelity;
mod health;
mod isolation;
mod large_bodies;
mod limits;
mod lookups;
mod operations;
mod permissions;
mod protect;
mod rewrap;
mod signatures;
mod unavailable;
mod uniform;
mod unprotect;
mod worn_keys;

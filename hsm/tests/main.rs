//! Tests of the public interface with two real tokens.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the setup of a test may panic"
)]

#[macro_use]
mod support;

mod calls;
mod habits;
mod import;
mod operations;
mod probe;
mod recovery;
mod secrets;
mod wycheproof;

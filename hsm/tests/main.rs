//! The crate as others use it, on real tokens of two kinds.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what arranges a test may fail it"
)]

#[macro_use]
mod support;

mod calls;
mod import;
mod operations;
mod probe;
mod recovery;
mod wycheproof;

//! The integration tests: one binary, folders as in src/.
#![recursion_limit = "256"]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what arranges a test may fail it"
)]

mod admin;
mod age_plugin;
mod audit;
mod canonical;
mod catalog;
mod chaos;
mod client;
mod command;
mod credentials;
mod dashboard;
mod db;
mod documents;
mod envelope;
mod faults;
mod interop;
mod kube_kms;
mod layers;
mod ledger;
mod openapi;
mod packaging;
mod ratelimit;
mod rows;
mod runtime;
mod server;
mod transit;

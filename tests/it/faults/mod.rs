//! Failures of dependencies and malicious clients.
//!
//! In all tests: each response arrives within the time limit of a request and is either correct or 503
//! with `Retry-After`. Each success is recorded once. The service recovers automatically when the fault
//! ends.

mod clock;
mod damaged;
mod database;
mod fairness;
mod fixture;
mod idempotency;
mod jobs;
mod killed;
mod late_items;
mod load;
mod network;
mod revoked;
mod sigterm;
mod tokens;
mod two_tokens;
mod waiting;

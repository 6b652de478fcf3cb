//! The management API.

mod api_keys;
mod changes;
mod concurrency;
mod events;
mod idempotency;
mod identities;
mod instances;
mod keys;
mod patch;
mod policies;
mod roles;
mod security_events;
mod services;

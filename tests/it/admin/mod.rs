//! The management API.

mod api_keys;
mod concurrency;
mod events;
mod instances;
mod keys;
mod policies;
mod services;

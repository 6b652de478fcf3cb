//! The JSON API. [`router`] is its table of contents.

#![deny(clippy::wildcard_enum_match_arm)]

mod admin;
mod api;
mod app;
mod body;
mod caller;
mod database_monitor;
mod discovery;
mod error;
mod error_code;
mod frame;
mod idempotency;
mod openapi;
mod probes;
mod published_log;
pub mod router;
mod routes;
mod runtime;

pub use self::api::Api;
pub use self::app::AppState;
pub use self::database_monitor::{DatabaseMonitor, DatabaseState};
pub use self::error::{refusal_json, status_of};
pub use self::probes::router as probe_router;
pub use self::router::document;

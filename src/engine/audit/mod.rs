//! The audit log of the runtime API: caller, operation, policy and outcome of each request.
//!
//! [`Recorder::submit`] accepts a [`Record`]; the writer commits it in a batch and returns a
//! [`Receipt`]. Only the writer makes receipts, and answers need one, so an unrecorded operation has
//! no answer. This module knows neither HTTP, nor policies, nor keys.

#![deny(clippy::wildcard_enum_match_arm)]

mod anonymous;
mod days;
mod entry;
mod export;
mod link;
mod login;
mod outcome;
mod per_second;
mod query;
mod queue;
mod record;
mod record_leaf;
mod recorder;
mod retention;
mod store;
pub mod traffic;
mod writer;

pub(crate) use self::anonymous::AnonymousLimit;
pub use self::days::{keep_days, maintain_days};
pub use self::entry::{Entry, EntryFilter};
pub(crate) use self::export::Column;
pub use self::export::{Export, Exported, Format, Operations, RecordSource};
pub(crate) use self::export::{cell, csv};
pub use self::login::{Login, login};
pub use self::outcome::Outcome;
pub(crate) use self::query::entries_named;
pub use self::query::{entries, entry, plan};
pub use self::queue::{Receipt, Unrecorded};
pub use self::record::{
    CLIENT_CLOSED_REQUEST, Endpoint, OperationType, Record, RewrapTarget, clean,
};
pub use self::recorder::{Pending, Recorder};
pub use self::retention::{Retention, RetentionError, Retired, retire_days};
pub use self::store::MaintenanceError;
pub use self::writer::Writer;

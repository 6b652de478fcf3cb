//! The trail of what was asked of the runtime API: who, what, under which policy, with what outcome.
//!
//! A [`Record`] is handed to the [`Recorder`], which commits it together with those that arrived
//! meanwhile and gives a [`Receipt`]. Nothing else makes receipts, and answers are made of them:
//! what was not recorded does not leave. The room knows no HTTP, no policy and no key.

mod days;
mod entry;
mod export;
mod query;
mod record;
mod recorder;
mod scribe;
mod store;
mod strangers;
pub mod traffic;

pub use self::days::{Retention, keep_days, look_after};
pub use self::entry::Entry;
pub use self::export::{Export, Format};
pub use self::query::{Filter, entries, entry, plan};
pub use self::record::{Endpoint, OperationType, Record};
pub use self::recorder::{Commits, Pending, Receipt, Recorder, Unrecorded};
pub use self::scribe::Scribe;
pub use self::store::Neglect;

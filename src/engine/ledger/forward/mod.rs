//! Forwarding of sealed records to a collector, in the order of their index.
//!
//! One instance at a time sends. The database keeps how far the collector of a log is. An entry counts
//! as confirmed when an HTTPS collector has accepted its batch; syslog has no acknowledgement, so there
//! it counts after a minute on a connection that still works. A new connection starts after the
//! confirmed entries. So each entry arrives at least once.

mod backoff;
mod collector;
mod connection;
mod cursor;
mod entry;
mod forwarder;
mod https;
mod status;
mod store;
mod syslog;

pub use self::collector::Collector;
pub use self::connection::CollectorError;
pub use self::forwarder::Forwarder;
pub use self::status::{ForwardState, ForwardStatus, Lag};
pub use self::store::remove_target;

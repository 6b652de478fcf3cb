//! The tamper-evident logs of the audit records.

mod anchor;
mod fixture;
mod forward;
mod killed;
mod publishing;
mod retention;
mod sealing;
mod serving;
mod verifying;

pub(crate) use self::fixture::{covered, hash, key, sealed_world};
pub(crate) use self::forward::HttpsCollector;

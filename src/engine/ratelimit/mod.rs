//! Rate limits: a token bucket for each calling service, each admin key, and the failed
//! authentications of each client address.
//!
//! A bucket is the time at which it is full, and the time at which the debt of a batch is repaid. A
//! full bucket needs no state, and any store of numbers can share it between instances. The caller
//! passes the limit.

#![deny(clippy::wildcard_enum_match_arm)]

mod bucket;
mod buckets;
mod census;
mod limiter;
mod look_up;
mod scope;
mod shared;
mod store;
mod tally;

pub use self::bucket::{MOST_TOKENS, Rule};
pub use self::limiter::{BucketState, Counting, Exceeded, Limiter};
pub use self::look_up::{Crowded, LookUp};
pub use self::scope::{Scope, network_of};
pub use self::shared::{BadAddress, SharedBuckets};
pub use self::tally::Counts;

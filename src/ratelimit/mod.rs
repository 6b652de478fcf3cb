//! How much may be asked: a token bucket for each calling service, for each administrator's key, and
//! for the failed authentications of each client address.
//!
//! A bucket is one number, the moment at which it will be full again, so a full bucket is no state
//! at all and any store that keeps a number can share it between instances. Who has which limit is
//! told by the caller of this room.

mod bucket;
mod buckets;
mod census;
mod limiter;
mod scope;
mod shared;
mod store;
mod tally;

pub use self::bucket::Rule;
pub use self::limiter::{Counting, Exceeded, Limiter, Standing};
pub use self::scope::Scope;
pub use self::shared::{BadAddress, Shared};
pub use self::tally::Counts;

//! Active keys that expire soon, or have expired.

use std::collections::HashMap;
use std::time::Duration;

use crate::ids::KeyId;
use formats::clock::Timestamp;
use formats::closed_set;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

closed_set! {
    /// How near the expiry of a key is.
    pub enum Expiry: "KeyExpiry" {
        /// At most 30 days.
        Month = "30d",
        /// At most 7 days.
        Week = "7d",
        /// At most a day.
        Day = "1d",
        /// It is past: the key makes nothing new.
        Past = "expired",
    }
}

/// Active keys whose expiry is near or past.
pub type Expiring = HashMap<KeyId, Expiry>;

impl Expiry {
    /// The time before an expiry in which it counts as near.
    pub const NEAR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

    pub(super) fn at(now: Timestamp, end: Timestamp) -> Self {
        if end <= now {
            Self::Past
        } else if end <= now.plus(DAY) {
            Self::Day
        } else if end <= now.plus(7 * DAY) {
            Self::Week
        } else {
            Self::Month
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_is_announced_30_7_and_1_days_before() {
        let now = Timestamp::from_millis(1_900_000_000_000);
        for (ahead, expiry) in [
            (30 * DAY, Expiry::Month),
            (8 * DAY, Expiry::Month),
            (7 * DAY, Expiry::Week),
            (2 * DAY, Expiry::Week),
            (DAY, Expiry::Day),
            (Duration::from_millis(1), Expiry::Day),
            (Duration::ZERO, Expiry::Past),
        ] {
            assert_eq!(Expiry::at(now, now.plus(ahead)), expiry, "{ahead:?}");
        }
    }
}

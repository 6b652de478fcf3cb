//! Days in UTC.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use formats::clock::Timestamp;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The number of days whose uses are counted together.
const RECENT: u32 = 30;

/// A day in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ToSchema)]
#[schema(value_type = String, description = "A day in UTC.", format = Date, examples("2026-11-26"))]
pub struct Day(Timestamp);

/// The text is not a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a day such as 2026-11-26")]
pub struct NotADay;

impl Day {
    /// The day of this time.
    pub(super) fn of(time: Timestamp) -> Self {
        Self(time.start_of_day())
    }

    /// The day before.
    pub(super) fn before(self) -> Self {
        Self(self.0.minus(DAY))
    }

    /// The start of the next day.
    pub(super) fn end(self) -> Timestamp {
        self.0.plus(DAY)
    }

    /// The start of the first of the 30 days that end with this one.
    pub(super) fn recent_from(self) -> Timestamp {
        self.end().minus(DAY * RECENT)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.0.to_string();
        f.write_str(time.split('T').next().unwrap_or_default())
    }
}

impl FromStr for Day {
    type Err = NotADay;

    fn from_str(text: &str) -> Result<Self, NotADay> {
        let midnight = format!("{text}T00:00:00.000Z").parse().map_err(|_| NotADay)?;
        let day = Self(midnight);
        if day.to_string() == text { Ok(day) } else { Err(NotADay) }
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_written_as_it_is_read() {
        let day: Day = "2026-11-26".parse().unwrap();
        assert_eq!(day.to_string(), "2026-11-26");
        assert_eq!(day.before().to_string(), "2026-11-25");
        assert_eq!(day.end().to_string(), "2026-11-27T00:00:00.000Z");
        assert_eq!(day.recent_from().to_string(), "2026-10-28T00:00:00.000Z");
        for text in
            ["", "2026-11-31", "2026-1-1", "20261126", "2026-11-26T00:00:00Z", "+2026-11-26"]
        {
            assert_eq!(text.parse::<Day>(), Err(NotADay), "{text}");
        }
    }
}

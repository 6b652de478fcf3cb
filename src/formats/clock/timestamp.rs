//! A time as the API and the database write it.

use std::fmt;
use std::time::Duration;

use jiff::SignedDuration;
use jiff::fmt::temporal::Pieces;
use serde::{Deserialize, Serialize};

/// A time in UTC with milliseconds, written as RFC 3339 with `Z`.
///
/// The API shows milliseconds. Truncation at creation keeps a time equal to itself after it has passed
/// through the database and the API.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "service", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "service", schema(
    value_type = String,
    format = DateTime,
    description = "A time in UTC with milliseconds.",
    examples("2030-01-31T12:00:00.000Z"),
))]
pub struct Timestamp(pub(super) jiff::Timestamp);

/// The text is not a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 time")]
pub struct NotATime;

impl Timestamp {
    /// The time this many milliseconds after the Unix epoch, limited to the calendar.
    pub fn from_millis(millis: i64) -> Self {
        let edge = if millis < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
        // The last moment has nanoseconds, and its whole second is what can be written and read back.
        let nearest = jiff::Timestamp::from_millisecond(millis)
            .or_else(|_| jiff::Timestamp::from_second(edge.as_second()));
        Self(nearest.unwrap_or(edge))
    }

    /// Milliseconds since the Unix epoch.
    pub fn as_millis(self) -> i64 {
        self.0.as_millisecond()
    }

    /// This time plus `span`.
    pub fn plus(self, span: Duration) -> Self {
        let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        Self::from_millis(self.as_millis().saturating_add(span))
    }

    /// This time minus `span`.
    pub fn minus(self, span: Duration) -> Self {
        let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        Self::from_millis(self.as_millis().saturating_sub(span))
    }

    /// The midnight (UTC) at or before this time.
    pub fn start_of_day(self) -> Self {
        let millis = self.as_millis();
        Self::from_millis(millis - millis.rem_euclid(24 * 60 * 60 * 1_000))
    }

    /// The time since `earlier`; zero if it is later than this time.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.duration_since(earlier.0).max(SignedDuration::ZERO).unsigned_abs()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for Timestamp {
    type Err = NotATime;

    /// Times after the last supported time are read as that time, because people write
    /// `9999-12-31T23:59:59Z` for never.
    fn from_str(text: &str) -> Result<Self, NotATime> {
        // A year with a sign has six digits, which is ISO 8601 and not RFC 3339.
        if text.starts_with(['+', '-']) {
            return Err(NotATime);
        }
        let exact: Result<jiff::Timestamp, _> = text.parse();
        match exact {
            Ok(exact) => Ok(Self::from_millis(exact.as_millisecond())),
            Err(_) if is_beyond_the_last(text) => Ok(Self::from_millis(i64::MAX)),
            Err(_) => Err(NotATime),
        }
    }
}

/// Whether this is a time after the last supported one. That one has a valid date in every offset.
fn is_beyond_the_last(text: &str) -> bool {
    let Ok(pieces) = Pieces::parse(text) else {
        return false;
    };
    let (Some(time), Some(offset)) = (pieces.time(), pieces.to_numeric_offset()) else {
        return false;
    };
    let local = pieces.date().to_datetime(time);
    local > offset.to_datetime(jiff::Timestamp::MAX)
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_with_milliseconds_and_z() {
        assert_eq!(Timestamp::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
        let read: Timestamp = "2026-03-04T05:06:07.891234Z".parse().unwrap();
        assert_eq!(read.to_string(), "2026-03-04T05:06:07.891Z");
    }

    #[test]
    fn a_time_after_the_maximum_is_read_as_the_maximum() {
        let last = "9999-12-30T22:00:00.000Z";
        for text in [
            last,
            "9999-12-30T22:00:00.001Z",
            "9999-12-30T22:00:00.999999999Z",
            "9999-12-30T22:00:01Z",
            "9999-12-31T00:00:00.000Z",
            "9999-12-31T23:59:59Z",
            "9999-12-31T23:59:59.999Z",
            "9999-12-31T23:59:59+14:00",
            "9999-12-31T23:59:59-12:00",
        ] {
            let read: Timestamp = text.parse().unwrap();
            assert_eq!(read, Timestamp::from_millis(i64::MAX), "{text}");
            assert_eq!(read.to_string(), last, "{text}");
            assert_eq!(Timestamp::from_millis(read.as_millis()), read, "{text}");
        }
        let before: Timestamp = "9999-12-30T23:00:00+01:30".parse().unwrap();
        assert_eq!(before.to_string(), "9999-12-30T21:30:00.000Z");
    }

    #[test]
    fn an_invalid_time_is_refused() {
        for text in [
            "",
            "never",
            "9999-12-31",
            "9999-12-31T23:59:59",
            "9999-12-32T00:00:00Z",
            "10000-01-01T00:00:00Z",
            "+010000-01-01T00:00:00Z",
            "+002030-01-31T12:00:00Z",
            "-000001-01-31T12:00:00Z",
        ] {
            assert_eq!(text.parse::<Timestamp>(), Err(NotATime), "{text}");
        }
    }
}

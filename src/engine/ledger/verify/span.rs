//! Which missing records of a log can be retired.

use std::time::Duration;

use crate::ledger::Log;
use formats::clock::Timestamp;

/// How late a record is sealed at most.
const LATE: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// The times of the existing records so far.
#[derive(Debug, Default)]
pub(super) struct Span {
    oldest: Option<Timestamp>,
    newest: Option<Timestamp>,
    has_first: bool,
}

impl Span {
    /// Adds an existing record.
    pub(super) fn add(&mut self, index: u64, ts: Timestamp) {
        self.oldest = Some(self.oldest.map_or(ts, |oldest| oldest.min(ts)));
        self.newest = Some(self.newest.map_or(ts, |newest| newest.max(ts)));
        self.has_first |= index == 0;
    }

    /// Whether the next record of a log can be retired. The oldest days are retired first, and nearly in
    /// the order of the log: a record can be sealed late. Management events are never retired.
    pub(super) fn allows_retired(&self, log: Log) -> bool {
        let times = self.oldest.zip(self.newest);
        log == Log::Operations && times.is_none_or(|(old, new)| new.since(old) <= LATE)
    }

    /// The same for a record with this time, which nothing proves. Much older records are retired only if
    /// the first record of the log is.
    pub(super) fn allows_retired_of(&self, log: Log, ts: Timestamp) -> bool {
        let follows = self.newest.is_none_or(|new| new.since(ts) <= LATE);
        self.allows_retired(log) && (follows || !self.has_first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: i64) -> Timestamp {
        Timestamp::from_millis(number * 86_400_000)
    }

    fn span(records: &[(u64, i64)]) -> Span {
        let mut span = Span::default();
        for (index, number) in records {
            span.add(*index, day(*number));
        }
        span
    }

    #[test]
    fn the_oldest_records_are_retired_first() {
        let log = Log::Operations;
        assert!(span(&[]).allows_retired_of(log, day(1)));
        // Sealed late.
        assert!(span(&[(0, 3)]).allows_retired_of(log, day(1)));
        assert!(span(&[(4, 3), (5, 5)]).allows_retired(log));
        assert!(!span(&[(4, 3), (5, 6)]).allows_retired(log));
        assert!(!span(&[]).allows_retired(Log::Management));
    }

    #[test]
    fn a_log_with_its_first_record_has_no_much_older_one() {
        assert!(!span(&[(0, 9)]).allows_retired_of(Log::Operations, day(1)));
        // After an interruption of sealing, older records follow newer ones.
        assert!(span(&[(4, 9)]).allows_retired_of(Log::Operations, day(1)));
    }
}

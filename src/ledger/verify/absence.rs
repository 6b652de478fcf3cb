//! Which missing records of a database can be retired.

use super::checker::{INTERRUPTION, LATE};
use crate::clock::Timestamp;

/// The missing records so far. Nothing proves their times, so the records around them must agree: the oldest
/// days are retired first, and a log has nearly the order of time.
#[derive(Debug, Default)]
pub(super) struct Absence {
    /// The latest time of the existing records.
    newest: Option<Timestamp>,
    /// A missing record that is much older than an existing one before it.
    doubtful: Option<u64>,
}

impl Absence {
    /// Notes a missing record.
    pub(super) fn note_missing(&mut self, index: u64, ts: Timestamp) {
        if self.newest.is_some_and(|newest| newest.since(ts) > LATE) {
            self.doubtful.get_or_insert(index);
        }
    }

    /// Notes an existing record. Returns a missing one before it that cannot be retired: after an interruption
    /// of sealing, older records follow newer ones, and existing records show it.
    pub(super) fn note_existing(&mut self, ts: Timestamp) -> Option<u64> {
        let is_older = self
            .newest
            .is_some_and(|newest| newest.since(ts) > INTERRUPTION);
        let doubtful = self.doubtful.take().filter(|_| !is_older);
        self.newest = self.newest.max(Some(ts));
        doubtful
    }

    /// A missing record at the end of the log that cannot be retired.
    pub(super) const fn at_end(self) -> Option<u64> {
        self.doubtful
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    /// The first record that cannot be retired. Records exist or not, and have a day.
    fn found(records: &[(bool, i64)]) -> Option<u64> {
        let mut absence = Absence::default();
        for (index, (exists, day)) in (0..).zip(records) {
            let ts = Timestamp::from_millis(day * DAY);
            if !exists {
                absence.note_missing(index, ts);
            } else if let Some(doubtful) = absence.note_existing(ts) {
                return Some(doubtful);
            }
        }
        absence.at_end()
    }

    #[test]
    fn the_oldest_days_are_retired_first() {
        assert_eq!(found(&[(false, 1), (false, 2), (true, 3), (true, 4)]), None);
        // Sealed late.
        assert_eq!(found(&[(false, 1), (true, 3), (false, 2), (true, 4)]), None);
        assert_eq!(found(&[(true, 9), (false, 1), (true, 9)]), Some(1));
        assert_eq!(found(&[(true, 9), (false, 1), (false, 1)]), Some(1));
    }

    #[test]
    fn older_records_can_follow_an_interruption_of_sealing() {
        assert_eq!(
            found(&[(true, 9), (false, 1), (false, 2), (true, 3), (true, 10)]),
            None
        );
        assert_eq!(
            found(&[
                (true, 9),
                (false, 1),
                (true, 3),
                (true, 10),
                (false, 1),
                (true, 10)
            ]),
            Some(4)
        );
    }
}

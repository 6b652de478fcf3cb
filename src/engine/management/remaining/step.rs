//! The next step to end the use of a key.

use std::time::Duration;

use crate::keys::KeyStatus;
use formats::clock::Timestamp;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The next step to end the use of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NextStep {
    /// Something new is made with the key: give its callers another one.
    Replace,
    /// It opened something today or yesterday: replace the stored data that needs it.
    Rewrap,
    /// It opened something in the last 30 days, or yesterday is not counted: wait for callers that come less often.
    Wait,
    /// It opened nothing in the last 30 days: delete it.
    Delete,
    /// It is deleted.
    #[default]
    Nothing,
}

impl NextStep {
    /// The step for a key in this state, which policies or callers name for something new if `is_named`. `last` is the
    /// last day on which it opened something. While the requests of yesterday are not counted, no key is deleted.
    pub(super) fn of(
        (status, is_named): (KeyStatus, bool),
        last: Option<Timestamp>,
        counted_until: Option<Timestamp>,
        today: Timestamp,
    ) -> Self {
        let yesterday = today.minus(DAY);
        match status {
            KeyStatus::PendingDestruction | KeyStatus::Destroyed => Self::Nothing,
            KeyStatus::Active if is_named => Self::Replace,
            KeyStatus::Active | KeyStatus::Retired | KeyStatus::Disabled => match last {
                Some(last) if last >= yesterday => Self::Rewrap,
                Some(_) => Self::Wait,
                None if counted_until.is_some_and(|until| until < yesterday) => Self::Wait,
                None => Self::Delete,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_replaced_rewrapped_watched_and_deleted() {
        let today: Timestamp = "2026-05-12T00:00:00Z".parse().unwrap();
        let days_ago = |days: u32| Some(today.minus(DAY * days));
        for (state, last, counted_until, expected) in [
            ((KeyStatus::Active, true), None, days_ago(0), NextStep::Replace),
            ((KeyStatus::Active, true), days_ago(0), days_ago(0), NextStep::Replace),
            ((KeyStatus::Active, false), days_ago(0), days_ago(0), NextStep::Rewrap),
            ((KeyStatus::Retired, true), days_ago(1), days_ago(0), NextStep::Rewrap),
            ((KeyStatus::Retired, false), days_ago(2), days_ago(0), NextStep::Wait),
            ((KeyStatus::Disabled, false), days_ago(2), days_ago(0), NextStep::Wait),
            ((KeyStatus::Active, false), None, days_ago(0), NextStep::Delete),
            ((KeyStatus::Retired, false), None, days_ago(1), NextStep::Delete),
            ((KeyStatus::Retired, false), None, None, NextStep::Delete),
            ((KeyStatus::Retired, false), None, days_ago(2), NextStep::Wait),
            ((KeyStatus::PendingDestruction, true), days_ago(0), days_ago(0), NextStep::Nothing),
            ((KeyStatus::Destroyed, false), None, days_ago(0), NextStep::Nothing),
        ] {
            let found = NextStep::of(state, last, counted_until, today);
            assert_eq!(found, expected, "{state:?} {last:?} {counted_until:?}");
        }
    }
}

//! What was opened with keys: how often, when last, by whom and under which policies.

use std::collections::{BTreeMap, HashMap};

use crate::ids::{KeyId, ServiceId};
use formats::clock::Timestamp;

/// What was opened with some keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Openings {
    /// On each day with openings, by its start.
    pub days: BTreeMap<Timestamp, OpeningCount>,
    /// With each key.
    pub keys: HashMap<KeyId, OpeningCount>,
    /// By each calling service.
    pub callers: HashMap<ServiceId, OpeningCount>,
    /// Under each policy, by its number at the time.
    pub policies: BTreeMap<String, OpeningCount>,
}

/// A number of requests that opened, decrypted or verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpeningCount {
    /// The requests that returned what they opened.
    pub opened: i64,
    /// The requests that made a new envelope or ciphertext of it.
    pub rewrapped: i64,
    /// The start of the last day with a request that returned what it opened.
    pub last: Option<Timestamp>,
}

/// The sum of one day, key, caller or policy.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct OpeningSum {
    day: Option<Timestamp>,
    key: Option<KeyId>,
    caller: Option<ServiceId>,
    policy: Option<String>,
    openings: i64,
    rewraps: i64,
    last: Option<Timestamp>,
}

impl OpeningCount {
    /// The sum of both.
    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            opened: self.opened + other.opened,
            rewrapped: self.rewrapped + other.rewrapped,
            last: self.last.max(other.last),
        }
    }
}

impl Openings {
    pub(super) fn of(sums: Vec<OpeningSum>) -> Self {
        let mut openings = Self::default();
        for OpeningSum { day, key, caller, policy, openings: all, rewraps, last } in sums {
            let opened = OpeningCount { opened: all - rewraps, rewrapped: rewraps, last };
            if let Some(day) = day {
                openings.days.insert(day, opened);
            } else if let Some(key) = key {
                openings.keys.insert(key, opened);
            } else if let Some(caller) = caller {
                openings.callers.insert(caller, opened);
            } else if let Some(policy) = policy.filter(|number| !number.is_empty()) {
                openings.policies.insert(policy, opened);
            }
        }
        openings
    }
}

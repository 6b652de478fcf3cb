//! Buckets in this process.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::bucket::{Empty, Fill, Level, Rule};
use super::scope::Scope;

/// The state of each bucket, in nanoseconds of a monotonic clock. A missing bucket is full.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
}

/// Several locks reduce contention.
const SHARDS: usize = 16;

#[derive(Debug, Default)]
struct Shard {
    buckets: HashMap<Scope, Bucket>,
    /// The number of buckets at which full ones are removed.
    sweep_at: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    fill: Fill,
    /// Whether only this process knows of taken tokens.
    is_ahead: bool,
}

/// The missing time that only this process knows, and the part of it that is the debt of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ahead {
    pub(super) lacking: u64,
    pub(super) debt: u64,
}

/// The minimum number of buckets to sweep.
const FEW: usize = 256;

impl Buckets {
    /// Takes `tokens`.
    pub(super) fn take(
        &self,
        scope: Scope,
        rule: Rule,
        now: u64,
        tokens: NonZeroU32,
    ) -> Result<Level, Empty> {
        let mut shard = self.shard(scope);
        let before = shard.bucket(scope).fill;
        let (fill, level) = rule.take(before, now, tokens)?;
        let is_ahead = true;
        shard.buckets.insert(scope, Bucket { fill, is_ahead });
        shard.sweep(now);
        Ok(level)
    }

    /// Gives a token back.
    pub(super) fn give_back(&self, scope: Scope, rule: Rule, now: u64) {
        let mut shard = self.shard(scope);
        if let Some(bucket) = shard.buckets.get_mut(&scope) {
            let full_at = bucket.fill.full_at.saturating_sub(rule.interval());
            bucket.fill.full_at = full_at.max(now);
        }
    }

    /// The state of a bucket.
    pub(super) fn look(&self, scope: Scope, rule: Rule, now: u64) -> Level {
        rule.level(self.shard(scope).bucket(scope).fill, now)
    }

    /// The missing time that only this process knows.
    pub(super) fn ahead(&self, scope: Scope, now: u64) -> Ahead {
        let Bucket { fill, is_ahead } = self.shard(scope).bucket(scope);
        if !is_ahead {
            return Ahead::default();
        }
        Ahead {
            lacking: fill.full_at.saturating_sub(now),
            debt: fill.repaid_at.saturating_sub(now),
        }
    }

    /// Keeps the state of a shared bucket for an outage of the shared storage. Responses to concurrent
    /// requests come in any order, so the state with the fewest tokens counts.
    pub(super) fn learn(&self, scope: Scope, rule: Rule, lacking: u64, now: u64) {
        let mut shard = self.shard(scope);
        let before = shard.bucket(scope);
        let known = if before.is_ahead { Fill::default() } else { before.fill };
        let fill = Fill {
            full_at: now.saturating_add(lacking).max(known.full_at),
            repaid_at: now.saturating_add(rule.debt(lacking)).max(known.repaid_at),
        };
        let is_ahead = false;
        let learnt = Bucket { fill, is_ahead };
        shard.buckets.insert(scope, learnt);
        shard.sweep(now);
    }

    fn shard(&self, scope: Scope) -> MutexGuard<'_, Shard> {
        let [first, ..] = &self.shards;
        let hash = self.hasher.hash_one(scope);
        let place = usize::try_from(hash % SHARDS as u64).unwrap_or_default();
        let shard = self.shards.get(place).unwrap_or(first);
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    fn bucket(&self, scope: Scope) -> Bucket {
        self.buckets.get(&scope).copied().unwrap_or_default()
    }

    /// Removes full buckets whenever their number has doubled since the last sweep, so that the
    /// cost per request is constant.
    fn sweep(&mut self, now: u64) {
        if self.buckets.len() > self.sweep_at.max(FEW) {
            self.buckets.retain(|_, bucket| bucket.fill.full_at > now);
            self.sweep_at = self.buckets.len() * 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::ids::ServiceId;

    #[test]
    fn full_buckets_use_no_memory() {
        let rule = Rule::new(NonZeroU32::new(100).unwrap(), NonZeroU32::new(10).unwrap());
        let buckets = Buckets::default();
        for number in 0..100_000 {
            let scope = Scope::Service(ServiceId::from_uuid(Uuid::from_u128(number)));
            let now = u64::try_from(number).unwrap() * 1_000_000;
            buckets.take(scope, rule, now, NonZeroU32::MIN).unwrap();
        }
        let kept: usize =
            buckets.shards.iter().map(|shard| shard.lock().unwrap().buckets.len()).sum();
        assert!(kept <= SHARDS * (FEW + 1), "{kept}");
    }

    #[test]
    fn local_missing_time_is_reported_until_it_is_stored() {
        let rule = Rule::new(NonZeroU32::MIN, NonZeroU32::new(10).unwrap());
        let buckets = Buckets::default();
        let scope = Scope::Service(ServiceId::from_uuid(Uuid::from_u128(1)));
        assert_eq!(buckets.ahead(scope, 0), Ahead::default());
        buckets.take(scope, rule, 0, NonZeroU32::MIN).unwrap();
        let ahead = buckets.ahead(scope, 400_000_000);
        assert_eq!((ahead.lacking, ahead.debt), (600_000_000, 0));
        buckets.learn(scope, rule, 2_000_000_000, 500_000_000);
        assert_eq!(buckets.ahead(scope, 500_000_000), Ahead::default());
        assert_eq!(buckets.look(scope, rule, 500_000_000).remaining, 8);
    }

    #[test]
    fn an_earlier_response_that_comes_later_adds_no_tokens() {
        let rule = Rule::new(NonZeroU32::MIN, NonZeroU32::new(10).unwrap());
        let buckets = Buckets::default();
        let scope = Scope::Service(ServiceId::from_uuid(Uuid::from_u128(1)));
        buckets.learn(scope, rule, 10_000_000_000, 0);
        buckets.learn(scope, rule, 3_000_000_000, 0);
        assert_eq!(buckets.look(scope, rule, 0).remaining, 0);
    }

    #[test]
    fn a_local_debt_is_reported_until_it_is_repaid() {
        let rule = Rule::new(NonZeroU32::MIN, NonZeroU32::new(10).unwrap());
        let buckets = Buckets::default();
        let scope = Scope::Service(ServiceId::from_uuid(Uuid::from_u128(1)));
        buckets.take(scope, rule, 0, NonZeroU32::new(12).unwrap()).unwrap();
        let ahead = |now| buckets.ahead(scope, now);
        let (lacking, debt) = (12_000_000_000, 2_000_000_000);
        assert_eq!(ahead(0), Ahead { lacking, debt });
        let (lacking, debt) = (9_000_000_000, 0);
        assert_eq!(ahead(3_000_000_000), Ahead { lacking, debt });
    }
}

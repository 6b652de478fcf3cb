//! The buckets of one instance.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::bucket::{Level, Rule};
use crate::clock::Clock;
use crate::ids::{ApiKeyId, ServiceId};

/// Whose bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All that a service asks, with whichever of its keys.
    Service(ServiceId),
    /// What is asked with one administrator's key.
    AdminKey(ApiKeyId),
    /// Authentications from one address that failed.
    Failures(IpAddr),
    /// Attempts from one address to sign in to the dashboard.
    SignIns(IpAddr),
}

/// How a bucket stands, as answers tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Tokens in a full bucket.
    pub limit: u32,
    /// Whole tokens left.
    pub remaining: u32,
    /// The Unix time, in whole seconds, at which it is full again.
    pub reset: i64,
}

/// The bucket is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many requests")]
pub struct Exceeded {
    /// How the bucket stands.
    pub standing: Standing,
    /// How long until a request has a chance.
    pub retry_after: Duration,
}

/// Gives out tokens, from buckets in this process.
#[derive(Debug)]
pub struct Limiter {
    clock: Clock,
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
}

/// Fewer requests wait for each other than with a single lock.
const SHARDS: usize = 16;

/// When each bucket that is not full will be. One that is missing is full.
#[derive(Debug, Default)]
struct Shard {
    full_at: HashMap<Scope, u64>,
    /// How many there may be until those that are full by now are dropped.
    sweep_at: usize,
}

/// The fewest buckets worth sweeping.
const FEW: usize = 256;

impl Rule {
    /// How many authentications may fail from one address. Only those that fail take from it, so a
    /// valid key is never refused for it.
    pub const FAILURES: Self = match (NonZeroU32::new(50), NonZeroU32::new(1_000)) {
        (Some(per_second), Some(burst)) => Self::new(per_second, burst),
        _ => Self::new(NonZeroU32::MIN, NonZeroU32::MIN),
    };

    /// How often somebody may try to sign in from one address.
    pub const SIGN_INS: Self = match NonZeroU32::new(20) {
        Some(burst) => Self::new(NonZeroU32::MIN, burst),
        None => Self::new(NonZeroU32::MIN, NonZeroU32::MIN),
    };
}

impl Limiter {
    /// A limiter whose buckets are all full.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            hasher: RandomState::new(),
            shards: Default::default(),
        }
    }

    /// Takes a token. Awaited, because buckets that are shared are elsewhere.
    ///
    /// # Errors
    /// When there is none.
    #[allow(
        clippy::unused_async,
        reason = "callers need not know where the buckets are"
    )]
    pub async fn take(&self, scope: Scope, rule: Rule) -> Result<Standing, Exceeded> {
        let now = self.now();
        let scope = scope.widened();
        let taken = {
            let mut shard = self.shard(scope);
            let before = shard.full_at.get(&scope).copied().unwrap_or_default();
            rule.take(before, now).map(|(after, level)| {
                shard.full_at.insert(scope, after);
                shard.sweep(now);
                level
            })
        };
        match taken {
            Ok(level) => Ok(self.standing(rule, level)),
            Err(empty) => Err(Exceeded {
                standing: self.standing(rule, empty.level),
                retry_after: empty.next_in,
            }),
        }
    }

    /// How a bucket stands, without taking from it.
    #[allow(
        clippy::unused_async,
        reason = "callers need not know where the buckets are"
    )]
    pub async fn look(&self, scope: Scope, rule: Rule) -> Standing {
        let scope = scope.widened();
        let full_at = self.shard(scope).full_at.get(&scope).copied();
        let level = rule.level(full_at.unwrap_or_default(), self.now());
        self.standing(rule, level)
    }

    fn standing(&self, rule: Rule, level: Level) -> Standing {
        let full = self.clock.now().plus(level.full_in).as_millis();
        Standing {
            limit: rule.burst.get(),
            remaining: level.remaining,
            // The second in which it is full, if not the one that has begun.
            reset: full.saturating_add(999).div_euclid(1_000),
        }
    }

    fn shard(&self, scope: Scope) -> std::sync::MutexGuard<'_, Shard> {
        let [first, ..] = &self.shards;
        let hash = self.hasher.hash_one(scope);
        let place = usize::try_from(hash % SHARDS as u64).unwrap_or_default();
        let shard = self.shards.get(place).unwrap_or(first);
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.clock.monotonic().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Shard {
    /// Drops the buckets that are full by now, whenever twice as many have come together as were
    /// left the last time: the cost for each request stays the same.
    fn sweep(&mut self, now: u64) {
        if self.full_at.len() > self.sweep_at.max(FEW) {
            self.full_at.retain(|_, full_at| *full_at > now);
            self.sweep_at = self.full_at.len() * 2;
        }
    }
}

impl Scope {
    /// One client has as many addresses of IPv6 as it likes within its network of 64 bits.
    fn widened(self) -> Self {
        match self {
            Self::Failures(address) => Self::Failures(network_of(address)),
            Self::SignIns(address) => Self::SignIns(network_of(address)),
            Self::Service(_) | Self::AdminKey(_) => self,
        }
    }
}

fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(network))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use uuid::Uuid;

    fn rule(per_second: u32, burst: u32) -> Rule {
        Rule::new(
            NonZeroU32::new(per_second).unwrap(),
            NonZeroU32::new(burst).unwrap(),
        )
    }

    fn service(number: u128) -> Scope {
        Scope::Service(ServiceId::from_uuid(Uuid::from_u128(number)))
    }

    #[tokio::test]
    async fn each_service_has_its_own_bucket() {
        let clock = Clock::held_at(Timestamp::from_millis(10_000_400));
        let limiter = Limiter::new(clock.clone());
        let rule = rule(2, 3);
        let standing = limiter.take(service(1), rule).await.unwrap();
        // Half a second from 10,000.4 lies in the second that ends at 10,001.
        let expected = |remaining, reset| Standing {
            limit: 3,
            remaining,
            reset,
        };
        assert_eq!(standing, expected(2, 10_001));
        assert_eq!(limiter.look(service(1), rule).await, standing);
        limiter.take(service(1), rule).await.unwrap();
        limiter.take(service(1), rule).await.unwrap();
        let exceeded = limiter.take(service(1), rule).await.unwrap_err();
        assert_eq!(exceeded.standing, expected(0, 10_002));
        assert_eq!(exceeded.retry_after, Duration::from_millis(500));
        assert!(limiter.take(service(2), rule).await.is_ok());
        clock.advance(Duration::from_millis(500));
        assert!(limiter.take(service(1), rule).await.is_ok());
    }

    #[tokio::test]
    async fn an_address_of_ipv6_counts_as_its_network() {
        let limiter = Limiter::new(Clock::held_at(Timestamp::from_millis(1_000)));
        let take = async |address: &str| {
            let scope = Scope::Failures(address.parse().unwrap());
            limiter.take(scope, rule(1, 2)).await.is_ok()
        };
        assert!(take("2001:db8::1").await);
        assert!(take("2001:db8::2").await);
        assert!(!take("2001:db8::3:4:5:6").await);
        assert!(take("2001:db8:0:1::1").await);
        assert!(take("10.0.0.1").await);
        assert!(take("::ffff:10.0.0.1").await);
        assert!(!take("10.0.0.1").await);
        assert!(take("10.0.0.2").await);
    }

    #[tokio::test]
    async fn buckets_that_are_full_again_take_no_memory() {
        let clock = Clock::held_at(Timestamp::from_millis(1_000));
        let limiter = Limiter::new(clock.clone());
        for number in 0..100_000 {
            limiter.take(service(number), rule(100, 10)).await.unwrap();
            clock.advance(Duration::from_millis(1));
        }
        let kept: usize = limiter
            .shards
            .iter()
            .map(|shard| shard.lock().unwrap().full_at.len())
            .sum();
        assert!(kept <= SHARDS * (FEW + 1), "{kept}");
    }
}

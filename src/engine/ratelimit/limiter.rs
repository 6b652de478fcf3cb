//! Rate limits with buckets in this process or shared by all instances.

use std::convert::Infallible;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::bucket::{Empty, Level, Rule};
use super::buckets::Buckets;
use super::census::Census;
use super::scope::Scope;
use super::shared::{PERIOD, SharedBuckets};
use super::tally::{CountedIn, Counts, Tally};
use crate::db::Pool;
use crate::jobs::{Job, Observed, Pulse};
use crate::shares::{self, Shares};
use formats::clock::{Clock, Timestamp};

/// The state of a bucket for response headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketState {
    /// Tokens in a full bucket.
    pub limit: u32,
    /// Available whole tokens.
    pub remaining: u32,
    /// The Unix time in seconds at which the bucket is full.
    pub reset: i64,
}

/// The bucket is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many requests")]
pub struct Exceeded {
    pub bucket: BucketState,
    /// The time until the next token.
    pub retry_after: Duration,
}

/// The mode of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// In this process, without shared storage.
    Alone,
    /// In the shared storage.
    Together,
    /// In this process while the shared storage is unreachable: each instance enforces its share.
    Apart(NonZeroU32),
    /// In the shared storage or apart: it was not checked for too long.
    Unknown,
}

/// Grants tokens.
#[derive(Debug)]
pub struct Limiter {
    clock: Clock,
    buckets: Buckets,
    /// Look-ups of unknown credentials and ids per address, in this process only.
    pub(super) look_ups: Buckets,
    /// The permits of look-ups to use the database.
    pub(super) turns: Shares<IpAddr>,
    shared: Option<SharedBuckets>,
    /// When the shared storage was last checked.
    checked: Observed<()>,
    tally: Tally,
}

impl Rule {
    /// The limit of failed authentications per address. Only failures take tokens, so it never
    /// refuses a valid key.
    pub const FAILURES: Self = match (NonZeroU32::new(50), NonZeroU32::new(1_000)) {
        (Some(per_second), Some(burst)) => Self::new(per_second, burst),
        _ => Self::new(NonZeroU32::MIN, NonZeroU32::MIN),
    };

    /// The limit of sign-in attempts per address.
    pub const SIGN_INS: Self = match NonZeroU32::new(20) {
        Some(burst) => Self::new(NonZeroU32::MIN, burst),
        None => Self::new(NonZeroU32::MIN, NonZeroU32::MIN),
    };
}

impl Limiter {
    /// A limiter with buckets in this process.
    pub fn new(clock: Clock) -> Self {
        let period = Job::RateLimits.spec().period();
        Self {
            checked: Observed::new(clock.clone(), period, ()),
            clock,
            buckets: Buckets::default(),
            look_ups: Buckets::default(),
            turns: Shares::new(shares::LOOK_UPS),
            shared: None,
            tally: Tally::default(),
        }
    }

    /// A limiter with shared buckets.
    pub fn shared(clock: Clock, shared: SharedBuckets) -> Self {
        Self { shared: Some(shared), ..Self::new(clock) }
    }

    /// Connects to the shared storage before the first request.
    pub async fn find_shared(&self) {
        if let Some(shared) = &self.shared {
            shared.find().await;
            self.checked.set(());
        }
    }

    /// Whether there is shared storage.
    pub fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// The current mode of counting.
    pub fn counting(&self) -> Counting {
        match &self.shared {
            None => Counting::Alone,
            Some(_) if self.checked.known().is_none() => Counting::Unknown,
            Some(shared) if shared.is_in_reach() => Counting::Together,
            Some(shared) => Counting::Apart(shared.instances()),
        }
    }

    /// Reconnects to the shared storage and counts the instances, until it is dropped.
    pub async fn keep(self: Arc<Self>, db: Pool, pulse: Pulse) -> Infallible {
        let mut census = Census::default();
        loop {
            if let Some(shared) = &self.shared {
                shared.look(&db, &mut census).await;
                self.checked.set(());
            }
            pulse.alive();
            sleep(PERIOD).await;
        }
    }

    /// Takes a token.
    pub async fn take(&self, scope: Scope, rule: Rule) -> Result<BucketState, Exceeded> {
        self.take_several(scope, rule, NonZeroU32::MIN).await
    }

    /// Takes `tokens`, at most [`MOST_TOKENS`](super::MOST_TOKENS), or none. More tokens than the bucket
    /// holds need a full bucket and leave a debt.
    pub async fn take_several(
        &self,
        scope: Scope,
        rule: Rule,
        tokens: NonZeroU32,
    ) -> Result<BucketState, Exceeded> {
        let (place, taken) = self.decide(scope.widened(), rule, 0, tokens).await;
        self.tally.count(place, scope, taken.is_ok());
        taken
    }

    /// Like [`take_several`](Self::take_several), after giving back one token that the request has taken.
    ///
    /// # Errors
    /// The bucket does not hold enough. The request then has taken nothing.
    pub async fn exchange(
        &self,
        scope: Scope,
        rule: Rule,
        tokens: NonZeroU32,
    ) -> Result<BucketState, Exceeded> {
        let (place, taken) = self.decide(scope.widened(), rule, 1, tokens).await;
        // The first token has been counted.
        if taken.is_err() {
            self.tally.count(place, scope, false);
        }
        taken
    }

    async fn decide(
        &self,
        scope: Scope,
        rule: Rule,
        given_back: u32,
        tokens: NonZeroU32,
    ) -> (CountedIn, Result<BucketState, Exceeded>) {
        let mut place = CountedIn::Alone;
        if let Some(shared) = &self.shared {
            let ahead = self.buckets.ahead(scope, self.now());
            let asked = shared.ask(scope, rule, ahead, given_back, tokens.get());
            if let Some(bucket) = asked.await {
                self.buckets.learn(scope, rule, bucket.lacking, self.now());
                let decided = rule.decided(bucket.taken, bucket.lacking, tokens);
                return (CountedIn::Together, outcome(rule, decided, bucket.at));
            }
            place = CountedIn::Apart;
        }
        let rule = self.own_part(rule);
        for _ in 0..given_back {
            self.buckets.give_back(scope, rule, self.now());
        }
        let taken = self.buckets.take(scope, rule, self.now(), tokens);
        (place, outcome(rule, taken, self.clock.now()))
    }

    /// The number of decisions per mode of counting.
    pub fn places(&self) -> [(&'static str, u64); 3] {
        self.tally.places()
    }

    /// The number of outages of the shared storage; none without shared storage.
    pub fn outages(&self) -> Option<u64> {
        self.shared.as_ref().map(SharedBuckets::outages)
    }

    /// The known number of instances; none without shared storage.
    pub fn instances(&self) -> Option<NonZeroU32> {
        self.shared.as_ref().map(SharedBuckets::instances)
    }

    /// The decisions per scope.
    pub fn counts(&self) -> [Counts; 5] {
        self.tally.read()
    }

    /// The state of a bucket, without taking a token.
    pub async fn look(&self, scope: Scope, rule: Rule) -> BucketState {
        let scope = scope.widened();
        if let Some(shared) = &self.shared {
            let ahead = self.buckets.ahead(scope, self.now());
            if let Some(bucket) = shared.ask(scope, rule, ahead, 0, 0).await {
                return state_of(rule, rule.level_of(bucket.lacking), bucket.at);
            }
        }
        let rule = self.own_part(rule);
        state_of(rule, self.buckets.look(scope, rule, self.now()), self.clock.now())
    }

    fn own_part(&self, rule: Rule) -> Rule {
        match &self.shared {
            Some(shared) => rule.divided(shared.instances()),
            None => rule,
        }
    }

    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.clock.monotonic().as_nanos()).unwrap_or(u64::MAX)
    }
}

fn outcome(
    rule: Rule,
    taken: Result<Level, Empty>,
    at: Timestamp,
) -> Result<BucketState, Exceeded> {
    match taken {
        Ok(level) => Ok(state_of(rule, level, at)),
        Err(empty) => {
            Err(Exceeded { bucket: state_of(rule, empty.level, at), retry_after: empty.next_in })
        }
    }
}

fn state_of(rule: Rule, level: Level, at: Timestamp) -> BucketState {
    let full = at.plus(level.full_in).as_millis();
    BucketState {
        limit: rule.burst.get(),
        remaining: level.remaining,
        // Rounded up to a whole second.
        reset: full.saturating_add(999).div_euclid(1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    use crate::ids::ServiceId;

    fn rule(per_second: u32, burst: u32) -> Rule {
        Rule::new(NonZeroU32::new(per_second).unwrap(), NonZeroU32::new(burst).unwrap())
    }

    fn service(number: u128) -> Scope {
        Scope::Service(ServiceId::from_uuid(Uuid::from_u128(number)))
    }

    #[tokio::test]
    async fn each_service_has_its_own_bucket() {
        let clock = Clock::held_at(Timestamp::from_millis(10_000_400));
        let limiter = Limiter::new(clock.clone());
        let rule = rule(2, 3);
        let bucket = limiter.take(service(1), rule).await.unwrap();
        // 10,000.4 plus half a second rounds up to 10,001.
        let expected = |remaining, reset| BucketState { limit: 3, remaining, reset };
        assert_eq!(bucket, expected(2, 10_001));
        assert_eq!(limiter.look(service(1), rule).await, bucket);
        limiter.take(service(1), rule).await.unwrap();
        limiter.take(service(1), rule).await.unwrap();
        let exceeded = limiter.take(service(1), rule).await.unwrap_err();
        assert_eq!(exceeded.bucket, expected(0, 10_002));
        assert_eq!(exceeded.retry_after, Duration::from_millis(500));
        assert!(limiter.take(service(2), rule).await.is_ok());
        clock.advance(Duration::from_millis(500));
        assert!(limiter.take(service(1), rule).await.is_ok());
    }

    #[tokio::test]
    async fn an_ipv6_address_counts_as_its_network() {
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
}

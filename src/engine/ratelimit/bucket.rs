//! The arithmetic of a token bucket (GCRA), in nanoseconds of a monotonic clock.

use std::num::NonZeroU32;
use std::time::Duration;

/// The size of a bucket and its refill rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Tokens refilled per second.
    pub per_second: NonZeroU32,
    /// Tokens in a full bucket.
    pub burst: NonZeroU32,
    /// The number of buckets that share the refilled tokens.
    parts: NonZeroU32,
}

/// The stored state of a bucket. The default is a full bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fill {
    /// When the bucket is full.
    pub(super) full_at: u64,
    /// When the bucket has repaid the tokens that a batch took beyond its size.
    pub(super) repaid_at: u64,
}

/// The state of a bucket at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// Available whole tokens.
    pub(super) remaining: u32,
    /// The time until it is full.
    pub(super) full_in: Duration,
}

/// The bucket is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Empty {
    pub(super) level: Level,
    /// The time until the next token.
    pub(super) next_in: Duration,
}

const SECOND: u64 = 1_000_000_000;

/// The most tokens that one request takes.
pub const MOST_TOKENS: u32 = 1_000;

impl Rule {
    /// A rule; both numbers are at least 1.
    pub const fn new(per_second: NonZeroU32, burst: NonZeroU32) -> Self {
        Self { per_second, burst, parts: NonZeroU32::MIN }
    }

    /// The rule of one of `parts` buckets that together grant this rule. Each has at least one
    /// token.
    pub(super) fn divided(self, parts: NonZeroU32) -> Self {
        let burst = self.burst.get() / parts;
        Self { burst: NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN), parts, ..self }
    }

    /// The time to refill one token.
    pub(super) fn interval(self) -> u64 {
        (SECOND * u64::from(self.parts.get()) / u64::from(self.per_second.get())).max(1)
    }

    /// The time to refill an empty bucket.
    pub(super) fn depth(self) -> u64 {
        self.interval().saturating_mul(u64::from(self.burst.get()))
    }

    /// The time to refill the largest debt.
    pub(super) fn most_debt(self) -> u64 {
        let tokens = MOST_TOKENS.saturating_sub(self.burst.get());
        self.interval().saturating_mul(u64::from(tokens))
    }

    /// The part of the missing time that exceeds an empty bucket.
    pub(super) fn debt(self, lacking: u64) -> u64 {
        lacking.saturating_sub(self.depth())
    }

    /// Takes `tokens` from a bucket, and returns its new state.
    ///
    /// More tokens than the bucket holds need a full bucket and leave a debt.
    pub(super) fn take(
        self,
        fill: Fill,
        now: u64,
        tokens: NonZeroU32,
    ) -> Result<(Fill, Level), Empty> {
        let lacking = self.lacking(fill, now);
        match self.missing(lacking, tokens) {
            0 => {
                let taken = self.interval().saturating_mul(u64::from(tokens.get()));
                let after = lacking.saturating_add(taken);
                let fill = Fill {
                    full_at: now.saturating_add(after),
                    repaid_at: now.saturating_add(self.debt(after)),
                };
                Ok((fill, self.level_of(after)))
            }
            missing => {
                Err(Empty { level: self.level_of(lacking), next_in: Duration::from_nanos(missing) })
            }
        }
    }

    /// The time until a bucket that lacks `lacking` can give `tokens`.
    fn missing(self, lacking: u64, tokens: NonZeroU32) -> u64 {
        let needed = tokens.min(self.burst).get();
        let needed = self.interval().saturating_mul(u64::from(needed));
        lacking.saturating_add(needed).saturating_sub(self.depth())
    }

    /// The result for a decision that the shared storage made.
    pub(super) fn decided(
        self,
        taken: bool,
        lacking: u64,
        tokens: NonZeroU32,
    ) -> Result<Level, Empty> {
        let level = self.level_of(lacking);
        if taken {
            return Ok(level);
        }
        Err(Empty { level, next_in: Duration::from_nanos(self.missing(lacking, tokens)) })
    }

    /// The state of the bucket at `now`.
    pub(super) fn level(self, fill: Fill, now: u64) -> Level {
        self.level_of(self.lacking(fill, now))
    }

    /// The time until the bucket is full. A bucket whose size was reduced lacks its new size and the
    /// debt of a batch at most.
    fn lacking(self, fill: Fill, now: u64) -> u64 {
        let debt = fill.repaid_at.saturating_sub(now).min(self.most_debt());
        let most = self.depth().saturating_add(debt);
        fill.full_at.saturating_sub(now).min(most)
    }

    pub(super) fn level_of(self, lacking: u64) -> Level {
        let tokens = (self.depth() - lacking.min(self.depth())) / self.interval();
        Level {
            remaining: u32::try_from(tokens).unwrap_or(u32::MAX),
            full_in: Duration::from_nanos(lacking),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: NonZeroU32 = NonZeroU32::MIN;
    const MOST: NonZeroU32 = NonZeroU32::new(MOST_TOKENS).unwrap();

    fn rule(per_second: u32, burst: u32) -> Rule {
        Rule::new(NonZeroU32::new(per_second).unwrap(), NonZeroU32::new(burst).unwrap())
    }

    #[test]
    fn a_full_bucket_allows_its_burst_and_then_its_rate() {
        let rule = rule(100, 200);
        let mut fill = Fill::default();
        let now = 5 * SECOND;
        for left in (0..200).rev() {
            let (after, level) = rule.take(fill, now, ONE).unwrap();
            assert_eq!(level.remaining, left);
            fill = after;
        }
        let empty = rule.take(fill, now, ONE).unwrap_err();
        assert_eq!(empty.level.remaining, 0);
        assert_eq!(empty.level.full_in, Duration::from_secs(2));
        assert_eq!(empty.next_in, Duration::from_millis(10));
        assert!(rule.take(fill, now + SECOND / 100, ONE).is_ok());
        assert_eq!(rule.level(fill, now + SECOND).remaining, 100);
        assert_eq!(rule.level(fill, now + 9 * SECOND).remaining, 200);
    }

    #[test]
    fn the_shares_of_a_bucket_do_not_exceed_the_bucket() {
        let part = rule(100, 200).divided(NonZeroU32::new(3).unwrap());
        let (mut fill, mut taken) = (Fill::default(), 0);
        for now in 0..=10_000 {
            if let Ok((after, _)) = part.take(fill, now * SECOND / 1_000, ONE) {
                fill = after;
                taken += 1;
            }
        }
        assert_eq!(taken, 66 + 333);
        let small = rule(1, 1).divided(NonZeroU32::new(3).unwrap());
        let (fill, _) = small.take(Fill::default(), SECOND, ONE).unwrap();
        assert_eq!(small.take(fill, SECOND, ONE).unwrap_err().next_in, Duration::from_secs(3));
    }

    #[test]
    fn a_reduced_bucket_is_at_most_empty() {
        let (large, small) = (rule(1, 1000), rule(100, 10));
        let mut fill = Fill::default();
        for _ in 0..1000 {
            (fill, _) = large.take(fill, SECOND, ONE).unwrap();
        }
        let empty = small.take(fill, SECOND, ONE).unwrap_err();
        assert_eq!(empty.next_in, Duration::from_millis(10));
    }

    #[test]
    fn a_reduced_bucket_keeps_the_debt_of_a_batch_and_nothing_more() {
        let (large, small) = (rule(100, 200), rule(100, 10));
        let (fill, _) = large.take(Fill::default(), SECOND, MOST).unwrap();
        let wait = |rule: Rule, now| rule.take(fill, now, ONE).unwrap_err().next_in;
        assert_eq!(wait(large, SECOND), Duration::from_millis(8_010));
        assert_eq!(wait(small, SECOND), Duration::from_millis(8_010));
        // After the debt is repaid, the reduced bucket is empty.
        assert_eq!(wait(small, SECOND * 9), Duration::from_millis(10));
        // A batch that the bucket held leaves no debt.
        let (fill, _) = rule(100, 1_000).take(Fill::default(), SECOND, MOST).unwrap();
        let empty = small.take(fill, SECOND, ONE).unwrap_err();
        assert_eq!(empty.next_in, Duration::from_millis(10));
    }

    #[test]
    fn a_faster_bucket_owes_at_most_the_largest_batch() {
        let (fill, _) = rule(1, 200).take(Fill::default(), SECOND, MOST).unwrap();
        let empty = rule(100, 200).take(fill, SECOND, ONE).unwrap_err();
        assert_eq!(empty.next_in, Duration::from_millis(8_010));
    }

    #[test]
    fn several_tokens_are_taken_at_once_or_not_at_all() {
        let rule = rule(100, 200);
        let tokens = |count| NonZeroU32::new(count).unwrap();
        let (fill, level) = rule.take(Fill::default(), SECOND, tokens(150)).unwrap();
        assert_eq!(level.remaining, 50);
        let empty = rule.take(fill, SECOND, tokens(60)).unwrap_err();
        assert_eq!(empty.level.remaining, 50);
        assert_eq!(empty.next_in, Duration::from_millis(100));
        assert!(rule.take(fill, SECOND, tokens(50)).is_ok());
    }

    #[test]
    fn more_tokens_than_the_bucket_holds_need_it_full_and_leave_a_debt() {
        let rule = rule(100, 200);
        let (almost_full, _) = rule.take(Fill::default(), SECOND, ONE).unwrap();
        let empty = rule.take(almost_full, SECOND, MOST).unwrap_err();
        assert_eq!(empty.next_in, Duration::from_millis(10));
        let (fill, level) = rule.take(Fill::default(), SECOND, MOST).unwrap();
        assert_eq!((level.remaining, level.full_in), (0, Duration::from_secs(10)));
        let empty = rule.take(fill, SECOND, ONE).unwrap_err();
        assert_eq!(empty.next_in, Duration::from_millis(8_010));
        assert!(rule.take(fill, SECOND * 9 + SECOND / 100, ONE).is_ok());
    }

    #[test]
    fn the_largest_numbers_are_supported() {
        let rule = rule(u32::MAX, u32::MAX);
        assert_eq!(
            rule.take(Fill::default(), u64::MAX / 2, ONE).unwrap().1.remaining,
            u32::MAX - 1
        );
        let rule = self::rule(1, u32::MAX);
        assert_eq!(rule.take(Fill::default(), 0, ONE).unwrap().1.remaining, u32::MAX - 1);
    }

    proptest! {
        #[test]
        fn admitted_requests_never_exceed_rate_times_time_plus_burst(
            per_second in 1_u32..2000,
            burst in 1_u32..50,
            steps in prop::collection::vec(0_u64..50_000_000, 1..400),
        ) {
            let rule = rule(per_second, burst);
            let (mut fill, mut now, mut taken) = (Fill::default(), 0_u64, 0_u64);
            for step in steps {
                now += step;
                if let Ok((after, _)) = rule.take(fill, now, ONE) {
                    fill = after;
                    taken += 1;
                }
            }
            // The interval is rounded down to whole nanoseconds: one part in 500,000 at this rate.
            let most = u64::from(burst) + (now + now / 500_000) * u64::from(per_second) / SECOND + 1;
            prop_assert!(taken <= most, "{taken} > {most}");
        }
    }
}

//! Traffic statistics of the audit log: requests per minute, durations, errors, key usage, and who opens with which
//! key.
//!
//! A job aggregates each minute once, when no further record of it can arrive. Pages read the
//! aggregates only. Durations are histograms, since percentiles cannot be added.

mod histogram;
mod openings;
mod store;

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::io::ErrorKind;
use std::time::Duration;

use sqlx::PgConnection;
use tokio::time::timeout;

use self::histogram::Histogram;
pub use self::openings::{OpeningCount, Openings};
use super::CLIENT_CLOSED_REQUEST;
use crate::db::{Pool, earlier_present};
use crate::ids::{KeyId, ServiceId};
use crate::jobs::{Job, Leader, Pulse};
use crate::policy_number::PolicyNumber;
use formats::clock::{Clock, Timestamp};

/// The interval of the job.
const EVERY: Duration = Duration::from_secs(5);

/// The tolerance for different clocks of instances.
const MARGIN: Duration = Duration::from_secs(10);

/// The timeout of one run. Aggregated hours persist.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// The retention of aggregates per minute.
const KEPT: Duration = Duration::from_secs(8 * 24 * 60 * 60);

/// The retention of openings by caller and policy.
const OPENINGS_KEPT: Duration = Duration::from_secs(31 * 24 * 60 * 60);

/// A range of time in equal steps.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The start.
    pub from: Timestamp,
    /// The length of a step, in whole minutes.
    pub step: Duration,
    /// The number of steps.
    pub steps: usize,
}

/// The traffic in a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// One point per step.
    pub points: Vec<Point>,
    /// The number of errors per step, most frequent code first.
    pub errors: Vec<(String, Vec<u64>)>,
}

/// The traffic in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    pub requests: u64,
    /// Failed requests.
    pub failed: u64,
    /// The median duration, in milliseconds.
    pub p50: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
}

/// How much of its limit a service used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Load {
    #[sqlx(rename = "service_id")]
    pub service: ServiceId,
    /// Requests in its busiest minute.
    pub busiest: i64,
    /// Requests refused by the rate limiter.
    pub limited: i64,
}

/// The usage of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct Uses {
    /// Since the requested day.
    pub recent: i64,
    /// In total.
    pub all: i64,
    /// The time of the last use.
    pub last: Option<Timestamp>,
}

/// The uses of a key on some days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct DayUses {
    /// The key.
    pub key: KeyId,
    /// Since the first of the recent days.
    pub recent: i64,
    /// The time at which it last protected, encrypted or signed.
    pub last_protected: Option<Timestamp>,
    /// The time at which it last opened, decrypted or verified.
    pub last_opened: Option<Timestamp>,
}

/// Runs the job until it is dropped. Of several instances one works. `deadline` is the maximum time
/// to commit a record.
pub async fn keep(clock: Clock, db: Pool, deadline: Duration, pulse: Pulse) -> Infallible {
    let margin = deadline.saturating_add(MARGIN);
    let mut leader = Leader::new(db.clone(), Job::TrafficSums);
    loop {
        let look = timeout(LONGEST, sum_while_leading(&mut leader, &db, clock.now(), margin));
        let late = |_| Err(sqlx::Error::Io(ErrorKind::TimedOut.into()));
        let summed = look.await.unwrap_or_else(late);
        pulse.ended(&summed);
        if let Err(error) = summed {
            tracing::warn!(%error, "the traffic statistics could not be updated; retrying");
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// Aggregates unless another instance does.
async fn sum_while_leading(
    leader: &mut Leader,
    db: &Pool,
    now: Timestamp,
    margin: Duration,
) -> sqlx::Result<()> {
    let Some(leadership) = leader.lead().await? else {
        return Ok(());
    };
    let summed = leadership.marks().during(sum_up_to_present(db, now, margin)).await;
    leader.keep(leadership);
    summed
}

/// A minute is aggregated once, so it must be over by the clock of Postgres too.
async fn sum_up_to_present(db: &Pool, now: Timestamp, margin: Duration) -> sqlx::Result<()> {
    let now = earlier_present(db, now).await?;
    sum_up(db, now.minus(margin)).await
}

/// Aggregates all minutes that were over at `complete_until`.
///
/// # Errors
/// The database failed. Completed aggregates persist.
pub async fn sum_up(db: &Pool, complete_until: Timestamp) -> sqlx::Result<()> {
    while store::sum_some(db, complete_until).await? {}
    store::forget(db, complete_until.minus(KEPT), complete_until.minus(OPENINGS_KEPT)).await
}

/// The traffic in a window, as far as it is aggregated.
pub async fn traffic(db: &Pool, window: Window) -> sqlx::Result<Traffic> {
    Ok(window.gather(store::sums(db, window).await?))
}

/// The end of the aggregated time.
pub async fn summed_up_to(db: &Pool) -> sqlx::Result<Option<Timestamp>> {
    store::progress(db).await
}

/// The usage of limits by the busiest services.
pub async fn loads(db: &Pool, since: Timestamp) -> sqlx::Result<Vec<Load>> {
    store::loads(db, since).await
}

/// The usage of a key, in total and since the day of `since`.
pub async fn uses(db: &Pool, key: KeyId, since: Timestamp) -> sqlx::Result<Uses> {
    store::uses(db, key, since).await
}

/// The last use of each of these keys, without unused keys.
pub async fn last_uses(db: &Pool, keys: &[KeyId]) -> sqlx::Result<HashMap<KeyId, Timestamp>> {
    Ok(store::last_uses(db, keys).await?.into_iter().collect())
}

/// What was opened with these keys from the day of `since` on, under this policy if there is one. The sums go back 30
/// days.
pub async fn openings(
    db: &Pool,
    keys: &[KeyId],
    policy: Option<&PolicyNumber>,
    since: Timestamp,
) -> sqlx::Result<Openings> {
    Ok(Openings::of(store::openings(db, keys, policy, since).await?))
}

/// The uses of all keys before the day of `end`, of which those from the day of `since` on are recent. None while
/// records of these days are not aggregated yet.
pub(crate) async fn uses_until(
    connection: &mut PgConnection,
    since: Timestamp,
    end: Timestamp,
) -> sqlx::Result<Option<Vec<DayUses>>> {
    if store::lacks(&mut *connection, end).await? {
        return Ok(None);
    }
    store::uses_until(connection, since, end).await.map(Some)
}

/// Requests of one step with the same outcome and bucket.
#[derive(Clone, Debug, sqlx::FromRow)]
struct Sum {
    step: i64,
    outcome: String,
    bucket: i16,
    requests: i64,
}

impl Window {
    /// The end.
    pub fn to(self) -> Timestamp {
        self.start_of(self.steps)
    }

    pub fn start_of(self, step: usize) -> Timestamp {
        self.from.plus(self.step * u32::try_from(step).unwrap_or(u32::MAX))
    }

    fn gather(self, sums: Vec<Sum>) -> Traffic {
        let mut steps = vec![(Histogram::default(), 0_u64); self.steps];
        let mut errors: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for sum in sums {
            let Ok(place) = usize::try_from(sum.step) else {
                continue;
            };
            let Some((histogram, failed)) = steps.get_mut(place) else {
                continue;
            };
            let requests = u64::try_from(sum.requests).unwrap_or_default();
            histogram.add(sum.bucket, requests);
            if sum.outcome.is_empty() || sum.outcome == CLIENT_CLOSED_REQUEST {
                continue;
            }
            *failed += requests;
            let of_code = errors.entry(sum.outcome).or_insert_with(|| vec![0; self.steps]);
            if let Some(count) = of_code.get_mut(place) {
                *count += requests;
            }
        }
        let points = steps.iter().map(|(histogram, failed)| Point {
            requests: histogram.total(),
            failed: *failed,
            p50: histogram.quantile(0.50),
            p95: histogram.quantile(0.95),
            p99: histogram.quantile(0.99),
        });
        let mut errors: Vec<_> = errors.into_iter().collect();
        errors.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.iter().sum::<u64>()));
        Traffic { points: points.collect(), errors }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_grouped_by_step() {
        let window =
            Window { from: Timestamp::from_millis(0), step: Duration::from_secs(60), steps: 3 };
        let sum = |step, outcome: &str, requests| Sum {
            step,
            outcome: outcome.to_owned(),
            bucket: 20,
            requests,
        };
        let traffic = window.gather(vec![
            sum(0, "", 7),
            sum(0, "RARE", 1),
            sum(2, "OFTEN", 5),
            sum(3, "", 100),
            sum(-1, "", 100),
        ]);
        let requests: Vec<_> =
            traffic.points.iter().map(|point| (point.requests, point.failed)).collect();
        assert_eq!(requests, [(8, 1), (0, 0), (5, 5)]);
        assert_eq!(traffic.points[1].p50, None);
        let expected = [("OFTEN".to_owned(), vec![0, 0, 5]), ("RARE".to_owned(), vec![1, 0, 0])];
        assert_eq!(traffic.errors, expected);
        assert_eq!(window.to(), Timestamp::from_millis(180_000));
    }
}

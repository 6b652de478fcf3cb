//! The trail in sums: requests a minute, how long they took, what went wrong, which keys served.
//!
//! A job sums each minute up once, when no record of it can come any more: pages read sums, never
//! the trail. Times are kept as histograms, since percentiles cannot be added up.

mod histogram;
mod store;

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::io::ErrorKind;
use std::time::Duration;

use sqlx::PgPool;
use tokio::time::timeout;

use self::histogram::Histogram;
use crate::clock::{Clock, Timestamp};
use crate::db::earlier_present;
use crate::ids::{KeyId, ServiceId};

/// How often to look whether a minute is over.
const EVERY: Duration = Duration::from_secs(5);

/// Beyond the time that a record may take: clocks of instances differ a little.
const MARGIN: Duration = Duration::from_secs(10);

/// How long to wait for one look to end, so that a server that has gone without a word is told of.
/// Each hour that was summed up stays so.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// How long sums are kept.
const KEPT: Duration = Duration::from_secs(8 * 24 * 60 * 60);

/// A stretch of time in equal steps.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Where it begins.
    pub from: Timestamp,
    /// How long a step is: whole minutes.
    pub step: Duration,
    /// How many there are.
    pub steps: usize,
}

/// What happened in a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// One for each step.
    pub points: Vec<Point>,
    /// How often each error came in each step; the code that came most often first.
    pub errors: Vec<(String, Vec<u64>)>,
}

/// What happened in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// All requests.
    pub requests: u64,
    /// Those that ended in an error.
    pub failed: u64,
    /// Half of them took at most this long, in milliseconds.
    pub p50: Option<f64>,
    /// Nineteen in twenty.
    pub p95: Option<f64>,
    /// Ninety-nine in a hundred.
    pub p99: Option<f64>,
}

/// How a service used its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Load {
    /// Which service.
    #[sqlx(rename = "application_id")]
    pub service: ServiceId,
    /// Requests in its busiest minute.
    pub busiest: i64,
    /// Requests refused for being too many.
    pub limited: i64,
}

/// How much a key has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct Uses {
    /// Since the day asked for.
    pub recent: i64,
    /// Ever.
    pub all: i64,
    /// The last time.
    pub last: Option<Timestamp>,
}

/// Sums up for as long as this is polled. Several instances do so without harm: one works, the
/// others pass. `deadline` is how long a record may take to be committed.
pub async fn keep(clock: Clock, db: PgPool, deadline: Duration) -> Infallible {
    let unsettled = deadline.saturating_add(MARGIN);
    loop {
        let look = timeout(LONGEST, sum_up_to_present(&db, clock.now(), unsettled));
        let late = |_| Err(sqlx::Error::Io(ErrorKind::TimedOut.into()));
        if let Err(error) = look.await.unwrap_or_else(late) {
            tracing::warn!(%error, "the traffic statistics could not be updated; retrying");
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// A minute that was summed up is never looked at again, so it must be over by Postgres' clock too.
async fn sum_up_to_present(db: &PgPool, now: Timestamp, unsettled: Duration) -> sqlx::Result<()> {
    let now = earlier_present(db, now).await?;
    sum_up(db, now.minus(unsettled)).await
}

/// Sums up every minute that was over at `settled`.
///
/// # Errors
/// The database could not be asked; what is summed up so far stays.
pub async fn sum_up(db: &PgPool, settled: Timestamp) -> sqlx::Result<()> {
    while store::sum_some(db, settled).await? {}
    store::forget(db, settled.minus(KEPT)).await
}

/// What happened in a window, as far as it is summed up.
///
/// # Errors
/// The database could not be asked.
pub async fn traffic(db: &PgPool, window: Window) -> sqlx::Result<Traffic> {
    Ok(window.gather(store::sums(db, window).await?))
}

/// Up to when everything is summed up.
///
/// # Errors
/// The database could not be asked.
pub async fn summed_up_to(db: &PgPool) -> sqlx::Result<Option<Timestamp>> {
    store::progress(db).await
}

/// How the busiest services used their limits since then.
///
/// # Errors
/// The database could not be asked.
pub async fn loads(db: &PgPool, since: Timestamp) -> sqlx::Result<Vec<Load>> {
    store::loads(db, since).await
}

/// How much a key has done, also since the day of `since`.
///
/// # Errors
/// The database could not be asked.
pub async fn uses(db: &PgPool, key: KeyId, since: Timestamp) -> sqlx::Result<Uses> {
    store::uses(db, key, since).await
}

/// When each of these keys did something for the last time; those that never did are left out.
///
/// # Errors
/// The database could not be asked.
pub async fn last_uses(db: &PgPool, keys: &[KeyId]) -> sqlx::Result<HashMap<KeyId, Timestamp>> {
    Ok(store::last_uses(db, keys).await?.into_iter().collect())
}

/// Requests of one step that came to the same and took about as long.
#[derive(Clone, Debug, sqlx::FromRow)]
struct Sum {
    step: i64,
    outcome: String,
    bucket: i16,
    requests: i64,
}

impl Window {
    /// Where it ends.
    #[must_use]
    pub fn to(self) -> Timestamp {
        self.start_of(self.steps)
    }

    /// Where a step begins.
    #[must_use]
    pub fn start_of(self, step: usize) -> Timestamp {
        self.from
            .plus(self.step * u32::try_from(step).unwrap_or(u32::MAX))
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
            if sum.outcome.is_empty() {
                continue;
            }
            *failed += requests;
            let of_code = errors
                .entry(sum.outcome)
                .or_insert_with(|| vec![0; self.steps]);
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
        Traffic {
            points: points.collect(),
            errors,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_gathered_into_the_steps_they_fell_in() {
        let window = Window {
            from: Timestamp::from_millis(0),
            step: Duration::from_secs(60),
            steps: 3,
        };
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
        let requests: Vec<_> = traffic
            .points
            .iter()
            .map(|point| (point.requests, point.failed))
            .collect();
        assert_eq!(requests, [(8, 1), (0, 0), (5, 5)]);
        assert_eq!(traffic.points[1].p50, None);
        let expected = [
            ("OFTEN".to_owned(), vec![0, 0, 5]),
            ("RARE".to_owned(), vec![1, 0, 0]),
        ];
        assert_eq!(traffic.errors, expected);
        assert_eq!(window.to(), Timestamp::from_millis(180_000));
    }
}

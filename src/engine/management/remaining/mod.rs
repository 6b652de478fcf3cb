//! What still depends on a key, an algorithm or a policy, and what to do next to end it.

mod step;
mod store;

use std::time::Duration;

use sqlx::FromRow;

pub use self::step::NextStep;
use super::{Authorized, Error, ReadResources};
use crate::audit::traffic::{OpeningCount, Openings, openings, summed_up_to};
use crate::ids::{KeyId, PolicyId, ServiceId};
use crate::keys::{KeyStatus, Usage};
use crate::policy::{PolicyNumber, PolicyStatus};
use formats::clock::Timestamp;
use formats::envelope::Alg;
use formats::material::Algorithm;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The number of days whose openings count, with the current one.
const DAYS: u32 = 30;

/// The maximum length of a list.
const LISTED: usize = 100;

/// What to look at: the keys that match all members that are not `None`. Destroyed keys only match their ID.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemainingFilter {
    /// This key.
    pub key: Option<KeyId>,
    /// Keys with this algorithm.
    pub algorithm: Option<Algorithm>,
    /// Keys whose strength is below this number of bits.
    pub strength_below: Option<u16>,
    /// The envelope keys of the destination of this policy, and what was opened under it.
    pub policy: Option<PolicyNumber>,
}

/// What remains on some keys. Lists are limited, and start with what was opened most.
#[derive(Clone, Debug, Default)]
pub struct Remaining {
    /// The time until which requests are counted; none before the first.
    pub counted_until: Option<Timestamp>,
    /// The days, from the first to the current one, by their starts.
    pub days: Vec<(Timestamp, OpeningCount)>,
    /// The number of keys.
    pub keys_in_all: usize,
    /// The keys.
    pub keys: Vec<RemainingKey>,
    /// The algorithms of the keys.
    pub algorithms: Vec<(Algorithm, AlgorithmUse)>,
    /// The policies that name the keys, or under which something was opened with them.
    pub policies: Vec<RemainingPolicy>,
    /// The services that opened something with the keys.
    pub callers: Vec<(ServiceId, OpeningCount)>,
}

/// A key, with what was opened with it.
#[derive(Clone, Debug, FromRow)]
pub struct RemainingKey {
    pub id: KeyId,
    pub name: String,
    pub service_id: ServiceId,
    pub algorithm: Algorithm,
    pub usage: Usage,
    pub status: KeyStatus,
    /// Whether a policy that is not deleted names it.
    is_named: bool,
    #[sqlx(skip)]
    pub opened: OpeningCount,
    /// How to end its use.
    #[sqlx(skip)]
    pub next: NextStep,
}

/// The keys with an algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlgorithmUse {
    /// All keys.
    pub keys: usize,
    /// Those that are active.
    pub active: usize,
    pub opened: OpeningCount,
}

/// A policy, with what was opened under it.
#[derive(Clone, Debug, FromRow)]
pub struct RemainingPolicy {
    pub id: PolicyId,
    pub policy_number: String,
    pub alg: Alg,
    pub status: PolicyStatus,
    pub is_deleted: bool,
    /// Whether an active one of the keys is the key of its new envelopes.
    pub names_key: bool,
    #[sqlx(skip)]
    pub opened: OpeningCount,
}

/// What remains on the keys that match the filter.
pub async fn remaining(
    context: &Authorized<ReadResources>,
    filter: &RemainingFilter,
) -> Result<Remaining, Error> {
    let pool = &context.pool;
    let today = context.clock.now().start_of_day();
    let from = today.minus(DAY * (DAYS - 1));
    let mut keys = store::keys(pool, filter).await?;
    let ids: Vec<KeyId> = keys.iter().map(|key| key.id).collect();
    let counted_until = summed_up_to(pool).await?;
    let under_all = openings(pool, &ids, None, from).await?;
    for key in &mut keys {
        let last = under_all.keys.get(&key.id).and_then(|opened| opened.last);
        key.next = NextStep::of((key.status, key.is_named), last, counted_until, today);
    }
    let opened = match &filter.policy {
        Some(_) => openings(pool, &ids, filter.policy.as_ref(), from).await?,
        None => under_all,
    };
    let numbers: Vec<&str> = opened.policies.keys().map(String::as_str).collect();
    let policies = store::policies(pool, &ids, &numbers, filter.policy.as_ref()).await?;
    let days = (0..DAYS).map(|day| from.plus(DAY * day));
    let days = days.map(|day| (day, opened.days.get(&day).copied().unwrap_or_default()));
    let days = days.collect();
    Ok(Remaining { counted_until, days, ..gather(keys, policies, &opened) })
}

/// The lists, with what was opened.
fn gather(
    mut keys: Vec<RemainingKey>,
    mut policies: Vec<RemainingPolicy>,
    opened: &Openings,
) -> Remaining {
    for key in &mut keys {
        key.opened = opened.keys.get(&key.id).copied().unwrap_or_default();
    }
    for policy in &mut policies {
        policy.opened = opened.policies.get(&policy.policy_number).copied().unwrap_or_default();
    }
    let callers = opened.callers.iter().map(|(caller, opened)| (*caller, *opened));
    let mut callers: Vec<(ServiceId, OpeningCount)> = callers.collect();
    callers.sort_by_key(|(caller, _)| *caller);
    let (keys_in_all, algorithms) = (keys.len(), algorithms(&keys));
    most_first(&mut keys, |key| key.opened);
    most_first(&mut policies, |policy| policy.opened);
    most_first(&mut callers, |(_, opened)| *opened);
    Remaining { keys_in_all, keys, algorithms, policies, callers, ..Remaining::default() }
}

/// Sorts a list by its openings, keeps the order of equal ones, and limits its length.
fn most_first<T>(list: &mut Vec<T>, opened: impl Fn(&T) -> OpeningCount) {
    list.sort_by_key(|it| {
        let opened = opened(it);
        std::cmp::Reverse((opened.opened, opened.rewrapped))
    });
    list.truncate(LISTED);
}

/// The algorithms of the keys, in the order of their declaration.
fn algorithms(keys: &[RemainingKey]) -> Vec<(Algorithm, AlgorithmUse)> {
    let uses = Algorithm::ALL.into_iter().map(|algorithm| {
        let keys = keys.iter().filter(|key| key.algorithm == algorithm);
        let active = keys.clone().filter(|key| key.status == KeyStatus::Active);
        let uses = AlgorithmUse {
            keys: keys.clone().count(),
            active: active.count(),
            opened: keys.fold(OpeningCount::default(), |sum, key| sum.plus(key.opened)),
        };
        (algorithm, uses)
    });
    uses.filter(|(_, uses)| uses.keys > 0).collect()
}

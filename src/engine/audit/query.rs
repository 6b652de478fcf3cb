//! Queries of the audit log, newest first.

use sqlx::PgConnection;
use uuid::Uuid;

use super::days;
use super::entry::{Entry, EntryFilter};
use super::store;
use crate::db::Pool;
use crate::ids::RecordId;
use crate::seals::Seals;
use crate::segments::{Log, Placed, hash_of};
use formats::clock::Timestamp;

pub async fn entry(db: &Pool, id: RecordId) -> Result<Option<Entry>, sqlx::Error> {
    let Some(found) = store::entry(db, id).await? else {
        return Ok(None);
    };
    let mut connection = db.acquire().await?;
    placed(&mut connection, db.seals(), found).await.map(Some)
}

/// The entry with its position, compared with the hash there.
async fn placed(
    connection: &mut PgConnection,
    seals: &Seals,
    found: Placed<Entry>,
) -> sqlx::Result<Entry> {
    let own = hash_of(Log::Operations, &found.row);
    let record = (Log::Operations, found.row.id.uuid());
    let placement = found.placement(connection, seals, record, own).await?;
    Ok(found.row.placed(placement))
}

/// The entries with these times and ids, in any order and without their positions. Those that do not exist are left out.
pub(crate) async fn entries_named(
    connection: &mut PgConnection,
    names: &[(Timestamp, Uuid)],
) -> Result<Vec<Entry>, sqlx::Error> {
    store::entries_named(connection, names).await
}

/// The newest `limit` entries that match the filter and are older than `older_than`.
pub async fn entries(
    db: &Pool,
    now: Timestamp,
    filter: &EntryFilter,
    older_than: Option<RecordId>,
    limit: i64,
) -> Result<Vec<Entry>, sqlx::Error> {
    let (pool, filter) = (db.clone(), filter.clone());
    db.read_slowly(async move {
        let mut found = Vec::new();
        for range in time_ranges(&filter, now, older_than) {
            let missing = limit.saturating_sub_unsigned(found.len() as u64);
            if missing == 0 {
                break;
            }
            let read = store::entries(&pool, &range, older_than, missing).await?;
            let mut connection = pool.acquire().await?;
            for entry in read {
                found.push(placed(&mut connection, pool.seals(), entry).await?);
            }
        }
        Ok(found)
    })
    .await
}

/// The executed plans of [`entries`] for all ranges of time, line by line.
pub async fn plan(
    db: &Pool,
    now: Timestamp,
    filter: &EntryFilter,
    older_than: Option<RecordId>,
    limit: i64,
) -> Result<Vec<String>, sqlx::Error> {
    let mut plan = Vec::new();
    for range in time_ranges(filter, now, older_than) {
        plan.extend(store::plan(db, &range, older_than, limit).await?);
    }
    Ok(plan)
}

/// How many closed days each range has, newest first; the last range has all others.
const RANGE_DAYS: [u32; 5] = [1, 2, 4, 8, 16];

/// The filter, split into ranges of time, newest first.
///
/// Open days form a range of their own because they have fewer indexes. Closed days form ranges that
/// grow: within a few days Postgres uses any index and sorts, but over all days it would scan in the
/// order of time, which reads everything for a rare value.
fn time_ranges(
    filter: &EntryFilter,
    now: Timestamp,
    older_than: Option<RecordId>,
) -> impl Iterator<Item = EntryFilter> {
    let open = days::oldest_open(now);
    let last = older_than.map(RecordId::created_at);
    let newest_closed = [filter.to, last].into_iter().flatten().fold(open, Ord::min);
    let mut edge = newest_closed.start_of_day();
    let closed = RANGE_DAYS.map(|days| {
        edge = edge.minus(days::DAY * days);
        Some(edge)
    });
    let begins = [Some(open), Some(newest_closed.start_of_day())];
    let begins = begins.into_iter().chain(closed).chain([None]);
    let mut end = None;
    begins.filter_map(move |begin| {
        let to = [filter.to, end].into_iter().flatten().min();
        let from = filter.from.max(begin);
        end = begin;
        let is_empty = from.is_some_and(|from| {
            to.is_some_and(|to| to <= from) || last.is_some_and(|last| last < from)
        });
        (!is_empty).then(|| EntryFilter { from, to, ..filter.clone() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// The ranges as text.
    fn shown(filter: &EntryFilter, older_than: Option<RecordId>) -> Vec<String> {
        let shown = |it: Option<Timestamp>| it.map_or("…".to_owned(), |it| it.to_string());
        time_ranges(filter, at("2030-03-31T12:00:00Z"), older_than)
            .map(|it| {
                format!("{} to {}", shown(it.from), shown(it.to)).replace("T00:00:00.000Z", "")
            })
            .collect()
    }

    #[test]
    fn ranges_cover_the_time_backwards_without_gaps() {
        assert_eq!(
            shown(&EntryFilter::default(), None),
            [
                "2030-03-31 to …",
                "2030-03-30 to 2030-03-31",
                "2030-03-28 to 2030-03-30",
                "2030-03-24 to 2030-03-28",
                "2030-03-16 to 2030-03-24",
                "2030-02-28 to 2030-03-16",
                "… to 2030-02-28",
            ]
        );
    }

    #[test]
    fn no_range_exceeds_the_filter_or_repeats_a_page() {
        let filter = EntryFilter {
            from: Some(at("2030-03-28T08:00:00Z")),
            to: Some(at("2030-03-29T09:00:00Z")),
            ..EntryFilter::default()
        };
        let today_and_before =
            ["2030-03-29 to 2030-03-29T09:00:00.000Z", "2030-03-28T08:00:00.000Z to 2030-03-29"];
        assert_eq!(shown(&filter, None), today_and_before);
        let millis = at("2030-03-28T23:59:00Z").as_millis();
        let last = RecordId::from_uuid(Uuid::from_u128(u128::try_from(millis).unwrap() << 80));
        assert_eq!(
            shown(&filter, Some(last)),
            ["2030-03-28T08:00:00.000Z to 2030-03-29T09:00:00.000Z"]
        );
    }

    #[test]
    fn edges_belong_to_the_later_range() {
        let midnight = at("2030-03-30T00:00:00Z");
        let to = EntryFilter { to: Some(midnight), ..EntryFilter::default() };
        assert_eq!(shown(&to, None)[0], "2030-03-29 to 2030-03-30");
        let last = u128::try_from(midnight.as_millis()).unwrap() << 80;
        let last = RecordId::from_uuid(Uuid::from_u128(last));
        assert_eq!(shown(&EntryFilter::default(), Some(last))[0], "2030-03-30 to 2030-03-31");
        let from = EntryFilter { from: Some(at("2031-01-01T00:00:00Z")), ..EntryFilter::default() };
        assert_eq!(shown(&from, None), ["2031-01-01 to …"]);
    }

    #[test]
    fn yesterday_stays_open_for_an_hour() {
        let any = EntryFilter::default();
        let newest = time_ranges(&any, at("2030-03-31T00:30:00Z"), None).next();
        assert_eq!(newest.unwrap().from, Some(at("2030-03-30T00:00:00Z")));
    }
}

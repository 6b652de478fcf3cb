//! Reading the trail, newest first.

use sqlx::PgPool;
use utoipa::IntoParams;

use super::days;
use super::entry::Entry;
use super::record::OperationType;
use super::store;
use crate::clock::Timestamp;
use crate::ids::{KeyId, RecordId, ServiceId};

/// Which entries are asked for; what is `None` does not matter.
#[derive(Clone, Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct Filter {
    /// The client's name for the request.
    pub request_id: Option<String>,
    /// The calling service.
    pub application_id: Option<ServiceId>,
    /// What was asked for.
    pub operation_type: Option<OperationType>,
    /// The HTTP status of the answer.
    #[param(minimum = 100, maximum = 599)]
    pub status: Option<i16>,
    /// The policy's number at the time.
    pub policy_number: Option<String>,
    /// The key that was used, or was to be.
    pub key_id: Option<KeyId>,
    /// From this moment on.
    pub from: Option<Timestamp>,
    /// Before this moment.
    pub to: Option<Timestamp>,
}

/// One entry, if there is such a one.
///
/// # Errors
/// The database could not be asked.
pub async fn entry(db: &PgPool, id: RecordId) -> Result<Option<Entry>, sqlx::Error> {
    store::entry(db, id).await
}

/// The newest `limit` entries that fit the filter and are older than the one named.
///
/// # Errors
/// The database could not be asked.
pub async fn entries(
    db: &PgPool,
    now: Timestamp,
    filter: &Filter,
    older_than: Option<RecordId>,
    limit: i64,
) -> Result<Vec<Entry>, sqlx::Error> {
    let mut found = Vec::new();
    for stretch in stretches(filter, now, older_than) {
        let missing = limit.saturating_sub_unsigned(found.len() as u64);
        if missing == 0 {
            break;
        }
        found.extend(store::entries(db, &stretch, older_than, missing).await?);
    }
    Ok(found)
}

/// How Postgres finds what fits in each stretch, also in those that [`entries`] would not come to, with
/// the time that it took: line by line, for people.
///
/// # Errors
/// The database could not be asked.
pub async fn plan(
    db: &PgPool,
    now: Timestamp,
    filter: &Filter,
    older_than: Option<RecordId>,
    limit: i64,
) -> Result<Vec<String>, sqlx::Error> {
    let mut plan = Vec::new();
    for stretch in stretches(filter, now, older_than) {
        plan.extend(store::plan(db, &stretch, older_than, limit).await?);
    }
    Ok(plan)
}

/// The closed days that are asked at a time, from the newest to the oldest; then all the others.
const DAYS_AT_A_TIME: [u32; 5] = [1, 2, 4, 8, 16];

/// The same filter over one stretch of time after the other, newest first.
///
/// Days that are being written are by themselves, for they have other indexes. Closed ones are asked
/// more and more at a time: what fits in one day Postgres may gather by any index and sort, where over
/// all of them it would walk in the order of time, which for a rare value is a walk through everything.
fn stretches(
    filter: &Filter,
    now: Timestamp,
    older_than: Option<RecordId>,
) -> impl Iterator<Item = Filter> {
    let open = days::oldest_open(now);
    let last = older_than.map(RecordId::made_at);
    let newest_closed = [filter.to, last].into_iter().flatten().fold(open, Ord::min);
    let mut edge = newest_closed.start_of_day();
    let closed = DAYS_AT_A_TIME.map(|days| {
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
        (!is_empty).then(|| Filter {
            from,
            to,
            ..filter.clone()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// The stretches, each as where it begins and ends.
    fn told(filter: &Filter, older_than: Option<RecordId>) -> Vec<String> {
        let told = |it: Option<Timestamp>| it.map_or("…".to_owned(), |it| it.to_string());
        stretches(filter, at("2030-03-31T12:00:00Z"), older_than)
            .map(|it| format!("{} to {}", told(it.from), told(it.to)).replace("T00:00:00.000Z", ""))
            .collect()
    }

    #[test]
    fn time_is_covered_without_gaps_from_now_backwards() {
        assert_eq!(
            told(&Filter::default(), None),
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
    fn no_stretch_lies_beyond_the_filter_or_where_the_last_page_was() {
        let filter = Filter {
            from: Some(at("2030-03-28T08:00:00Z")),
            to: Some(at("2030-03-29T09:00:00Z")),
            ..Filter::default()
        };
        let today_and_before = [
            "2030-03-29 to 2030-03-29T09:00:00.000Z",
            "2030-03-28T08:00:00.000Z to 2030-03-29",
        ];
        assert_eq!(told(&filter, None), today_and_before);
        let millis = at("2030-03-28T23:59:00Z").as_millis();
        let last =
            RecordId::from_uuid(uuid::Uuid::from_u128(u128::try_from(millis).unwrap() << 80));
        assert_eq!(
            told(&filter, Some(last)),
            ["2030-03-28T08:00:00.000Z to 2030-03-29T09:00:00.000Z"]
        );
    }

    #[test]
    fn edges_belong_to_the_later_stretch() {
        let midnight = at("2030-03-30T00:00:00Z");
        let to = Filter {
            to: Some(midnight),
            ..Filter::default()
        };
        assert_eq!(told(&to, None)[0], "2030-03-29 to 2030-03-30");
        let last = u128::try_from(midnight.as_millis()).unwrap() << 80;
        let last = RecordId::from_uuid(uuid::Uuid::from_u128(last));
        assert_eq!(
            told(&Filter::default(), Some(last))[0],
            "2030-03-30 to 2030-03-31"
        );
        let from = Filter {
            from: Some(at("2031-01-01T00:00:00Z")),
            ..Filter::default()
        };
        assert_eq!(told(&from, None), ["2031-01-01 to …"]);
    }

    #[test]
    fn yesterday_is_open_for_an_hour() {
        let any = Filter::default();
        let newest = stretches(&any, at("2030-03-31T00:30:00Z"), None).next();
        assert_eq!(newest.unwrap().from, Some(at("2030-03-30T00:00:00Z")));
    }
}

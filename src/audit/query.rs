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
    /// The key that was used.
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
/// Days that are being written have other indexes than closed ones. They are asked by themselves,
/// since for all days at once Postgres plans as if the page were filled from closed ones.
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
    for part in parts(filter, now, older_than) {
        let missing = limit.saturating_sub_unsigned(found.len() as u64);
        if missing > 0 {
            found.extend(store::entries(db, &part, older_than, missing).await?);
        }
    }
    Ok(found)
}

/// How Postgres finds what [`entries`] gives, with the time that it took: line by line, for people.
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
    for part in parts(filter, now, older_than) {
        plan.extend(store::plan(db, &part, older_than, limit).await?);
    }
    Ok(plan)
}

/// What is asked for of the days that are being written, and of those that are closed.
fn parts(
    filter: &Filter,
    now: Timestamp,
    older_than: Option<RecordId>,
) -> impl Iterator<Item = Filter> + use<> {
    let open = days::oldest_open(now);
    let has_written =
        filter.to.is_none_or(|to| to > open) && older_than.is_none_or(|id| id.made_at() >= open);
    let has_closed = filter.from.is_none_or(|from| from < open);
    let written = has_written.then(|| Filter {
        from: filter.from.max(Some(open)),
        ..filter.clone()
    });
    let closed = has_closed.then(|| Filter {
        to: Some(filter.to.map_or(open, |to| to.min(open))),
        ..filter.clone()
    });
    written.into_iter().chain(closed)
}

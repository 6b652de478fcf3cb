//! Reading the trail, newest first.

use sqlx::PgPool;
use utoipa::IntoParams;

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
/// # Errors
/// The database could not be asked.
pub async fn entries(
    db: &PgPool,
    filter: &Filter,
    older_than: Option<RecordId>,
    limit: i64,
) -> Result<Vec<Entry>, sqlx::Error> {
    store::entries(db, filter, older_than, limit).await
}

/// How Postgres finds what [`entries`] gives, with the time that it took: line by line, for people.
///
/// # Errors
/// The database could not be asked.
pub async fn plan(
    db: &PgPool,
    filter: &Filter,
    older_than: Option<RecordId>,
    limit: i64,
) -> Result<Vec<String>, sqlx::Error> {
    store::plan(db, filter, older_than, limit).await
}

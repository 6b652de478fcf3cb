//! Sessions in the database.

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::{Holder, SessionDigest};
use crate::auth::{Administrator, ApiKey};
use crate::db::{Pool, sql};
use crate::ids::{ApiKeyId, PersonId, SessionId};
use crate::resource::{self, Deprivable, Rows, select};
use crate::revision::Revision;
use crate::row;
use formats::clock::Timestamp;

row! {
    /// A session. Its row never changes, except the time of its last use, which the seal does not cover.
    pub(crate) struct Session(SessionId) in "dashboard_sessions", kept: false {
        digest: SessionDigest;
        api_key_id: Option<ApiKeyId>;
        person_id: Option<PersonId>;
        started_at: Timestamp;
    }
}

impl Deprivable for Session {}

/// The identifier of the session with this digest.
fn id_of(digest: &SessionDigest) -> SessionId {
    let first = digest.first_chunk().copied();
    SessionId::from_uuid(Uuid::from_bytes(first.unwrap_or_default()))
}

pub(super) async fn insert(
    mut rows: Rows<&mut PgConnection>,
    digest: SessionDigest,
    administrator: &Administrator,
    now: Timestamp,
) -> sqlx::Result<()> {
    let session = Session {
        id: id_of(&digest),
        digest,
        api_key_id: administrator.api_key_id(),
        person_id: administrator.person().map(|person| person.id()),
        started_at: now,
        revision: Revision::FIRST,
    };
    resource::insert(rows.again(), &session).await?;
    use_at(rows.executor, session.id, now).await
}

/// Notes a use of a session.
async fn use_at(database: impl PgExecutor<'_>, id: SessionId, now: Timestamp) -> sqlx::Result<()> {
    let used = "UPDATE dashboard_sessions SET seen_at = greatest(seen_at, $2) WHERE id = $1";
    sqlx::query(used).bind(id).bind(now).execute(database).await?;
    Ok(())
}

/// Records the use of a valid session and returns its holder.
pub(super) async fn touch(
    database: &Pool,
    digest: SessionDigest,
    now: Timestamp,
    idle_since: Timestamp,
    began: Timestamp,
) -> sqlx::Result<Option<Holder>> {
    let Some(session) = valid(database, digest, idle_since, began).await? else {
        return Ok(None);
    };
    use_at(database, session.id, now).await?;
    Ok(match (session.api_key_id, session.person_id) {
        (Some(id), _) => {
            let api_key = select::<ApiKey>("WHERE id = $1").bind(id);
            let api_key = api_key.fetch_optional(database.rows()).await?;
            api_key.map(|api_key| Holder::Key(api_key.digest))
        }
        (None, person) => person.map(Holder::Person),
    })
}

/// Whether a session is valid. This is no use of it.
pub(super) async fn is_valid(
    database: &Pool,
    digest: SessionDigest,
    idle_since: Timestamp,
    began: Timestamp,
) -> sqlx::Result<bool> {
    Ok(valid(database, digest, idle_since, began).await?.is_some())
}

async fn valid(
    database: &Pool,
    digest: SessionDigest,
    idle_since: Timestamp,
    began: Timestamp,
) -> sqlx::Result<Option<Session>> {
    select("WHERE digest = $1 AND seen_at > $2 AND started_at > $3")
        .bind(digest)
        .bind(idle_since)
        .bind(began)
        .fetch_optional(database.rows())
        .await
}

/// Notes the end of sessions, so that nobody puts their rows back. Where there is a later entry already, the
/// row does not count either.
const NOTED: &str = " RETURNING id, revision)
    INSERT INTO revisions (table_name, id, revision, what)
    SELECT 'dashboard_sessions', id, revision + 1, 'gone' FROM ended ON CONFLICT DO NOTHING";

pub(super) async fn delete(
    database: impl PgExecutor<'_>,
    digest: SessionDigest,
) -> sqlx::Result<()> {
    let end = "WITH ended AS (DELETE FROM dashboard_sessions WHERE digest = $1";
    sqlx::query(sql([end, NOTED])).bind(digest).execute(database).await?;
    Ok(())
}

/// Deletes expired sessions.
pub(super) async fn sweep(
    database: impl PgExecutor<'_>,
    idle_since: Timestamp,
    began: Timestamp,
) -> sqlx::Result<()> {
    let end =
        "WITH ended AS (DELETE FROM dashboard_sessions WHERE seen_at <= $1 OR started_at <= $2";
    sqlx::query(sql([end, NOTED])).bind(idle_since).bind(began).execute(database).await?;
    Ok(())
}

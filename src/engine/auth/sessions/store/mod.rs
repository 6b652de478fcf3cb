//! Sessions in the database.

mod logouts;

use std::sync::Arc;
use std::time::Duration;

use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use super::{Holder, NewSession, SessionDigest};
use crate::auth::oidc::Logout;
use crate::auth::{ApiKey, Person, people};
use crate::db::{Pool, sql};
use crate::ids::{ApiKeyId, PersonId, SessionId};
use crate::resource::{self, Deprivable, Rows, select};
use crate::revision::Revision;
use crate::row;
use crate::seals::SealComparison;
use formats::clock::Timestamp;

row! {
    /// A session. Its row never changes, except the time of its last use, which the seal does not cover.
    pub(crate) struct Session(SessionId) in "dashboard_sessions", kept: false {
        digest: SessionDigest;
        api_key_id: Option<ApiKeyId>;
        person_id: Option<PersonId>;
        at_provider: Option<String>;
        checked_at: Timestamp;
        started_at: Timestamp;
    }
}

impl Deprivable for Session {
    /// Its digest is that of a cookie that somebody else can have.
    fn resealed(self, _comparison: SealComparison) -> Option<Self> {
        None
    }
}

/// The identifier of the session with this digest.
fn id_of(digest: &SessionDigest) -> SessionId {
    let first = digest.first_chunk().copied();
    SessionId::from_uuid(Uuid::from_bytes(first.unwrap_or_default()))
}

pub(in crate::auth::sessions) async fn insert(
    mut rows: Rows<&mut PgConnection>,
    session: NewSession<'_>,
    started_at: Timestamp,
    now: Timestamp,
) -> sqlx::Result<()> {
    let session = Session {
        id: id_of(&session.digest),
        digest: session.digest,
        api_key_id: session.administrator.api_key_id(),
        person_id: session.administrator.person().map(|person| person.id()),
        at_provider: session.at_provider.map(str::to_owned),
        checked_at: now,
        started_at,
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
pub(in crate::auth::sessions) async fn touch(
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
    holder(database, &session).await
}

/// Who holds a session. None after a lock of the person or a logout, whatever became of the row meanwhile.
async fn holder(database: &Pool, session: &Session) -> sqlx::Result<Option<Holder>> {
    if let Some(id) = session.api_key_id {
        let api_key = select::<ApiKey>("WHERE id = $1").bind(id);
        let Some(api_key) = api_key.fetch_optional(database.rows()).await? else {
            return Ok(None);
        };
        if let Some(person) = &api_key.person {
            let mut connection = database.acquire().await?;
            let rows = database.rows_on(&mut connection);
            if people::was_cut_off(rows, person, session.started_at).await? {
                return Ok(None);
            }
        }
        return Ok(Some(Holder::Key(api_key.digest)));
    }
    let person = select::<Person>("WHERE id = $1").bind(session.person_id);
    let person = person.fetch_optional(database.rows()).await?;
    let Some(person) = person.filter(|person| !person.was_locked_since(session.started_at)) else {
        return Ok(None);
    };
    let at_provider = session.at_provider.as_deref();
    if logouts::ended(database, &person, at_provider, session.started_at).await? {
        return Ok(None);
    }
    Ok(Some(Holder::Person(Arc::new(person), session.checked_at)))
}

/// Whether a session is valid, and its person not locked. This is no use of it.
pub(in crate::auth::sessions) async fn is_valid(
    database: &Pool,
    digest: SessionDigest,
    idle_since: Timestamp,
    began: Timestamp,
) -> sqlx::Result<bool> {
    Ok(match valid(database, digest, idle_since, began).await? {
        Some(session) => holder(database, &session).await?.is_some(),
        None => false,
    })
}

/// The session with this digest, if it is valid.
pub(in crate::auth::sessions) async fn valid(
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

/// Notes the end of sessions, so that nobody puts their rows back. A row without an entry never counted. If another instance
/// adds the same entry meanwhile, one is enough.
const NOTED: &str = " RETURNING id)
    INSERT INTO revisions (table_name, id, revision, what)
    SELECT table_name, id, max(revision) + 1, 'gone' FROM revisions JOIN ended USING (id)
     WHERE table_name = 'dashboard_sessions' GROUP BY table_name, id ON CONFLICT DO NOTHING";

/// Ends a session, also one whose row is missing: somebody with a login of the database could put it back. The row of one
/// that has ended already does not count.
pub(in crate::auth::sessions) async fn delete(
    database: impl PgExecutor<'_>,
    digest: SessionDigest,
) -> sqlx::Result<()> {
    let end = "WITH ended AS (DELETE FROM dashboard_sessions WHERE id = $1)
        INSERT INTO revisions (table_name, id, revision, what)
        SELECT table_name, id, max(revision) + 1, 'gone' FROM revisions
         WHERE table_name = 'dashboard_sessions' AND id = $1
         GROUP BY table_name, id HAVING (array_agg(what ORDER BY revision DESC))[1] <> 'gone'
        ON CONFLICT DO NOTHING";
    sqlx::query(end).bind(id_of(&digest)).execute(database).await?;
    Ok(())
}

/// Deletes expired sessions.
pub(in crate::auth::sessions) async fn sweep(
    database: impl PgExecutor<'_>,
    idle_since: Timestamp,
    began: Timestamp,
) -> sqlx::Result<()> {
    let end =
        "WITH ended AS (DELETE FROM dashboard_sessions WHERE seen_at <= $1 OR started_at <= $2";
    sqlx::query(sql([end, NOTED])).bind(idle_since).bind(began).execute(database).await?;
    Ok(())
}

/// Ends the sessions of a person and of the keys that name them.
pub(crate) async fn end_of_person(
    database: impl PgExecutor<'_>,
    person: &Person,
) -> sqlx::Result<()> {
    let end = "WITH ended AS (
        DELETE FROM dashboard_sessions
         WHERE person_id = $1 OR api_key_id IN (SELECT id FROM api_keys WHERE person = $2)";
    sqlx::query(sql([end, NOTED])).bind(person.id).bind(&person.subject).execute(database).await?;
    Ok(())
}

/// How long the tokens of logouts are remembered. That is longer than they count, also by clocks that differ.
const KEPT: Duration = Duration::from_secs(60 * 60);

/// Ends the sessions of a logout, and returns their number. None if its token was used before.
pub(in crate::auth::sessions) async fn log_out(
    database: &Pool,
    logout: &Logout,
    now: Timestamp,
) -> sqlx::Result<Option<u64>> {
    let mut transaction = database.begin().await?;
    let first = sqlx::query(
        "WITH forgotten AS (DELETE FROM finished_logouts WHERE finished_at < $3)
         INSERT INTO finished_logouts (token_digest, finished_at) VALUES ($1, $2)
         ON CONFLICT DO NOTHING",
    )
    .bind(logout.token.as_slice())
    .bind(now)
    .bind(now.minus(KEPT))
    .execute(&mut *transaction)
    .await?;
    if first.rows_affected() == 0 {
        return Ok(None);
    }
    logouts::note(&mut transaction, logout, now).await?;
    // A session that names none at the provider can be the one of the logout.
    let end = "WITH ended AS (
        DELETE FROM dashboard_sessions
         WHERE person_id IN (SELECT id FROM people
                              WHERE issuer = $1 AND ($2::text IS NULL OR subject = $2))
           AND ($3::text IS NULL OR at_provider = $3 OR ($2 IS NOT NULL AND at_provider IS NULL))";
    let ended = sqlx::query(sql([end, NOTED]))
        .bind(&logout.issuer)
        .bind(&logout.subject)
        .bind(&logout.session)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(Some(ended.rows_affected()))
}

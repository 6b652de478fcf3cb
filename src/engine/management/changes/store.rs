//! Changes that need approval, in the database.

use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use sqlx::{FromRow, PgConnection, PgExecutor, Row as _};
use uuid::Uuid;

use super::call::StoredRequest;
use super::filter::ChangeFilter;
use super::proposal::{Approval, ChangeStatus, Proposal, Proposer, Target};
use crate::auth::{ApiKey, Role, Roles};
use crate::db::sql;
use crate::ids::ChangeId;
use crate::management::{Error, PageRequest, ResourceType};
use crate::resource::{Columns, Rows, select};
use crate::revision::Revision;
use formats::clock::Timestamp;

/// The start of a query of changes; `$1` is the present.
const SELECT: &str = "SELECT id, kinds, summary, resource_type, resource_id, target_id, target_revision,
                             before, after, proposer_key, proposer_id, proposer_person, proposer_name,
                             proposed_at, expires_at, required, approvals, approver_ids, rejection, revision,
                             CASE WHEN status = 'pending' AND expires_at <= $1 THEN 'expired' ELSE status END
                                 AS status
                        FROM changes ";

pub(super) async fn list(
    database: impl PgExecutor<'_>,
    now: Timestamp,
    filter: &ChangeFilter,
    page: PageRequest,
) -> sqlx::Result<Vec<Proposal>> {
    sqlx::query_as(sql([
        SELECT,
        "WHERE ($2::uuid IS NULL OR id > $2)
            AND ($3::text IS NULL
                 OR $3 = CASE WHEN status = 'pending' AND expires_at <= $1 THEN 'expired' ELSE status END)
            AND ($4::text IS NULL OR $4 = ANY (kinds))
          ORDER BY id
          LIMIT $5",
    ]))
    .bind(now)
    .bind(page.after())
    .bind(filter.status)
    .bind(filter.action)
    .bind(page.rows())
    .fetch_all(database)
    .await
}

pub(super) async fn read(
    database: impl PgExecutor<'_>,
    now: Timestamp,
    id: ChangeId,
) -> sqlx::Result<Option<Proposal>> {
    sqlx::query_as(sql([SELECT, "WHERE id = $2"])).bind(now).bind(id).fetch_optional(database).await
}

/// The use case of a change.
pub(super) async fn call(
    database: impl PgExecutor<'_>,
    id: ChangeId,
) -> sqlx::Result<StoredRequest> {
    let call: Json<StoredRequest> = sqlx::query_scalar("SELECT call FROM changes WHERE id = $1")
        .bind(id)
        .fetch_one(database)
        .await?;
    Ok(call.0)
}

/// Reads a change. Other decisions about it wait until the transaction ends.
pub(super) async fn lock(
    connection: &mut PgConnection,
    now: Timestamp,
    id: ChangeId,
) -> sqlx::Result<Option<Proposal>> {
    sqlx::query_as(sql([SELECT, "WHERE id = $2 FOR UPDATE"]))
        .bind(now)
        .bind(id)
        .fetch_optional(connection)
        .await
}

/// Inserts a proposal. It has no decisions yet, so the other columns keep their defaults.
pub(in crate::management) async fn insert(
    connection: &mut PgConnection,
    proposal: &Proposal,
    call: &StoredRequest,
) -> sqlx::Result<()> {
    let by = &proposal.proposed_by;
    Columns::default()
        .with("id", proposal.id)
        .with("kinds", &proposal.action)
        .with("summary", &proposal.summary)
        .with("resource_type", proposal.resource_type)
        .with("target_id", proposal.target.map(|target| target.id))
        .with("target_revision", proposal.target.map(|target| target.revision))
        .with("before", &proposal.before)
        .with("after", &proposal.after)
        .with("call", Json(call.clone()))
        .with("proposer_key", by.api_key_id)
        .with("proposer_id", by.person_id)
        .with("proposer_person", &by.person)
        .with("proposer_name", &by.name)
        .with("proposed_at", proposal.proposed_at)
        .with("expires_at", proposal.expires_at)
        .with("required", proposal.required)
        .with("status", proposal.status)
        .with("revision", proposal.revision)
        .insert(connection, "changes")
        .await
}

/// Writes a decision.
pub(super) async fn save(
    connection: &mut PgConnection,
    now: Timestamp,
    before: &Proposal,
    after: &Proposal,
    resource: Option<Uuid>,
) -> Result<(), Error> {
    let done = sqlx::query(
        "UPDATE changes SET status = $3, approvals = $4, approver_ids = $5, rejection = $6,
                            resource_id = $7, revision = $8, required = $10
          WHERE id = $1 AND revision = $2 AND status = 'pending' AND expires_at > $9",
    )
    .bind(before.id)
    .bind(before.revision)
    .bind(after.status)
    .bind(Json(&after.approvals))
    .bind(&after.approver_ids)
    .bind(after.rejection.as_ref().map(Json))
    .bind(resource)
    .bind(after.revision)
    .bind(now)
    .bind(after.required)
    .execute(connection)
    .await?;
    if done.rows_affected() == 1 {
        return Ok(());
    }
    let message = "the change was decided or expired in the meantime";
    Err(Error::Conflict(message.to_owned()))
}

/// Marks the pending changes of these resources as stale, because the resources change.
pub(in crate::management) async fn make_stale(
    connection: &mut PgConnection,
    resources: &[Uuid],
) -> sqlx::Result<()> {
    sqlx::query(
        "UPDATE changes SET status = 'stale', revision = revision + 1
          WHERE status = 'pending' AND target_id = ANY ($1)",
    )
    .bind(resources)
    .execute(connection)
    .await?;
    Ok(())
}

/// The people who may know these API keys besides their own people.
pub(super) async fn known_to(
    rows: Rows<&mut PgConnection>,
    ids: &[Option<Uuid>],
) -> sqlx::Result<Vec<String>> {
    let known = select::<ApiKey>("WHERE id = ANY ($1)").bind(ids).fetch_all(rows).await?;
    Ok(known.into_iter().flat_map(|api_key| api_key.known_to).collect())
}

/// Whether one of these people is known only by access tokens and another only by ID tokens. They can be
/// one person.
pub(super) async fn can_be_one(
    database: impl PgExecutor<'_>,
    people: &[String],
) -> sqlx::Result<bool> {
    sqlx::query_scalar(
        "SELECT coalesce(bool_or(NOT by_access_token) AND bool_or(NOT by_id_token), false)
           FROM people WHERE subject = ANY ($1)",
    )
    .bind(people)
    .fetch_one(database)
    .await
}

/// Those of these valid API keys and people that have a role of each of these lists.
pub(super) async fn with_roles(
    mut rows: Rows<&mut PgConnection>,
    ids: &[Option<Uuid>],
    lists: &[&[Role]],
    now: Timestamp,
) -> sqlx::Result<Vec<Uuid>> {
    let api_keys = select::<ApiKey>("WHERE id = ANY ($1)").bind(ids).fetch_all(rows.again());
    let api_keys = api_keys.await?.into_iter().filter(|api_key| api_key.is_active_at(now));
    let mut holders: Vec<(Uuid, Roles)> =
        api_keys.map(|api_key| (api_key.id.uuid(), api_key.roles)).collect();
    let people = sqlx::query_as("SELECT id, roles FROM people WHERE id = ANY ($1)").bind(ids);
    let people: Vec<(Uuid, Roles)> = people.fetch_all(rows.executor).await?;
    holders.extend(people);
    let able = holders.into_iter().filter(|(_, roles)| lists.iter().all(|list| roles.meet(list)));
    Ok(able.map(|(id, _)| id).collect())
}

/// How many changes are pending, and when the oldest was proposed.
pub(super) async fn backlog(
    database: impl PgExecutor<'_>,
    now: Timestamp,
) -> sqlx::Result<(i64, Option<Timestamp>)> {
    sqlx::query_as(
        "SELECT count(*), min(proposed_at) FROM changes WHERE status = 'pending' AND expires_at > $1",
    )
    .bind(now)
    .fetch_one(database)
    .await
}

/// How many different people have one of these roles, by a valid admin key or by their last sign-in.
pub(super) async fn people(
    database: impl PgExecutor<'_>,
    roles: &[Role],
    now: Timestamp,
) -> sqlx::Result<i64> {
    sqlx::query_scalar(
        "SELECT count(DISTINCT person) FROM (
             SELECT person FROM api_keys
              WHERE roles && $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
              UNION ALL
             SELECT subject FROM people WHERE roles && $1 AND is_confirmed) AS able",
    )
    .bind(roles)
    .bind(now)
    .fetch_one(database)
    .await
}

/// The people of valid admin keys who are not known by a token of this issuer.
pub(super) async fn unknown_people(
    database: impl PgExecutor<'_>,
    now: Timestamp,
    issuer: &str,
) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar(
        "SELECT DISTINCT person FROM api_keys
          WHERE person IS NOT NULL AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)
            AND NOT EXISTS (SELECT FROM people
                             WHERE issuer = $2 AND subject = api_keys.person AND is_confirmed)
          ORDER BY person",
    )
    .bind(now)
    .bind(issuer)
    .fetch_all(database)
    .await
}

impl FromRow<'_, PgRow> for Proposal {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let resource_type: ResourceType = row.try_get("resource_type")?;
        let resource: Option<Uuid> = row.try_get("resource_id")?;
        let target: Option<Uuid> = row.try_get("target_id")?;
        let revision: Option<Revision> = row.try_get("target_revision")?;
        let before: Option<Json<Value>> = row.try_get("before")?;
        let after: Option<Json<Value>> = row.try_get("after")?;
        let Json(approvals) = row.try_get::<Json<Vec<Approval>>, _>("approvals")?;
        let rejection: Option<Json<Approval>> = row.try_get("rejection")?;
        let status: ChangeStatus = row.try_get("status")?;
        Ok(Self {
            id: row.try_get("id")?,
            action: row.try_get("kinds")?,
            summary: row.try_get("summary")?,
            resource_type,
            resource_id: resource.and_then(|id| resource_type.id(id)),
            proposed_by: Proposer {
                person: row.try_get("proposer_person")?,
                api_key_id: row.try_get("proposer_key")?,
                person_id: row.try_get("proposer_id")?,
                name: row.try_get("proposer_name")?,
            },
            proposed_at: row.try_get("proposed_at")?,
            expires_at: row.try_get("expires_at")?,
            required: row.try_get("required")?,
            approvals,
            rejection: rejection.map(|Json(rejection)| rejection),
            status,
            before: before.map(|Json(state)| state),
            after: after.map(|Json(state)| state),
            approver_ids: row.try_get("approver_ids")?,
            target: target.zip(revision).map(|(id, revision)| Target { id, revision }),
            revision: row.try_get("revision")?,
        })
    }
}

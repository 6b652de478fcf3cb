//! Changes that need approval, in the database.

mod participants;

use serde_json::Value;
use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

pub(in crate::management::changes) use self::participants::{
    can_be_one, known_to, people, unknown_people, with_roles,
};
use super::call::StoredRequest;
use super::filter::ChangeFilter;
use super::proposal::{Approval, ChangeStatus, Proposal, Proposer, Target};
use crate::auth::Person;
use crate::change_kind::ChangeKind;
use crate::ids::{ApiKeyId, ChangeId, PersonId};
use crate::management::{Error, PageRequest, ResourceType};
use crate::resource::{self, Deprivable, ExactJson, Marked, Rows, Stored as _, select};
use crate::revision::Revision;
use crate::row;
use crate::seals::{SealComparison, What};
use formats::clock::Timestamp;

row! {
    /// A change and its use case.
    pub(crate) struct StoredChange(ChangeId) in "changes", kept: true {
        kinds: Vec<ChangeKind>;
        summary: String;
        resource_type: ResourceType;
        resource_id: Option<Uuid>;
        target_id: Option<Uuid>;
        target_revision: Option<Revision>;
        before: Option<Value>;
        after: Option<Value>;
        call: ExactJson<StoredRequest>;
        proposer_key: Option<ApiKeyId>;
        proposer_id: Option<PersonId>;
        proposer_person: Option<String>;
        proposer_name: String;
        proposed_at: Timestamp;
        expires_at: Timestamp;
        required: i32;
        approvals: ExactJson<Vec<Approval>>;
        approver_ids: Vec<Option<Uuid>>;
        rejection: Option<ExactJson<Approval>>;
        status: ChangeStatus;
    }
}

impl Deprivable for StoredChange {
    /// Nobody sees the call that approvals would carry out.
    fn resealed(self, _comparison: SealComparison) -> Option<Self> {
        let is_pending = self.status == ChangeStatus::Pending;
        Some(if is_pending { Self { status: ChangeStatus::Stale, ..self } } else { self })
    }
}

pub(in crate::management::changes) async fn list(
    mut rows: Rows<&mut PgConnection>,
    now: Timestamp,
    filter: &ChangeFilter,
    page: PageRequest,
) -> sqlx::Result<Vec<Proposal>> {
    let locked = Locked::read(rows.again()).await?;
    let listed: Vec<Marked<StoredChange>> = select(
        "WHERE ($2::uuid IS NULL OR id > $2)
            AND ($3::text IS NULL
                 OR $3 = CASE WHEN status <> 'pending' THEN status
                              WHEN expires_at <= $1 THEN 'expired'
                              WHEN proposer_id = ANY ($6)
                                OR (proposer_id IS NULL AND proposer_person = ANY ($7)) THEN 'stale'
                              ELSE status END)
            AND ($4::text IS NULL OR $4 = ANY (kinds))
          ORDER BY id
          LIMIT $5",
    )
    .bind(now)
    .bind(page.after())
    .bind(filter.status)
    .bind(filter.action)
    .bind(page.rows())
    .bind(&locked.ids)
    .bind(&locked.subjects)
    .fetch_marked(rows)
    .await?;
    let shown = listed.into_iter().filter_map(|marked| {
        let proposal = marked.resource?.proposal(now, &locked);
        Some(Proposal { seal_valid: (!marked.is_valid).then_some(false), ..proposal })
    });
    Ok(shown.collect())
}

pub(in crate::management::changes) async fn read(
    mut rows: Rows<&mut PgConnection>,
    now: Timestamp,
    id: ChangeId,
) -> sqlx::Result<Option<Proposal>> {
    let locked = Locked::read(rows.again()).await?;
    let found: Option<StoredChange> = select("WHERE id = $1").bind(id).fetch_optional(rows).await?;
    Ok(found.map(|change| change.proposal(now, &locked)))
}

/// The use case of a change; none if there is no such change.
pub(in crate::management::changes) async fn call(
    rows: Rows<impl PgExecutor<'_>>,
    id: ChangeId,
) -> sqlx::Result<Option<StoredRequest>> {
    let found: Option<StoredChange> = select("WHERE id = $1").bind(id).fetch_optional(rows).await?;
    Ok(found.map(|change| change.call.0))
}

/// Reads a change. Other decisions about it wait until the transaction ends.
pub(in crate::management::changes) async fn lock(
    mut rows: Rows<&mut PgConnection>,
    now: Timestamp,
    id: ChangeId,
) -> sqlx::Result<Option<Proposal>> {
    let found: Option<StoredChange> = select("WHERE id = $1").bind(id).lock(rows.again()).await?;
    let locked = Locked::read(rows).await?;
    Ok(found.map(|change| change.proposal(now, &locked)))
}

/// Inserts a proposal, which has no decisions yet.
pub(in crate::management) async fn insert(
    rows: Rows<&mut PgConnection>,
    proposal: &Proposal,
    call: &StoredRequest,
) -> sqlx::Result<()> {
    let (proposal, by) = (proposal.clone(), proposal.proposed_by.clone());
    let change = StoredChange {
        id: proposal.id,
        kinds: proposal.action,
        summary: proposal.summary,
        resource_type: proposal.resource_type,
        resource_id: None,
        target_id: proposal.target.map(|target| target.id),
        target_revision: proposal.target.map(|target| target.revision),
        before: proposal.before,
        after: proposal.after,
        call: ExactJson(call.clone()),
        proposer_key: by.api_key_id,
        proposer_id: by.person_id,
        proposer_person: by.person,
        proposer_name: by.name,
        proposed_at: proposal.proposed_at,
        expires_at: proposal.expires_at,
        required: proposal.required,
        approvals: ExactJson(proposal.approvals),
        approver_ids: proposal.approver_ids,
        rejection: None,
        status: proposal.status,
        revision: proposal.revision,
    };
    resource::insert(rows, &change).await
}

/// Writes a decision.
pub(in crate::management::changes) async fn save(
    mut rows: Rows<&mut PgConnection>,
    now: Timestamp,
    before: &Proposal,
    after: &Proposal,
    resource: Option<Uuid>,
) -> Result<(), Error> {
    let found: Option<StoredChange> =
        select("WHERE id = $1").bind(before.id).lock(rows.again()).await?;
    let is_open = |change: &StoredChange| {
        let is_pending = change.status == ChangeStatus::Pending && change.expires_at > now;
        is_pending && change.revision == before.revision
    };
    let Some(change) = found.filter(is_open) else {
        let message = "the change was decided or expired in the meantime";
        return Err(Error::Conflict(message.to_owned()));
    };
    let decided = StoredChange {
        status: after.status,
        approvals: ExactJson(after.approvals.clone()),
        approver_ids: after.approver_ids.clone(),
        rejection: after.rejection.clone().map(ExactJson),
        resource_id: resource,
        required: after.required,
        ..change.rewritten()
    };
    Ok(resource::update(rows, &decided, What::Changed).await?)
}

/// Marks the pending changes of these resources as stale, because the resources change. Returns each before and after.
pub(in crate::management) async fn make_stale(
    mut rows: Rows<&mut PgConnection>,
    resources: &[Uuid],
    now: Timestamp,
) -> sqlx::Result<Vec<(Proposal, Proposal)>> {
    // The state stands in the statement, so that the index of pending changes fits it.
    let pending = select("WHERE status = 'pending' AND target_id = ANY ($1)").bind(resources);
    let pending: Vec<StoredChange> = pending.lock_all("FOR UPDATE", rows.again()).await?;
    let (nobody, mut ended) = (Locked::default(), Vec::new());
    for change in pending {
        let stale = StoredChange { status: ChangeStatus::Stale, ..change.clone().rewritten() };
        resource::update(rows.again(), &stale, What::Changed).await?;
        ended.push((change.proposal(now, &nobody), stale.proposal(now, &nobody)));
    }
    Ok(ended)
}

/// Ends what a locked person began, before they are unlocked: what they proposed becomes stale, and their
/// approvals of pending changes are removed.
pub(in crate::management) async fn end_of_person(
    mut rows: Rows<&mut PgConnection>,
    person: &Person,
) -> sqlx::Result<()> {
    let pending = select(
        "WHERE status = 'pending'
           AND (proposer_id = $1 OR proposer_person = $2
                OR approvals @> jsonb_build_array(jsonb_build_object('person', $2::text)))",
    );
    let pending: Vec<StoredChange> =
        pending.bind(person.id).bind(&person.subject).lock_all("FOR UPDATE", rows.again()).await?;
    let locked = Locked { ids: vec![person.id], subjects: vec![person.subject.clone()] };
    for change in pending {
        let status = if locked.proposed(&change) { ChangeStatus::Stale } else { change.status };
        let given = change.approvals.0.iter().cloned().zip(change.approver_ids.iter().copied());
        let (approvals, approver_ids) =
            given.filter(|(approval, _)| approval.person != person.subject).unzip();
        let approvals = ExactJson(approvals);
        let ended = StoredChange { status, approvals, approver_ids, ..change.rewritten() };
        resource::update(rows.again(), &ended, What::Changed).await?;
    }
    Ok(())
}

/// How many changes are pending, and when the oldest was proposed.
pub(in crate::management::changes) async fn backlog(
    database: impl PgExecutor<'_>,
    now: Timestamp,
) -> sqlx::Result<(i64, Option<Timestamp>)> {
    sqlx::query_as(
        "SELECT count(*), min(proposed_at) FROM changes
          WHERE status = 'pending' AND expires_at > $1
            AND NOT EXISTS (SELECT FROM locked_people AS locked
                             WHERE locked.id = proposer_id
                                OR (proposer_id IS NULL AND locked.subject = proposer_person))",
    )
    .bind(now)
    .fetch_one(database)
    .await
}

/// The people who are locked. What they proposed is stale.
#[derive(Default)]
struct Locked {
    ids: Vec<PersonId>,
    /// The people of admin keys.
    subjects: Vec<String>,
}

impl Locked {
    async fn read(rows: Rows<&mut PgConnection>) -> sqlx::Result<Self> {
        let people = select::<Person>("WHERE id IN (SELECT id FROM locked_people)");
        let people = people.fetch_all(rows).await?.into_iter();
        let (ids, subjects) = people.map(|person| (person.id, person.subject)).unzip();
        Ok(Self { ids, subjects })
    }

    fn proposed(&self, change: &StoredChange) -> bool {
        match (change.proposer_id, &change.proposer_person) {
            (Some(id), _) => self.ids.contains(&id),
            (None, Some(person)) => self.subjects.contains(person),
            (None, None) => false,
        }
    }
}

impl StoredChange {
    /// The change as it is at this time, while these people are locked.
    fn proposal(self, now: Timestamp, locked: &Locked) -> Proposal {
        let is_pending = self.status == ChangeStatus::Pending;
        let status = if is_pending && self.expires_at <= now {
            ChangeStatus::Expired
        } else if is_pending && locked.proposed(&self) {
            ChangeStatus::Stale
        } else {
            self.status
        };
        Proposal {
            id: self.id,
            action: self.kinds,
            summary: self.summary,
            resource_type: self.resource_type,
            resource_id: self.resource_id.and_then(|id| self.resource_type.id(id)),
            proposed_by: Proposer {
                person: self.proposer_person,
                api_key_id: self.proposer_key,
                person_id: self.proposer_id,
                name: self.proposer_name,
            },
            proposed_at: self.proposed_at,
            expires_at: self.expires_at,
            required: self.required,
            approvals: self.approvals.0,
            rejection: self.rejection.map(|ExactJson(rejection)| rejection),
            status,
            before: self.before,
            after: self.after,
            approver_ids: self.approver_ids,
            target: self
                .target_id
                .zip(self.target_revision)
                .map(|(id, revision)| Target { id, revision }),
            seal_valid: None,
            revision: self.revision,
        }
    }
}

//! The transaction in which a use case changes something.

mod author;

use std::slice;

use serde_json::value::to_raw_value;
use sqlx::{PgConnection, Postgres, Transaction};

use super::changes::{self, Authority, Proposal, Proposed, Proposer, StoredRequest};
use super::event::EventAnswer;
use super::store::{self, Author};
use super::{Action, Actor, Authorized, Context, Error, Event, Referrers, Resource, Right};
use crate::auth::Role;
use crate::change_kind::ChangeKind;
use crate::ids::{ChangeId, EventId};
use crate::resource::{self, Deletable, Rows, Stored, Touched};
use crate::seals::What;
use formats::clock::Timestamp;

/// A change in progress. Only [`Change::commit`] makes it permanent.
#[derive(Debug)]
pub struct Change<'c> {
    context: &'c Context,
    authority: &'c Authority,
    transaction: Transaction<'static, Postgres>,
    now: Timestamp,
    /// The author; none for the service itself.
    author: Option<Author>,
    /// The author must have one of the roles of each element.
    required: Vec<&'static [Role]>,
    /// Whether the credential of the author is locked until the end of the transaction.
    is_author_locked: bool,
    /// The use case, which is proposed if the change needs approval.
    call: Option<StoredRequest>,
}

impl<R: Right> Authorized<R> {
    /// Begins a change. The API key or the person of the author and their roles are checked again: they
    /// may have changed while the body arrived or the token worked.
    pub async fn begin(&self) -> Result<Change<'_>, Error> {
        self.begin_in(self.pool.begin().await?).await
    }

    /// The same for a change that takes something away: it does not wait for locks that another session holds.
    pub(super) async fn begin_impatiently(&self) -> Result<Change<'_>, Error> {
        let mut transaction = self.pool.begin().await?;
        store::limit_waiting(&mut transaction).await?;
        self.begin_in(transaction).await
    }

    async fn begin_in(
        &self,
        mut transaction: Transaction<'static, Postgres>,
    ) -> Result<Change<'_>, Error> {
        let now = self.clock.now();
        let author = store::author(self.pool.rows_on(&mut transaction), &self.actor, now).await?;
        let mut change = Change {
            context: self,
            authority: self.authority(),
            transaction,
            now,
            author,
            required: Vec::new(),
            is_author_locked: false,
            call: None,
        };
        change.require::<R>()?;
        Ok(change)
    }
}

impl Change<'_> {
    /// Checks that the author also has a role for `R`.
    pub fn require<R: Right>(&mut self) -> Result<(), Error> {
        self.require_one_of(R::ROLES)
    }

    /// Checks that the author also has one of these roles.
    pub(super) fn require_one_of(&mut self, roles: &'static [Role]) -> Result<(), Error> {
        self.required.push(roles);
        check(&self.context.actor, self.author.as_ref(), &self.required)
    }

    /// Locks the credential of the author and checks it again. Later revocations wait for this change. A
    /// change of that credential itself must lock it before.
    pub(super) async fn lock_author(&mut self) -> Result<(), Error> {
        if !self.is_author_locked {
            let (actor, now) = (&self.context.actor, self.now);
            self.author = store::lock_author(self.rows(), actor, now).await?;
            check(actor, self.author.as_ref(), &self.required)?;
            self.is_author_locked = true;
        }
        Ok(())
    }

    /// Proposes `call` if the change needs approval. Without this, such a change is refused.
    pub(super) fn propose_as(&mut self, call: StoredRequest) {
        self.call = Some(call);
    }

    /// The issuer of the people whom admin keys name; none without `admin.oidc`.
    pub(super) fn people_issuer(&self) -> Option<&str> {
        self.context.people_issuer.as_deref()
    }

    /// Whether owners can sign in without an admin key.
    pub(crate) fn owners_sign_in(&self) -> bool {
        self.context.owners_sign_in
    }

    /// The time of the change.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The connection that holds the transaction.
    pub fn connection(&mut self) -> &mut PgConnection {
        &mut self.transaction
    }

    /// The sealed rows, in the transaction.
    pub fn rows(&mut self) -> Rows<&mut PgConnection> {
        self.context.pool.rows_on(&mut self.transaction)
    }

    /// Inserts a new resource; whether no other has a name that must be unique.
    pub async fn insert<R: Stored>(&mut self, resource: &R) -> Result<bool, Error> {
        Ok(resource::insert_new(self.rows(), resource).await?)
    }

    /// Saves `after` in place of `before` and commits. Nothing happens where they are the same.
    pub async fn save<R: Resource + Touched>(
        mut self,
        action: Action,
        before: R,
        after: R,
    ) -> Result<R, Error> {
        if after == before {
            return Ok(before);
        }
        let after = after.touched(self.now);
        resource::update(self.rows(), &after, action.entry()).await?;
        self.commit(Event::changed(action, &before, &after)).await?;
        Ok(after)
    }

    /// Deletes `resource`, leaves a tombstone, and commits.
    pub(super) async fn delete<R: Resource + Stored + Deletable>(
        mut self,
        resource: &R,
        referrers: Referrers,
    ) -> Result<(), Error> {
        referrers.check_none(R::TYPE)?;
        let deleted = resource.clone().deleted(self.now).rewritten();
        resource::update(self.rows(), &deleted, What::Gone).await?;
        self.commit(Event::deleted(resource)).await
    }

    /// Ends a change that finds everything as it should be: pending changes of the resource become stale. A request
    /// that is sent again has the same answer.
    pub(super) async fn change_nothing<R: Resource>(mut self, found: R) -> Result<R, Error> {
        let (actor, now) = (self.context.actor.clone(), self.now);
        for (before, after) in changes::make_stale(self.rows(), &[found.uuid()], now).await? {
            self.record(&actor, Event::changed(Action::Update, &before, &after), None).await?;
        }
        if let Some(claim) = &self.context.claim {
            let shown = to_raw_value(&found).map_err(|_| Error::BrokenOff)?;
            let answer = EventAnswer::unchanged(&found, &shown);
            claim.keep(self.rows(), Some(answer)).await?;
        }
        self.transaction.commit().await?;
        Ok(found)
    }

    /// Whether the change that `plan` records will be proposed.
    pub(super) async fn is_proposed(&mut self, plan: &Event) -> Result<bool, Error> {
        let is_judged = matches!(self.authority, Authority::Administrator);
        Ok(is_judged && !self.needed(slice::from_ref(plan)).await?.is_empty())
    }

    /// Proposes the change that `plan` records, before a token does anything.
    pub(super) async fn propose_early(mut self, plan: &Event) -> Error {
        let proposed = match self.needed(slice::from_ref(plan)).await {
            Ok(kinds) => self.propose(kinds, plan).await,
            Err(error) => Err(error),
        };
        proposed.map_or_else(|error| error, |proposed| Error::Proposed(Box::new(proposed)))
    }

    /// Commits the change with its event. From then on this instance reads nothing older.
    pub async fn commit(self, event: Event) -> Result<(), Error> {
        self.commit_all([event]).await
    }

    /// Commits a change of several resources. The last event is about the resource that the author changes.
    pub(crate) async fn commit_all(
        mut self,
        events: impl IntoIterator<Item = Event> + Send,
    ) -> Result<(), Error> {
        let events: Vec<Event> = events.into_iter().collect();
        self.lock_author().await?;
        let kinds = self.needed(&events).await?;
        let (authority, actor) = (self.authority, &self.context.actor);
        let made = events.last().ok_or(Error::BrokenOff)?;
        let (approved, decision) = match authority {
            Authority::Administrator if !kinds.is_empty() => {
                return Err(Error::Proposed(Box::new(self.propose(kinds, made).await?)));
            }
            Authority::Administrator | Authority::System => (None, None),
            Authority::Approved(last) => {
                let approver = store::lock_author(
                    self.context.pool.rows_on(&mut self.transaction),
                    &last.approver,
                    self.now,
                )
                .await?;
                check(&last.approver, approver.as_ref(), &last.roles)?;
                let finished = last.finish(
                    self.context.pool.rows_on(&mut self.transaction),
                    self.now,
                    &kinds,
                    made,
                );
                let (before, after) = finished.await?;
                let event = Event::changed(Action::Approve, &before, &after);
                (Some(after), Some((event, &last.approver)))
            }
        };
        if let Some(claim) = &self.context.claim {
            let decision = decision.iter().map(|(event, _)| event);
            let mut answers = events.iter().chain(decision).rev();
            let answer = answers.find_map(Event::answer);
            claim.keep(self.context.pool.rows_on(&mut self.transaction), answer).await?;
        }
        let changed: Vec<_> = events.iter().filter_map(|event| event.resource_id).collect();
        let rows = self.context.pool.rows_on(&mut self.transaction);
        changes::make_stale(rows, &changed, self.now).await?;
        let topics: Vec<_> =
            events.iter().filter_map(|event| event.resource_type.topic()).collect();
        for event in events {
            self.record(actor, event, approved.as_ref()).await?;
        }
        if let Some((event, approver)) = decision {
            self.record(approver, event, None).await?;
        }
        let committed = self.transaction.commit().await;
        // A commit without an answer may have succeeded, so the caches are invalidated then too.
        for topic in topics {
            self.context.catalog.changed(topic);
        }
        Ok(committed?)
    }

    /// Proposes the change that `event` records. Nothing else of this change remains.
    async fn propose(self, kinds: Vec<ChangeKind>, event: &Event) -> Result<Proposed, Error> {
        let call = self.call.clone().ok_or(Error::NotAllowed(
            "the settings require approval of this change, so its request is stored: wrap a key that \
             is in plaintext",
        ))?;
        let context = self.context;
        let proposer = Proposer {
            person: self.person().map(str::to_owned),
            api_key_id: context.actor.api_key_id,
            person_id: context.actor.person.as_ref().map(|person| person.id()),
            name: context.actor.name.clone(),
        };
        self.transaction.rollback().await?;
        let id = ChangeId::new(&context.clock, &context.entropy);
        let at = (id, self.now);
        let proposal = Proposal::of(at, &context.approvals, proposer, &call, kinds, event);
        let mut change = Change {
            transaction: context.pool.begin().await?,
            call: None,
            is_author_locked: false,
            ..self
        };
        change.lock_author().await?;
        changes::insert(change.rows(), &proposal, &call).await?;
        let event = Event::created(&proposal);
        if let Some(claim) = &context.claim {
            claim.keep(change.rows(), event.answer()).await?;
        }
        change.record(&context.actor, event, None).await?;
        change.transaction.commit().await?;
        Ok(Proposed { proposal, secret: None })
    }

    /// The kinds of the change that need approval.
    async fn needed(&mut self, events: &[Event]) -> Result<Vec<ChangeKind>, Error> {
        let mut kinds = Vec::new();
        for event in events {
            let judgement = event.judgement.as_ref().ok_or(Error::BrokenOff)?;
            kinds.extend(judgement.kinds(self.rows()).await?);
        }
        Ok(changes::needed(&self.context.approvals, &kinds))
    }

    async fn record(
        &mut self,
        actor: &Actor,
        event: Event,
        approved: Option<&Proposal>,
    ) -> Result<(), Error> {
        let id = EventId::new(&self.context.clock, &self.context.entropy);
        let now = self.now;
        Ok(store::insert_event(self.rows(), id, now, actor, event, approved).await?)
    }
}

/// Checks that an author has a valid credential and one of the roles of each element of `required`.
pub(super) fn check(
    actor: &Actor,
    author: Option<&Author>,
    required: &[&'static [Role]],
) -> Result<(), Error> {
    let Some(author) = author else {
        return match actor.is_administrator() {
            true => Err(Error::Unauthenticated),
            false => Ok(()),
        };
    };
    let lacking = required.iter().find(|roles| !author.roles.meet(roles));
    lacking.map_or(Ok(()), |roles| Err(Error::Forbidden(roles)))
}

//! The context of a use case, and the transaction in which it changes something.

use sqlx::{PgConnection, Postgres, Transaction};

use super::{Action, Actor, Authorized, Claim, Error, Event, Resource, Right, store};
use crate::auth::Roles;
use crate::catalog::Catalog;
use crate::clock::{Clock, Entropy, Timestamp};
use crate::db::Pool;
use crate::ids::EventId;
use crate::resource::{Columns, Stored};

/// The arguments that all use cases share.
#[derive(Clone, Debug)]
pub struct Context {
    /// The clock.
    pub clock: Clock,
    /// The source of randomness for ids and API keys.
    pub entropy: Entropy,
    /// The caches, which a change invalidates.
    pub catalog: Catalog,
    /// The database.
    pub pool: Pool,
    /// The author of changes.
    pub actor: Actor,
    /// The claim of a request with an `Idempotency-Key`.
    pub claim: Option<Claim>,
}

/// A change in progress. Only [`Change::commit`] makes it permanent.
#[derive(Debug)]
pub struct Change<'c> {
    context: &'c Context,
    transaction: Transaction<'static, Postgres>,
    now: Timestamp,
    /// The roles of the author; none for the service itself.
    roles: Option<Roles>,
}

impl<R: Right> Authorized<R> {
    /// Begins a change. The API key of the author and its roles are checked again: they may have changed
    /// while the body arrived or the token worked.
    ///
    /// # Errors
    /// The API key is no longer valid or lost its role, or the database cannot be reached.
    pub async fn begin(&self) -> Result<Change<'_>, Error> {
        let (mut transaction, now) = (self.pool.begin().await?, self.clock.now());
        let roles = match self.actor.api_key_id {
            Some(id) => store::live_roles(&mut transaction, id, now).await?,
            None => None,
        };
        if self.actor.api_key_id.is_some() && roles.is_none() {
            return Err(Error::Unauthenticated);
        }
        let change = Change {
            context: self,
            transaction,
            now,
            roles,
        };
        change.require::<R>()?;
        Ok(change)
    }
}

impl Change<'_> {
    /// Checks that the author also has a role for `R`.
    ///
    /// # Errors
    /// The author has no such role.
    pub fn require<R: Right>(&self) -> Result<(), Error> {
        match &self.roles {
            Some(roles) if !roles.meet(R::ROLES) => Err(Error::Forbidden(R::ROLES)),
            Some(_) | None => Ok(()),
        }
    }

    /// The time of the change.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The connection that holds the transaction.
    pub fn connection(&mut self) -> &mut PgConnection {
        &mut self.transaction
    }

    /// Inserts a new resource; whether no other has a name that must be unique.
    ///
    /// # Errors
    /// The database refuses it.
    pub async fn insert<R: Stored>(
        &mut self,
        resource: &R,
        columns: Columns,
    ) -> Result<bool, Error> {
        Ok(store::insert(&mut self.transaction, resource, columns).await?)
    }

    /// Writes these columns of a changed resource.
    ///
    /// # Errors
    /// The database refuses it.
    pub async fn update<R: Stored>(&mut self, resource: &R, columns: Columns) -> Result<(), Error> {
        Ok(store::update(&mut self.transaction, resource, columns).await?)
    }

    /// Saves `after` in place of `before` and commits. Nothing happens where they are the same.
    ///
    /// # Errors
    /// The database refuses it.
    pub async fn save<R: Resource + Stored>(
        mut self,
        action: Action,
        before: R,
        after: R,
    ) -> Result<R, Error> {
        if after == before {
            return Ok(before);
        }
        let after = after.touched(self.now);
        store::update(&mut self.transaction, &after, after.columns()).await?;
        self.commit(Event::changed(action, &before, &after)).await?;
        Ok(after)
    }

    /// Deletes `resource`, leaves a tombstone, and commits.
    ///
    /// # Errors
    /// Others still refer to it, or the database refuses it.
    pub async fn delete<R: Resource + Stored>(
        mut self,
        resource: &R,
        referrers: &[String],
    ) -> Result<(), Error> {
        if !referrers.is_empty() {
            return Err(Error::referred_to(R::TYPE.name(), referrers));
        }
        store::delete(&mut self.transaction, resource, self.now).await?;
        self.commit(Event::deleted(resource)).await
    }

    /// Commits the change with its event. From then on this instance reads nothing older.
    ///
    /// # Errors
    /// The database refuses it.
    pub async fn commit(self, event: Event) -> Result<(), Error> {
        self.commit_all([event]).await
    }

    /// The same for a change of several resources.
    ///
    /// # Errors
    /// The database refuses it.
    pub async fn commit_all(
        mut self,
        events: impl IntoIterator<Item = Event> + Send,
    ) -> Result<(), Error> {
        let mut topics = Vec::new();
        let events: Vec<Event> = events.into_iter().collect();
        if let Some(claim) = &self.context.claim {
            claim.keep(&mut self.transaction, &events).await?;
        }
        for event in events {
            topics.extend(event.resource_type.topic());
            let id = EventId::new(&self.context.clock, &self.context.entropy);
            let actor = &self.context.actor;
            store::insert_event(&mut self.transaction, id, self.now, actor, event).await?;
        }
        let committed = self.transaction.commit().await;
        // A commit without an answer may have succeeded, so the caches are invalidated then too.
        for topic in topics {
            self.context.catalog.changed(topic);
        }
        Ok(committed?)
    }
}

//! Who acts, when, and on what; and the transaction in which something is changed.

use std::net::IpAddr;

use sqlx::{PgConnection, PgPool, Postgres, Transaction};

use super::{Error, Event, events};
use crate::auth::Administrator;
use crate::catalog::Catalog;
use crate::clock::{Clock, Entropy, Timestamp};
use crate::ids::ApiKeyId;

/// Whoever makes a change, as events name them.
#[derive(Clone, Debug)]
pub struct Actor {
    pub(super) api_key_id: Option<ApiKeyId>,
    pub(super) name: String,
    pub(super) client_address: Option<IpAddr>,
    pub(super) request_id: Option<String>,
}

/// What every use case is given.
#[derive(Clone, Debug)]
pub struct Context {
    /// Tells the time.
    pub clock: Clock,
    /// Makes ids and API keys.
    pub entropy: Entropy,
    /// Is told of changes.
    pub catalog: Catalog,
    /// Where everything is kept.
    pub pool: PgPool,
    /// Who acts.
    pub actor: Actor,
}

/// A change under way. It ends with [`Change::commit`], which wants its event; dropped, it never was.
#[derive(Debug)]
pub struct Change<'c> {
    context: &'c Context,
    transaction: Transaction<'static, Postgres>,
    now: Timestamp,
}

impl Actor {
    /// An administrator, by a request.
    #[must_use]
    pub fn administrator(administrator: &Administrator, request_id: String) -> Self {
        Self {
            api_key_id: Some(administrator.api_key_id()),
            name: administrator.name().to_owned(),
            client_address: Some(administrator.client_address()),
            request_id: Some(request_id),
        }
    }

    /// Something of the service itself: the command line, or a job. `name` says which.
    #[must_use]
    pub fn system(name: &str) -> Self {
        Self {
            api_key_id: None,
            name: name.to_owned(),
            client_address: None,
            request_id: None,
        }
    }
}

impl Context {
    /// Begins a change.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn begin(&self) -> Result<Change<'_>, Error> {
        Ok(Change {
            context: self,
            transaction: self.pool.begin().await?,
            now: self.clock.now(),
        })
    }
}

impl Change<'_> {
    /// The one time at which all of this change happens.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The connection on which it happens.
    pub fn connection(&mut self) -> &mut PgConnection {
        &mut self.transaction
    }

    /// Makes it last, together with the record of it. From then on this instance sees nothing older.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn commit(self, event: Event) -> Result<(), Error> {
        self.commit_all([event]).await
    }

    /// The same for a change of several resources at once.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn commit_all(
        mut self,
        events: impl IntoIterator<Item = Event> + Send,
    ) -> Result<(), Error> {
        let mut topics = Vec::new();
        for event in events {
            topics.push(event.topic);
            let id = crate::ids::EventId::new(&self.context.clock, &self.context.entropy);
            events::store::insert(
                &mut self.transaction,
                id,
                self.now,
                &self.context.actor,
                event,
            )
            .await?;
        }
        let committed = self.transaction.commit().await;
        // A commit without an answer may have happened: then too, nothing older is seen.
        for topic in topics {
            self.context.catalog.changed(topic);
        }
        Ok(committed?)
    }
}

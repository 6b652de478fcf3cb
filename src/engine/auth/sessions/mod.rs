//! Sessions of people with a browser: the digest of a secret in the database, and the admin key or the
//! person behind it.
//!
//! A session ends after 15 minutes without requests, after 12 hours, at sign-out, when the provider logs out
//! its person, and when its key becomes invalid or its person has no roles or is locked. The provider confirms
//! the person of a session again and again.

mod store;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;

pub(crate) use self::store::{Session, end_of_person};
use super::oidc::Logout;
use super::{Administrator, Admission, ApiKeyDigest, Authenticator, Denied, Person};
use crate::catalog::Unreadable;
use crate::client_certificates::ClientCertificate;
use crate::db::Pool;
use crate::settings::Admin;
use formats::clock::Timestamp;

/// The time without requests after which a session ends.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// The longest duration of a session.
const LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// How long requests that are no visits of pages are served after a check at the provider is due.
const GRACE: Duration = Duration::from_secs(5 * 60);

/// The number of sessions and of unknown secrets that an instance remembers.
const REMEMBERED: u64 = 10_000;

/// How long an unknown secret costs no look-up.
const UNKNOWN_FOR: Duration = Duration::from_secs(1);

/// The digest of the secret of a browser.
pub type SessionDigest = [u8; 32];

/// The sessions of one service. An instance remembers the digests that it has looked up. Valid sessions are
/// looked up again with each request, without waiting for a turn.
pub struct Sessions {
    database: Pool,
    /// Whether the holders of admin keys can have sessions.
    key_sign_in: bool,
    /// The issuer of the people who can have sessions.
    issuer: Option<String>,
    /// How often the provider confirms a person.
    recheck: Duration,
    valid: Cache<SessionDigest, ()>,
    unknown: Cache<SessionDigest, ()>,
}

/// A request of a browser.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    /// The digest of its secret.
    pub digest: SessionDigest,
    /// The address of the client.
    pub client: IpAddr,
    pub certificate: &'a ClientCertificate,
    /// The time.
    pub now: Timestamp,
}

/// The credential behind a session.
#[derive(Clone, Debug)]
enum Holder {
    /// The admin key with this digest.
    Key(ApiKeyDigest),
    /// A person whom the provider confirmed at this time.
    Person(Arc<Person>, Timestamp),
}

/// A session that begins.
#[derive(Clone, Copy, Debug)]
pub struct NewSession<'a> {
    /// The digest of the secret of the browser.
    pub digest: SessionDigest,
    /// Who signed in.
    pub administrator: &'a Administrator,
    /// The session of the person at the provider.
    pub at_provider: Option<&'a str>,
    pub start: SessionStart,
}

/// What a session begins with. A logout or a lock after it ends the session.
#[derive(Clone, Copy, Debug)]
pub enum SessionStart {
    /// A sign-in that started at this time.
    SignIn(Timestamp),
    /// The session that it continues, because the provider confirmed its person.
    Session(SessionDigest),
}

/// A request in a valid session.
#[derive(Clone, Debug)]
pub struct Resumed {
    /// Who is signed in.
    pub administrator: Administrator,
    /// Whether the provider confirmed the person recently.
    pub check: Check,
}

/// Whether the provider confirmed the person of a session recently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// It did, or the session is that of an admin key.
    Current,
    /// The next visit of a page asks the provider.
    Due,
    /// Nothing else is served before the provider confirms the person.
    Overdue,
}

impl Sessions {
    /// The sessions in this database.
    pub fn new(database: Pool, settings: &Admin) -> Self {
        let cache = |lifetime| {
            let builder = Cache::builder().max_capacity(REMEMBERED);
            builder.time_to_live(lifetime).build()
        };
        Self {
            database,
            key_sign_in: settings.key_sign_in,
            issuer: settings.oidc.issuer.clone(),
            recheck: settings.oidc.recheck.0,
            valid: cache(LIFETIME),
            unknown: cache(UNKNOWN_FOR),
        }
    }

    /// Starts a session and deletes expired ones. Returns whether it did: a session is only continued by the
    /// same person, and ends otherwise.
    pub async fn open(&self, now: Timestamp, session: NewSession<'_>) -> sqlx::Result<bool> {
        store::sweep(&self.database, now.minus(IDLE), now.minus(LIFETIME)).await?;
        let started_at = match session.start {
            SessionStart::SignIn(started_at) => started_at,
            SessionStart::Session(former) => {
                let (idle_since, began) = (now.minus(IDLE), now.minus(LIFETIME));
                let known = store::valid(&self.database, former, idle_since, began).await?;
                // A session of an admin key has no check, so that no other site can end it with one.
                let Some(known) = known.filter(|known| known.person_id.is_some()) else {
                    return Ok(false);
                };
                self.close(former).await?;
                if known.person_id != session.administrator.person().map(|person| person.id()) {
                    return Ok(false);
                }
                known.started_at
            }
        };
        let mut transaction = self.database.begin().await?;
        let rows = self.database.rows_on(&mut transaction);
        store::insert(rows, session, started_at, now).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Ends the sessions of a logout by the provider, and returns their number. None if its token was used
    /// before.
    pub async fn log_out(&self, logout: &Logout, now: Timestamp) -> sqlx::Result<Option<u64>> {
        store::log_out(&self.database, logout, now).await
    }

    /// The administrator of a valid session, whose last use becomes now. A session without one ends. The
    /// look-up of a new secret waits for its turn.
    pub async fn resume(
        &self,
        authenticator: &Authenticator,
        visit: Visit<'_>,
        admission: impl Admission,
    ) -> Result<Option<Resumed>, Denied> {
        let Some(holder) = self.holder(&visit, admission).await? else {
            return Ok(None);
        };
        let (administrator, check) = match holder {
            Holder::Key(at_rest) => {
                (self.of_key(authenticator, at_rest, &visit).await?, Check::Current)
            }
            Holder::Person(person, checked_at) => {
                (self.of_person(person, visit.client), self.check(checked_at, visit.now))
            }
        };
        let Some(administrator) = administrator else {
            self.close(visit.digest).await.map_err(Unreadable::from)?;
            return Ok(None);
        };
        Ok(Some(Resumed { administrator, check }))
    }

    fn check(&self, checked_at: Timestamp, now: Timestamp) -> Check {
        let due_at = checked_at.plus(self.recheck);
        if now < due_at {
            Check::Current
        } else if now < due_at.plus(GRACE) {
            Check::Due
        } else {
            Check::Overdue
        }
    }

    async fn holder(
        &self,
        visit: &Visit<'_>,
        mut admission: impl Admission,
    ) -> Result<Option<Holder>, Denied> {
        let Visit { digest, now, .. } = *visit;
        if !self.valid.contains_key(&digest) {
            if self.unknown.contains_key(&digest) {
                return Ok(None);
            }
            admission.turn().await?;
        }
        let (idle_since, began) = (now.minus(IDLE), now.minus(LIFETIME));
        let holder = store::touch(&self.database, digest, now, idle_since, began).await;
        let holder = holder.map_err(Unreadable::from)?;
        if holder.is_some() {
            admission.found();
            self.valid.insert(digest, ()).await;
        } else {
            // It has ended, or somebody hides its row and could put it back after the sign-out.
            self.close(digest).await.map_err(Unreadable::from)?;
            self.valid.invalidate(&digest).await;
            self.unknown.insert(digest, ()).await;
        }
        Ok(holder)
    }

    /// The holder of an admin key; none if the key was revoked, has expired, or cannot sign in.
    async fn of_key(
        &self,
        authenticator: &Authenticator,
        at_rest: ApiKeyDigest,
        visit: &Visit<'_>,
    ) -> Result<Option<Administrator>, Denied> {
        if !self.key_sign_in {
            return Ok(None);
        }
        let resumed = authenticator.resume(at_rest, visit.client, visit.certificate);
        match resumed.await {
            Ok(caller) => Ok(caller.administrator().ok()),
            Err(Denied::Refused(_)) => Ok(None),
            Err(denied) => Err(denied),
        }
    }

    /// A person of the configured provider; none if they have no roles any more, or are locked.
    fn of_person(&self, person: Arc<Person>, client: IpAddr) -> Option<Administrator> {
        let is_of_provider = person.issuer() == self.issuer.as_deref();
        is_of_provider.then(|| Administrator::signed_in(person, client)).flatten()
    }

    /// Whether the session of a browser is still valid, and its person not locked. This is no use of it.
    pub async fn is_valid(&self, now: Timestamp, digest: SessionDigest) -> sqlx::Result<bool> {
        let (idle_since, began) = (now.minus(IDLE), now.minus(LIFETIME));
        store::is_valid(&self.database, digest, idle_since, began).await
    }

    /// Ends a session.
    pub async fn close(&self, digest: SessionDigest) -> sqlx::Result<()> {
        store::delete(&self.database, digest).await
    }
}

//! People: who signs in with OpenID Connect or has an admin key, their roles by their last token, and their
//! locks.

mod profile;
mod row;
mod store;

use std::sync::Arc;
use std::time::Duration;

pub use self::profile::{Profile, TokenKind};
pub use self::row::{ApiKeyIds, LastSeen, Person, PersonStatus};
pub(crate) use self::store::{
    ever_named, is_cut_off, is_cut_off_now, make, not_cut_off, was_cut_off,
};
use super::{RateLimit, Roles};
use crate::db::Pool;
use crate::ids::PersonId;
use formats::clock::Timestamp;

const SECOND: Duration = Duration::from_secs(1);

impl Person {
    /// The rate limit: that of an admin key for a person with a role. Others only get refusals, and each
    /// is an event.
    pub(super) fn rate_limit(&self) -> RateLimit {
        if self.roles.is_empty() { RateLimit::WITHOUT_ROLE } else { RateLimit::OF_ADMINS }
    }

    /// Their identifier.
    pub fn id(&self) -> PersonId {
        self.id
    }

    /// The issuer of their tokens; none for a person of admin keys without OpenID Connect.
    pub fn issuer(&self) -> Option<&str> {
        self.issuer.as_deref()
    }

    /// The subject of their tokens.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Their roles.
    pub fn roles(&self) -> &Roles {
        &self.roles
    }

    /// Whether they have a role.
    pub(crate) fn has_roles(&self) -> bool {
        !self.roles.is_empty()
    }

    /// Whether an administrator or an operator locked them.
    pub fn is_locked(&self) -> bool {
        self.status == PersonStatus::Locked
    }

    /// Whether they are locked, or were after this time. What they did before does not count.
    pub(crate) fn was_locked_since(&self, at: Timestamp) -> bool {
        self.is_locked() || self.tokens_from.is_some_and(|lock| lock > at)
    }

    /// Whether an access token that was issued at this time is accepted. Issuers cut times to seconds.
    pub(super) fn accepts(&self, issued_at: Option<Timestamp>) -> bool {
        let is_later = |from| issued_at.is_some_and(|at| at.plus(SECOND) > from);
        !self.is_locked() && self.tokens_from.is_none_or(is_later)
    }

    /// Stores the profile of a verified token. Its roles apply to all sessions and access tokens of the
    /// person, unless a later token has given others. A token without a time is older than every other: it
    /// gives roles only to a new person. A new person gets the identifier `id`. A token changes nothing of a
    /// locked person. None if the row of the person does not count.
    pub async fn record(
        database: &Pool,
        (id, now): (PersonId, Timestamp),
        profile: &Profile,
    ) -> sqlx::Result<Option<Arc<Self>>> {
        Ok(store::record(database, (id, now), profile).await?.map(Arc::new))
    }

    /// The person with this identifier.
    pub async fn read(database: &Pool, id: PersonId) -> sqlx::Result<Option<Arc<Self>>> {
        Ok(store::read(database.rows(), id).await?.map(Arc::new))
    }
}

//! People who sign in with OpenID Connect, and their roles by their last token.

mod store;

use std::sync::Arc;

use sqlx::FromRow;

use super::{RateLimit, Roles};
use crate::db::Pool;
use crate::ids::PersonId;
use formats::clock::Timestamp;

/// A person who signed in. The issuer and the subject identify them.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct Person {
    pub(super) id: PersonId,
    pub(super) issuer: String,
    pub(super) subject: String,
    pub(super) name: String,
    pub(super) roles: Roles,
}

/// A person as a verified token describes them.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The issuer of the token.
    pub issuer: String,
    pub subject: String,
    /// Their name, if the token has one.
    pub name: Option<String>,
    /// Their roles by their groups.
    pub roles: Roles,
    /// When the token was issued, if it says so.
    pub issued_at: Option<Timestamp>,
    pub source: TokenKind,
}

/// The kind of a token that describes a person. One person can have different subjects in both kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// An ID token, of a sign-in to the dashboard.
    Id,
    /// An access token for the management API.
    Access {
        /// Whether the provider announces that ID tokens have the same subject.
        has_public_subject: bool,
    },
}

impl TokenKind {
    /// Whether the subject identifies a person.
    const fn identifies(self) -> bool {
        match self {
            Self::Id => true,
            Self::Access { has_public_subject } => has_public_subject,
        }
    }
}

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

    /// The issuer of their tokens.
    pub fn issuer(&self) -> &str {
        &self.issuer
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

    /// Stores the profile of a verified token. Its roles apply to all sessions and access tokens of the
    /// person, unless a later token has given others. A token without a time is older than every other: it
    /// gives roles only to a new person. A new person gets the identifier `id`.
    pub async fn record(
        database: &Pool,
        id: PersonId,
        profile: &Profile,
    ) -> sqlx::Result<Arc<Self>> {
        store::record(database, id, profile).await.map(Arc::new)
    }

    /// The person with this identifier.
    pub async fn read(database: &Pool, id: PersonId) -> sqlx::Result<Option<Arc<Self>>> {
        Ok(store::read(database, id).await?.map(Arc::new))
    }
}

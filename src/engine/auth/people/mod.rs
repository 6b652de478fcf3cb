//! People who sign in with OpenID Connect, and their roles by their last token.

mod store;

use std::sync::Arc;

use super::{RateLimit, Roles};
use crate::db::Pool;
use crate::ids::PersonId;
use crate::resource::Deprivable;
use crate::revision::Revision;
use crate::row;
use formats::clock::Timestamp;

row! {
    /// A person who signed in. The issuer and the subject identify them.
    #[derive(Debug, PartialEq, Eq)]
    pub struct Person(PersonId) in "people", kept: true {
        /// The issuer of their tokens.
        issuer: String;
        /// The subject of their tokens.
        subject: String;
        /// Their name in the last token.
        name: String;
        /// Their roles by the groups in the last token.
        roles: Roles;
        /// When the last token was issued; none if no token said so.
        issued_at: Option<Timestamp>;
        /// Whether the subject is that of their ID tokens.
        is_confirmed: bool;
        /// Whether an ID token had this subject.
        by_id_token: bool;
        /// Whether an access token had this subject.
        by_access_token: bool;
    }
}

impl Deprivable for Person {}

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
    /// gives roles only to a new person. A new person gets the identifier `id`. None if the row of the person
    /// does not count.
    pub async fn record(
        database: &Pool,
        id: PersonId,
        profile: &Profile,
    ) -> sqlx::Result<Option<Arc<Self>>> {
        Ok(store::record(database, id, profile).await?.map(Arc::new))
    }

    /// A person whom a first token describes.
    fn new(id: PersonId, profile: &Profile) -> Self {
        let (issuer, subject) = (profile.issuer.clone(), profile.subject.clone());
        Self {
            id,
            name: profile.name.clone().unwrap_or_else(|| subject.clone()),
            issuer,
            subject,
            roles: profile.roles.clone(),
            issued_at: profile.issued_at,
            is_confirmed: profile.source.identifies(),
            by_id_token: profile.source == TokenKind::Id,
            by_access_token: profile.source != TokenKind::Id,
            revision: Revision::FIRST,
        }
    }

    /// The same person after one more token.
    fn described(self, profile: &Profile) -> Self {
        let roles = match (self.issued_at, profile.issued_at) {
            (known, Some(at)) if known.is_none_or(|known| known <= at) => profile.roles.clone(),
            // Tokens without a time have no order: the roles of both remain.
            (None, None) => {
                let both = self.roles.iter().filter(|role| profile.roles.meet(&[*role]));
                both.collect()
            }
            (Some(_) | None, Some(_) | None) => self.roles.clone(),
        };
        let source = profile.source;
        Self {
            name: profile.name.clone().unwrap_or(self.name),
            roles,
            issued_at: self.issued_at.max(profile.issued_at),
            is_confirmed: self.is_confirmed || source.identifies(),
            by_id_token: self.by_id_token || source == TokenKind::Id,
            by_access_token: self.by_access_token || source != TokenKind::Id,
            ..self
        }
    }

    /// The person with this identifier.
    pub async fn read(database: &Pool, id: PersonId) -> sqlx::Result<Option<Arc<Self>>> {
        Ok(store::read(database, id).await?.map(Arc::new))
    }
}

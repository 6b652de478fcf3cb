//! What tokens say about people.

use super::row::Person;
use crate::auth::Roles;
use crate::ids::PersonId;
use formats::clock::Timestamp;

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

impl Profile {
    /// A person whom this first token describes.
    pub(super) fn person(&self, at: (PersonId, Timestamp)) -> Person {
        Person::named(at, Some(self.issuer.clone()), self.subject.clone()).described(self)
    }
}

impl Person {
    /// The same person after one more token.
    pub(super) fn described(self, profile: &Profile) -> Self {
        let is_first = !self.by_id_token && !self.by_access_token;
        let roles = match (self.issued_at, profile.issued_at) {
            _ if is_first => profile.roles.clone(),
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
}

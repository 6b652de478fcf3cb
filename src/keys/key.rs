//! A key as it is recorded.

use hsm::{KeyClass, KeyName, KeyRef};
use serde::{Serialize, Serializer};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::{Cause, NoTransition, Status, Usage};
use crate::clock::Timestamp;
use crate::closed_set;
use crate::ids::{KeyId, ServiceId};
use crate::material::{Algorithm, Jwk, PublicKey};
use crate::revision::Revision;

/// What is known of a key. Its private half, where it has one here, is in the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its identifier: the `keyId` of the API, the `kid` of envelopes.
    pub id: KeyId,
    /// The service it belongs to.
    pub service_id: ServiceId,
    /// For people.
    pub name: String,
    /// What it is for.
    pub usage: Usage,
    /// What kind of key it is.
    pub algorithm: Algorithm,
    /// How it came.
    pub origin: Origin,
    /// Where it is in its life.
    pub status: Status,
    /// How the tokens name it; none where only the public half is known.
    pub token_name: Option<KeyName>,
    /// The public half; none for secret keys.
    pub public: Option<PublicKey>,
    /// Until when its owner wants it used.
    pub expires_at: Option<Timestamp>,
    /// When it last became active.
    pub activated_at: Option<Timestamp>,
    /// When it will be destroyed, or was due to be.
    pub destroy_at: Option<Timestamp>,
    /// Grows by one with every change.
    pub revision: Revision,
    /// When it was made.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

closed_set! {
    /// The origin of a key.
    pub enum Origin: "KeyOrigin" {
        /// The token generated it.
        Generated = "generated",
        /// It was imported.
        Imported = "imported",
        /// It was in the token already.
        Adopted = "adopted",
    }
}

impl Key {
    /// Whether its private or secret half is here.
    #[must_use]
    pub fn has_private(&self) -> bool {
        self.token_name.is_some() && self.status != Status::Destroyed
    }

    /// Its private or secret half in the tokens, by the name that it keeps when it is destroyed.
    #[must_use]
    pub fn token_key(&self) -> Option<KeyRef> {
        let class = if self.algorithm.is_secret() {
            KeyClass::Secret
        } else {
            KeyClass::Private
        };
        let name = self.token_name.clone()?;
        Some(KeyRef { name, class })
    }
}

impl Key {
    /// The same key in another state, from `now` on.
    ///
    /// # Errors
    /// When `cause` does not lead there.
    pub fn moved(&self, cause: Cause, to: Status, now: Timestamp) -> Result<Self, NoTransition> {
        self.status.become_by(cause, to)?;
        let mut moved = self.clone();
        moved.status = to;
        match to {
            Status::Active => moved.activated_at = Some(now),
            Status::Disabled => moved.destroy_at = None,
            Status::Retired | Status::PendingDestruction | Status::Destroyed => {}
        }
        Ok(moved.changed(now))
    }

    /// The same key after one more change.
    #[must_use]
    pub fn changed(mut self, now: Timestamp) -> Self {
        self.revision = self.revision.next();
        self.updated_at = now;
        self
    }
}

/// As the API shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: KeyId,
    service_id: ServiceId,
    name: &'a str,
    r#use: Usage,
    algorithm: Algorithm,
    origin: Origin,
    has_private: bool,
    status: Status,
    public_key: Option<Jwk>,
    thumbprint: Option<String>,
    expires_at: Option<Timestamp>,
    activated_at: Option<Timestamp>,
    destroy_at: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl PartialSchema for Key {
    fn schema() -> RefOr<Schema> {
        Shown::schema()
    }
}

impl ToSchema for Key {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Shown::schemas(schemas);
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shown {
            id: self.id,
            service_id: self.service_id,
            name: &self.name,
            r#use: self.usage,
            algorithm: self.algorithm,
            origin: self.origin,
            has_private: self.has_private(),
            status: self.status,
            public_key: self.public.as_ref().map(PublicKey::to_jwk),
            thumbprint: self.public.as_ref().map(PublicKey::thumbprint),
            expires_at: self.expires_at,
            activated_at: self.activated_at,
            destroy_at: self.destroy_at,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
        .serialize(serializer)
    }
}

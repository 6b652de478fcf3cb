//! The record of a key.

use hsm::{KeyClass, KeyName, KeyRef};
use serde::{Serialize, Serializer};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::{Cause, NoTransition, RotationDays, Status, Usage};
use crate::ids::{KeyId, ServiceId};
use crate::resource::Printable;
use crate::revision::Revision;
use formats::clock::Timestamp;
use formats::closed_set;
use formats::envelope::HpkeRevision;
use formats::material::{Algorithm, Jwk, PublicKey};

/// The record of a key. The private key, if Sealward has it, is in the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its identifier: the `keyId` of the API.
    pub id: KeyId,
    /// The identifier that partners use for it, if it differs.
    pub partner_kid: Option<Printable>,
    /// The service that owns it.
    pub service_id: ServiceId,
    /// Its name.
    pub name: String,
    /// Its use.
    pub usage: Usage,
    /// Its algorithm.
    pub algorithm: Algorithm,
    /// Its origin.
    pub origin: Origin,
    /// Its state.
    pub status: Status,
    /// Its name in the tokens; none for a public key only.
    pub token_name: Option<KeyName>,
    /// Whether the token gives its private or secret key away; none for a public key only.
    pub extractable: Option<bool>,
    /// The public key; none for secret keys.
    pub public: Option<PublicKey>,
    /// The Internet-Draft that its envelopes follow; none for keys without HPKE.
    pub hpke_revision: Option<HpkeRevision>,
    /// The time after which it no longer protects, encrypts or signs.
    pub expires_at: Option<Timestamp>,
    /// How often it is rotated; none if it is not.
    pub rotation_days: Option<RotationDays>,
    /// The key that it replaces as soon as it is activated.
    pub succeeds: Option<KeyId>,
    /// The time at which it retires because its successor is active.
    pub retire_at: Option<Timestamp>,
    /// The time of its last activation.
    pub activated_at: Option<Timestamp>,
    /// The scheduled time of its destruction.
    pub destroy_at: Option<Timestamp>,
    /// Its revision.
    pub revision: Revision,
    /// The creation time.
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
        /// It was adopted from the token.
        Adopted = "adopted",
    }
}

impl Key {
    /// Its identifier outside: the `kid` of envelopes and of the JWK Set.
    #[must_use]
    pub fn kid(&self) -> String {
        match &self.partner_kid {
            Some(kid) => kid.to_string(),
            None => self.id.to_string(),
        }
    }

    /// Whether the token has its private or secret key.
    #[must_use]
    pub fn has_private(&self) -> bool {
        self.token_name.is_some() && self.status != Status::Destroyed
    }

    /// The handle of its private or secret key. A destroyed key keeps its name.
    #[must_use]
    pub fn token_key(&self) -> Option<KeyRef> {
        Some(KeyRef {
            name: self.token_name.clone()?,
            class: KeyClass::of(self.algorithm),
            adopted: self.origin == Origin::Adopted,
        })
    }
}

impl Key {
    /// The key in another state from `now`.
    ///
    /// # Errors
    /// If `cause` does not permit the transition.
    pub fn moved(&self, cause: Cause, to: Status, now: Timestamp) -> Result<Self, NoTransition> {
        self.status.become_by(cause, to)?;
        let mut moved = self.clone();
        moved.status = to;
        moved.retire_at = None;
        match to {
            Status::Active => {
                moved.activated_at = Some(now);
                moved.succeeds = None;
            }
            Status::Disabled => moved.destroy_at = None,
            // The key before it gets another successor.
            Status::PendingDestruction => moved.succeeds = None,
            Status::Retired | Status::Destroyed => {}
        }
        Ok(moved.changed(now))
    }

    /// The key after a change.
    #[must_use]
    pub fn changed(mut self, now: Timestamp) -> Self {
        self.revision = self.revision.next();
        self.updated_at = now;
        self
    }
}

/// A key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: KeyId,
    partner_kid: Option<&'a Printable>,
    service_id: ServiceId,
    name: &'a str,
    r#use: Usage,
    algorithm: Algorithm,
    origin: Origin,
    has_private: bool,
    /// Whether the private or secret key can leave the token; null if Sealward does not have it or does
    /// not know.
    extractable: Option<bool>,
    status: Status,
    public_key: Option<Jwk>,
    thumbprint: Option<String>,
    expires_at: Option<Timestamp>,
    rotation_days: Option<RotationDays>,
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
            partner_kid: self.partner_kid.as_ref(),
            service_id: self.service_id,
            name: &self.name,
            r#use: self.usage,
            algorithm: self.algorithm,
            origin: self.origin,
            has_private: self.has_private(),
            extractable: self.extractable,
            status: self.status,
            public_key: self.public.as_ref().map(PublicKey::to_jwk),
            thumbprint: self.public.as_ref().map(PublicKey::thumbprint),
            expires_at: self.expires_at,
            rotation_days: self.rotation_days,
            activated_at: self.activated_at,
            destroy_at: self.destroy_at,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
        .serialize(serializer)
    }
}

//! The record of a key. The private key, if Sealward has it, is in the token.

use std::time::Duration;

use hsm::{KeyClass, KeyName, KeyRef};

use super::{Canary, Cause, KeyStatus, KeyVersion, NoTransition, PrivateHalf, RotationDays, Usage};
use crate::ids::{KeyId, ServiceId};
use crate::resource;
use crate::resource::{Deprivable, Name, Printable, Stored as _, Touched as _};
use crate::revision::Revision;
use crate::seals::{GroupKind, What};
use formats::clock::Timestamp;
use formats::closed_set;
use formats::envelope::HpkeRevision;
use formats::material::{Algorithm, PublicKey};

resource! {
    /// A key.
    pub struct Key(KeyId) in "keys", changed by KeyUpdate {
        /// Identifies the key to people.
        "Name" name: Name, optional;
        /// The state of the key.
        "Status" status: KeyStatus, optional;
        /// The time after which the key no longer protects, encrypts or signs; null for none.
        "Expires" expires_at: Option<Timestamp>, optional;
        /// The number of days after activation at which a successor replaces the key; null for no
        /// rotation. Only supported for keys that the token generated.
        "Rotation in days" rotation_days: Option<RotationDays>, optional;
        @read_only {
            /// The identifier that partners use for the key; null for its own.
            partner_kid: Option<Printable>;
            /// The service that owns the key.
            service_id: ServiceId;
            /// The number of the key among all keys that its service ever had with this name; null for `enc` keys.
            /// It does not change.
            version: Option<KeyVersion>;
            /// The only use that the token allows.
            #[serde(rename = "use")]
            usage: Usage;
            /// The algorithm.
            algorithm: Algorithm;
            /// The origin.
            origin: KeyOrigin;
            /// Whether the token has the private or secret key.
            #[sqlx(flatten)]
            #[serde(rename = "hasPrivate")]
            #[schema(value_type = bool)]
            private_half: PrivateHalf;
            /// Whether the private or secret key can leave the token; null if Sealward does not have it.
            extractable: Option<bool>;
            /// The public key; null for secret keys.
            public_key: Option<PublicKey>;
            /// The thumbprint of the public key (RFC 7638).
            thumbprint: Option<String>;
            /// The time of the last activation.
            activated_at: Option<Timestamp>;
            /// The scheduled time of the destruction.
            destroy_at: Option<Timestamp>;
        }
        @internal {
            /// The Internet-Draft that its envelopes follow; none for keys without HPKE.
            hpke_revision: Option<HpkeRevision>;
            /// What the drill of a restore opens; none of a key whose public half proves it.
            canary: Option<Canary>;
            /// The number of its last activation in its succession.
            activation: Option<i64>;
            /// The key that it replaces as soon as it is activated.
            succeeds: Option<KeyId>;
            /// The time at which it retires because its successor is active.
            retire_at: Option<Timestamp>;
            /// The time at which its destruction began. From then on it cannot be restored.
            destroying_at: Option<Timestamp>;
        }
    }
}

closed_set! {
    /// The origin of a key.
    pub enum KeyOrigin: "KeyOrigin" {
        /// The token generated it.
        Generated = "generated",
        /// It was imported.
        Imported = "imported",
        /// It was adopted from the token.
        Adopted = "adopted",
    }
}

/// A new key from its source.
#[derive(Debug)]
pub struct Made {
    /// Its identifier.
    pub id: KeyId,
    /// Its use.
    pub usage: Usage,
    pub algorithm: Algorithm,
    pub origin: KeyOrigin,
    /// Its name in the token, and whether the token gives it away; none for a public key only.
    pub private_half: Option<(KeyName, bool)>,
    /// The public key; none for secret keys.
    pub public_key: Option<PublicKey>,
}

/// The keys that take over from each other.
pub(super) const SUCCESSION: GroupKind =
    GroupKind { name: "keys that take over from each other", table: Key::TABLE };

/// The versions of a name.
pub(super) const VERSIONS: GroupKind = GroupKind { name: "versions of a key", table: Key::TABLE };

/// The keys that named one object in the tokens.
pub(super) const OF_OBJECT: GroupKind =
    GroupKind { name: "keys of an object in the tokens", table: Key::TABLE };

impl Deprivable for Key {
    const LOSES: Option<What> = Some(What::Disabled);
    const GROUPS: &'static [GroupKind] = &[SUCCESSION, VERSIONS, OF_OBJECT];

    fn deprive(&mut self, _: Timestamp) {
        if matches!(self.status, KeyStatus::Active | KeyStatus::Retired) {
            self.status = KeyStatus::Disabled;
            self.retire_at = None;
        }
    }
}

impl Key {
    /// The record of a new key of a service, which is retired and has no version yet.
    pub fn new(made: Made, service_id: ServiceId, name: Name, now: Timestamp) -> Self {
        let (token_name, extractable) = made.private_half.unzip();
        Self {
            id: made.id,
            name,
            status: KeyStatus::Retired,
            expires_at: None,
            rotation_days: None,
            partner_kid: None,
            service_id,
            version: None,
            usage: made.usage,
            algorithm: made.algorithm,
            origin: made.origin,
            private_half: PrivateHalf { token_name, is_destroyed: false },
            extractable,
            thumbprint: made.public_key.as_ref().map(PublicKey::thumbprint),
            public_key: made.public_key,
            activated_at: None,
            destroy_at: None,
            hpke_revision: HpkeRevision::of_new(made.algorithm),
            canary: None,
            activation: None,
            succeeds: None,
            retire_at: None,
            destroying_at: None,
            created_at: now,
            updated_at: now,
            revision: Revision::FIRST,
            seal_valid: None,
        }
    }

    /// Its identifier outside: the `kid` of envelopes and of the JWK Set.
    pub fn kid(&self) -> String {
        match &self.partner_kid {
            Some(kid) => kid.to_string(),
            None => self.id.to_string(),
        }
    }

    /// The time at which a successor takes over; none for a key that does not rotate or is not active.
    pub(crate) fn takeover(&self) -> Option<Timestamp> {
        let hours = self.rotation_days?.days() * 24;
        let period = Duration::from_secs(u64::try_from(hours).ok()? * 60 * 60);
        self.activated_at.filter(|_| self.status == KeyStatus::Active).map(|at| at.plus(period))
    }

    /// Whether the token has its private or secret key.
    pub fn has_private(&self) -> bool {
        self.private_half.is_present()
    }

    /// The handle of its private or secret key. A destroyed key keeps its name.
    pub(crate) fn token_key(&self) -> Option<KeyRef> {
        Some(KeyRef {
            name: self.private_half.token_name.clone()?,
            class: KeyClass::of(self.algorithm),
        })
    }

    /// The key in another state from `now`.
    pub fn moved(&self, cause: Cause, to: KeyStatus, now: Timestamp) -> Result<Self, NoTransition> {
        self.status.become_by(cause, to)?;
        let mut moved = self.clone();
        moved.status = to;
        moved.retire_at = None;
        match to {
            KeyStatus::Active => {
                moved.activated_at = Some(now);
                moved.succeeds = None;
            }
            KeyStatus::Disabled => moved.destroy_at = None,
            // The key before it gets another successor.
            KeyStatus::PendingDestruction => moved.succeeds = None,
            KeyStatus::Destroyed => moved.private_half.is_destroyed = true,
            KeyStatus::Retired => {}
        }
        Ok(moved.touched(now))
    }
}

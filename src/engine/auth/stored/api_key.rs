//! The resource.

use std::fmt;

use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};
use utoipa::ToSchema;

use super::bound_policy::BoundPolicy;
use super::networks::Networks;
use crate::auth::{ApiKeyDigest, ApiKeyType, Role, Roles};
use crate::fingerprint::Fingerprint;
use crate::ids::{ApiKeyId, ServiceId};
use crate::operation::Operations;
use crate::resource;
use crate::resource::{ColumnGroup, Columns, Deprivable, Name, Subject};
use crate::seals::What;
use formats::clock::Timestamp;
use formats::closed_set;

resource! {
    /// A credential of a service or an administrator, without the key itself.
    pub struct ApiKey(ApiKeyId) in "api_keys", requested by ApiKeyRequest {
        @fixed {
            /// The API that the key calls: `live` and `test` keys call the runtime API, `admin` keys
            /// the management API.
            "Type" r#type: ApiKeyType;
            /// The calling service. Required for `live` and `test`, null for `admin`.
            "Service" service_id: Option<ServiceId> = None;
            /// The person who uses an admin key, as the organization identifies them. Two keys of one
            /// person count as one person.
            "Person" person: Option<Subject> = None;
        }
        /// Identifies the key to people, such as the application and its location.
        "Name" name: Name;
        /// The roles of an admin key, by default `owner`. Empty for other keys.
        "Roles" roles: Roles = Roles::default();
        /// The policy of requests without a policy number. Null for `admin`.
        #[sqlx(flatten)]
        "Bound policy" policy_number: BoundPolicy = BoundPolicy::default();
        /// The operations that the key allows; null for all operations of its type.
        "Operations" allowed_operations: Option<Operations> = None;
        /// The networks from which the key can be used; null for any network.
        "Networks" allowed_cidrs: Option<Networks> = None;
        /// The SHA-256 of the client certificate that requests with the key need; null for none. The
        /// certificate must chain to a CA in `http.tls.client_ca`.
        "Certificate SHA-256" certificate_sha256: Option<Fingerprint> = None;
        /// The time from which the key is refused; null for never.
        "Expires" expires_at: Option<Timestamp> = None;
        @read_only {
            /// The prefix and the last four characters of the key.
            #[sqlx(flatten)]
            hint: Hint;
            /// Whether the key is accepted.
            #[sqlx(flatten)]
            status: ApiKeyStatus;
            /// The revocation time.
            revoked_at: Option<Timestamp>;
        }
        @internal {
            /// SHA-256 of the key itself.
            digest: ApiKeyDigest;
            /// The people who may know the key besides its own person.
            known_to: Vec<String>;
            /// The people who created the key or one that created it, also while no approvals are required.
            made_by: Vec<String>;
        }
        @volatile {
            /// The time of the last authenticated request, with a delay of some seconds.
            last_used_at: Option<Timestamp>;
        }
    }
}

closed_set! {
    /// Whether an API key is accepted.
    #[derive(Default)]
    pub enum ApiKeyStatus: "ApiKeyStatus" {
        /// It is accepted.
        #[default]
        Active = "active",
        /// An administrator revoked it.
        Revoked = "revoked",
        /// It has expired.
        Expired = "expired",
    }
}

/// The visible part of a key, such as `sk_live_…a1b2`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(transparent)]
pub struct Hint(String);

impl Deprivable for ApiKey {
    const LOSES: Option<What> = Some(What::Revoked);

    fn deprive(&mut self, at: Timestamp) {
        self.revoked_at.get_or_insert(at);
    }
}

impl ApiKey {
    /// The API key with its status at this time.
    pub(crate) fn with_status_at(self, now: Timestamp) -> Self {
        Self { status: ApiKeyStatus::of(now, self.revoked_at, self.expires_at), ..self }
    }

    /// Whether it is neither revoked nor expired at this time.
    pub(crate) fn is_active_at(&self, now: Timestamp) -> bool {
        ApiKeyStatus::of(now, self.revoked_at, self.expires_at) == ApiKeyStatus::Active
    }

    /// Whether it is an active admin key with the role `owner`.
    pub(crate) fn is_owner(&self) -> bool {
        self.status == ApiKeyStatus::Active && self.roles.meet(&[Role::Owner])
    }
}

impl ApiKeyStatus {
    fn of(now: Timestamp, revoked_at: Option<Timestamp>, expires_at: Option<Timestamp>) -> Self {
        if revoked_at.is_some() {
            Self::Revoked
        } else if expires_at.is_some_and(|expiry| expiry <= now) {
            Self::Expired
        } else {
            Self::Active
        }
    }
}

/// It follows from other columns.
impl ColumnGroup for ApiKeyStatus {
    const COLUMNS: &'static [&'static str] = &[];

    fn write(&self, _: &mut Columns) {}
}

/// Before the present is known.
impl<'r> FromRow<'r, PgRow> for ApiKeyStatus {
    fn from_row(_: &'r PgRow) -> sqlx::Result<Self> {
        Ok(Self::default())
    }
}

impl Hint {
    pub(crate) fn of(kind: ApiKeyType, last_four: &str) -> Self {
        Self(format!("{}…{last_four}", kind.prefix()))
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ColumnGroup for Hint {
    const COLUMNS: &'static [&'static str] = &["last_four"];

    fn write(&self, columns: &mut Columns) {
        let (_, last_four) = self.0.rsplit_once('…').unwrap_or_default();
        columns.set("last_four", last_four);
    }
}

/// The type is a member of the API key.
impl<'r> FromRow<'r, PgRow> for Hint {
    fn from_row(row: &'r PgRow) -> sqlx::Result<Self> {
        Ok(Self::of(row.try_get("type")?, row.try_get("last_four")?))
    }
}

//! The resource.

use std::fmt;

use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};
use utoipa::ToSchema;

use super::bound_policy::BoundPolicy;
use super::network::Networks;
use crate::auth::{ApiKeyType, Role, Roles};
use crate::fingerprint::Fingerprint;
use crate::ids::{ApiKeyId, ServiceId};
use crate::operation::Operations;
use crate::resource;
use crate::resource::{ColumnGroup, Columns, Name, Person};
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
            "Person" person: Option<Person> = None;
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

impl ApiKey {
    /// Whether it is an active admin key with the role `owner`.
    pub(super) fn is_owner(&self) -> bool {
        self.status == ApiKeyStatus::Active && self.roles.meet(&[Role::Owner])
    }
}

impl ApiKeyStatus {
    pub(super) fn of(
        now: Timestamp,
        revoked_at: Option<Timestamp>,
        expires_at: Option<Timestamp>,
    ) -> Self {
        if revoked_at.is_some() {
            Self::Revoked
        } else if expires_at.is_some_and(|expiry| expiry <= now) {
            Self::Expired
        } else {
            Self::Active
        }
    }
}

/// The first argument of the query is the present.
impl ColumnGroup for ApiKeyStatus {
    const COLUMNS: &'static [&'static str] = &["$1 AS now"];

    /// It follows from the other columns.
    fn write(&self, _: &mut Columns) {}
}

impl<'r> FromRow<'r, PgRow> for ApiKeyStatus {
    fn from_row(row: &'r PgRow) -> sqlx::Result<Self> {
        Ok(Self::of(row.try_get("now")?, row.try_get("revoked_at")?, row.try_get("expires_at")?))
    }
}

impl Hint {
    pub(super) fn of(kind: ApiKeyType, last_four: &str) -> Self {
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

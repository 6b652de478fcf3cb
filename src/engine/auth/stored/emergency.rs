//! The switch that freezes everything.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use sqlx::PgConnection;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use super::ServiceStatus;
use crate::ids::EmergencyId;
use crate::resource::{Deprivable, Reason, Rows, Stored as _, select};
use crate::revision::Revision;
use crate::row;
use crate::seals::{Entry, What, newest_entry};
use formats::clock::Timestamp;

row! {
    /// The switch that freezes everything.
    #[derive(Debug, PartialEq, Eq)]
    pub struct Emergency(EmergencyId) in "emergency", kept: true {
        /// Whether everything is frozen.
        status: ServiceStatus;
        /// Why it was set or reset.
        reason: Option<Reason>;
        /// Since when.
        frozen_at: Option<Timestamp>;
        /// Who froze it.
        frozen_by: Option<String>;
    }
}

impl Deprivable for Emergency {
    const LOSES: Option<What> = Some(What::Frozen);
    const IS_LOST_BEFORE_MADE: bool = true;

    fn deprive(&mut self, at: Timestamp) {
        if !self.is_frozen() {
            self.status = ServiceStatus::Frozen;
            self.reason = None;
            self.frozen_at = Some(at);
        }
    }
}

impl Emergency {
    /// The identifier of the one switch.
    pub(crate) const ID: Uuid = Uuid::from_u128(1);

    /// The switch as it counts. One that was never set freezes nothing. One whose row is lost freezes everything:
    /// its absence must not end a freeze.
    pub(crate) async fn current(rows: Rows<&mut PgConnection>) -> sqlx::Result<Self> {
        Ok(Self::current_and_lasting(rows).await?.0)
    }

    /// The same, and whether it lasts: that of a lost row ends when the login of the service puts the row back.
    pub(crate) async fn current_and_lasting(
        mut rows: Rows<&mut PgConnection>,
    ) -> sqlx::Result<(Self, bool)> {
        if let Some(valid) = select("").fetch_optional(rows.again()).await? {
            return Ok((valid, true));
        }
        Ok(match newest_entry(rows.executor, Self::unset().row()).await? {
            None => (Self::unset(), true),
            Some(entry) => (Self::by_entry(entry), entry.what == What::Frozen),
        })
    }

    /// The switch that an entry has set.
    pub(crate) fn by_entry(entry: Entry) -> Self {
        Self {
            status: ServiceStatus::Frozen,
            frozen_at: Some(entry.at),
            revision: Revision::of(entry.revision),
            ..Self::unset()
        }
    }

    /// Whether everything is frozen.
    pub fn is_frozen(&self) -> bool {
        self.status == ServiceStatus::Frozen
    }

    /// Why everything was frozen, or why that ended.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Since when everything is frozen.
    pub fn frozen_at(&self) -> Option<Timestamp> {
        self.frozen_at
    }

    /// Who froze everything.
    pub fn frozen_by(&self) -> Option<&str> {
        self.frozen_by.as_deref()
    }

    /// Before the first freeze.
    fn unset() -> Self {
        Self {
            id: EmergencyId::from_uuid(Self::ID),
            status: ServiceStatus::Active,
            reason: None,
            frozen_at: None,
            frozen_by: None,
            revision: Revision::of(0),
        }
    }
}

/// The switch, as the API shows it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Emergency)]
struct Shown<'a> {
    /// Whether everything is frozen.
    status: ServiceStatus,
    /// Why everything was frozen, or why that ended.
    #[schema(required)]
    reason: Option<&'a Reason>,
    /// Since when everything is frozen; null while it is not.
    #[schema(required)]
    frozen_at: Option<Timestamp>,
    /// Who froze everything; null while it is not.
    #[schema(required)]
    frozen_by: Option<&'a str>,
}

impl Serialize for Emergency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown = Shown {
            status: self.status,
            reason: self.reason.as_ref(),
            frozen_at: self.frozen_at,
            frozen_by: self.frozen_by.as_deref(),
        };
        shown.serialize(serializer)
    }
}

impl PartialSchema for Emergency {
    fn schema() -> RefOr<Schema> {
        Shown::schema()
    }
}

impl ToSchema for Emergency {
    fn name() -> Cow<'static, str> {
        Shown::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Shown::schemas(schemas);
    }
}

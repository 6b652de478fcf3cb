//! The resource.

use serde::Serialize;
use sqlx::FromRow;
use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::store::columns;
use crate::auth::Roles;
use crate::ids::{ApiKeyId, PersonId};
use crate::resource;
use crate::resource::{ColumnGroup, Columns, Deprivable, Stored as _};
use crate::revision::Revision;
use crate::seals::{GroupKind, What};
use formats::clock::Timestamp;
use formats::closed_set;

resource! {
    /// A person who signed in, whom an admin key names, or who was locked before. The issuer and the subject
    /// identify them.
    pub struct Person(PersonId) in "people", shown without Request {
        @read_only {
            /// The issuer of their tokens; null without `admin.oidc`.
            issuer: Option<String>;
            /// The subject of their tokens, and the `person` of their admin keys.
            subject: String;
            /// Their name in the last token; the subject before.
            name: String;
            /// Whether their credentials are accepted.
            #[sqlx(flatten)]
            status: PersonStatus;
            /// Their roles by their groups at the last check. Admin keys have roles of their own.
            roles: Roles;
            /// The time of the last token, or of the last request with an admin key.
            #[sqlx(flatten)]
            #[schema(value_type = Option<Timestamp>)]
            last_seen_at: LastSeen;
            /// The time of the lock; null if the person is active.
            locked_at: Option<Timestamp>;
            /// The administrator who locked the person: the person, or the name of the credential. Null for an
            /// active person, and after an emergency lock.
            locked_by: Option<String>;
            /// The reason of the lock. Null for an active person, and after an emergency lock.
            lock_reason: Option<String>;
            /// The admin keys that name the person, revoked ones included.
            #[sqlx(flatten)]
            #[schema(value_type = Vec<ApiKeyId>)]
            api_key_ids: ApiKeyIds;
        }
        @internal {
            /// The time of the last lock that has ended. Access tokens from before stay refused.
            tokens_from: Option<Timestamp>;
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
}

closed_set! {
    /// Whether the credentials of a person are accepted.
    #[derive(Default)]
    pub enum PersonStatus: "PersonStatus" {
        /// They are accepted.
        #[default]
        Active = "active",
        /// They are refused.
        Locked = "locked",
    }
}

/// The time of the last token, or of the last request with an admin key.
#[derive(Clone, Debug, Default, PartialEq, Eq, FromRow, Serialize)]
#[serde(transparent)]
pub struct LastSeen {
    #[sqlx(rename = "last_seen_at")]
    at: Option<Timestamp>,
}

/// The admin keys that name a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, FromRow, Serialize)]
#[serde(transparent)]
pub struct ApiKeyIds {
    #[sqlx(rename = "api_key_ids")]
    ids: Vec<ApiKeyId>,
}

/// The people with one subject. Without these groups, a person could return without a lock after the row of the
/// locked person was deleted.
pub(super) const OF_SUBJECT: GroupKind =
    GroupKind { name: "people of a subject", table: Person::TABLE };

impl Deprivable for Person {
    const LOSES: Option<What> = Some(What::Locked);
    const GROUPS: &'static [GroupKind] = &[OF_SUBJECT];

    fn deprive(&mut self, at: Timestamp) {
        self.status = PersonStatus::Locked;
        // The login of the service can add an entry with an earlier time.
        self.locked_at = self.locked_at.max(Some(at));
    }
}

impl Person {
    /// A person of whom nothing but the issuer and the subject is known.
    pub(crate) fn named(
        (id, now): (PersonId, Timestamp),
        issuer: Option<String>,
        subject: String,
    ) -> Self {
        Self {
            id,
            issuer,
            name: subject.clone(),
            subject,
            status: PersonStatus::Active,
            roles: Roles::default(),
            last_seen_at: LastSeen::default(),
            locked_at: None,
            locked_by: None,
            lock_reason: None,
            api_key_ids: ApiKeyIds::default(),
            tokens_from: None,
            issued_at: None,
            is_confirmed: false,
            by_id_token: false,
            by_access_token: false,
            created_at: now,
            updated_at: now,
            revision: Revision::FIRST,
            seal_valid: None,
        }
    }

    /// The same person after a lock.
    pub(crate) fn locked(self, at: Timestamp, by: String, reason: String) -> Self {
        Self {
            status: PersonStatus::Locked,
            locked_at: Some(at),
            locked_by: Some(by),
            lock_reason: Some(reason),
            ..self
        }
    }

    /// The same person after the end of a lock. The login of the service can add an entry with an earlier time: a lock
    /// by an entry alone ends what is older than its end, one in the row what is older than the lock.
    pub(crate) fn unlocked(self, now: Timestamp) -> Self {
        let of_entry = self.locked_by.is_none().then_some(now);
        Self {
            status: PersonStatus::Active,
            tokens_from: self.tokens_from.max(self.locked_at).max(of_entry),
            locked_at: None,
            locked_by: None,
            lock_reason: None,
            ..self
        }
    }
}

impl LastSeen {
    /// The time; none for a person who was not seen yet.
    pub fn at(&self) -> Option<Timestamp> {
        self.at
    }
}

impl ApiKeyIds {
    /// The identifiers, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = ApiKeyId> {
        self.ids.iter().copied()
    }
}

/// It follows from the time of the lock.
impl ColumnGroup for PersonStatus {
    const COLUMNS: &'static [&'static str] = &[];

    fn write(&self, _: &mut Columns) {}
}

impl<'r> FromRow<'r, PgRow> for PersonStatus {
    fn from_row(row: &'r PgRow) -> sqlx::Result<Self> {
        let locked_at: Option<Timestamp> = row.try_get("locked_at")?;
        Ok(if locked_at.is_some() { Self::Locked } else { Self::Active })
    }
}

/// It decides nothing, so that no seal covers it.
impl ColumnGroup for LastSeen {
    const COLUMNS: &'static [&'static str] = &[columns::LAST_SEEN_AT];

    fn write(&self, _: &mut Columns) {}
}

/// The rows of the keys decide.
impl ColumnGroup for ApiKeyIds {
    const COLUMNS: &'static [&'static str] = &[columns::API_KEY_IDS];

    fn write(&self, _: &mut Columns) {}
}

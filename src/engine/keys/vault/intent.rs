//! Intents: objects that are about to be created in a token. An instance removes an object without a record only if an
//! instance wrote its intent, which a MAC under the row key shows: whoever writes to the database can name any object.

use sqlx::FromRow;
use uuid::Uuid;

use super::Assignment;
use crate::ids::{ChangeId, ServiceId};
use crate::seals::{FIRST_FORM, Forms, RowForm, RowName, Seals};
use formats::clock::Timestamp;

/// The columns have had one form.
const FORMS: Forms = Forms { newest: FIRST_FORM, written: FIRST_FORM };

/// An intent is written once.
const REVISION: i64 = 1;

/// An object that a change is about to make in a token.
#[derive(Clone, Copy, Debug)]
pub(in crate::keys) enum IntendedObject {
    /// A key with this assignment.
    Key(Assignment),
    /// The wrapping key of an import.
    ImportKey,
}

/// An intent.
#[derive(Clone, Debug, FromRow)]
pub(in crate::keys) struct Intent {
    /// The identifier of the later record.
    pub(in crate::keys) id: Uuid,
    /// What the object is for.
    pub(super) purpose: String,
    /// The service of a key.
    pub(super) service_id: Option<ServiceId>,
    /// The approved change that makes it.
    pub(super) change_id: Option<ChangeId>,
    /// The attempt of a request with an `Idempotency-Key` that makes it.
    pub(super) attempt: Option<Uuid>,
    /// When it was written.
    pub(super) created_at: Timestamp,
}

impl Intent {
    pub(super) fn of(id: Uuid, object: IntendedObject, created_at: Timestamp) -> Self {
        let (purpose, assignment) = match object {
            IntendedObject::Key(assignment) => ("key", Some(assignment)),
            IntendedObject::ImportKey => ("import_key", None),
        };
        Self {
            id,
            purpose: purpose.to_owned(),
            service_id: assignment.map(|assignment| assignment.service_id),
            change_id: assignment.and_then(|assignment| assignment.change),
            attempt: assignment.and_then(|assignment| assignment.attempt),
            created_at,
        }
    }

    /// The MAC under the row key.
    pub(super) fn mac(&self, seals: &Seals) -> sqlx::Result<Vec<u8>> {
        Ok(seals.seal(self.row(), REVISION, (&self.form()?, FORMS))?.bytes)
    }

    /// Whether an instance wrote it, with this MAC.
    pub(in crate::keys) async fn is_authentic(
        &self,
        seals: &Seals,
        mac: &[u8],
    ) -> sqlx::Result<bool> {
        if let Some(generation) = seals.unknown([mac].into_iter()) {
            seals.learn(generation).await;
        }
        Ok(seals.verify(self.row(), REVISION, (&self.form()?, FORMS), mac)?)
    }

    fn row(&self) -> RowName {
        RowName { table: "key_intents", id: self.id }
    }

    fn form(&self) -> sqlx::Result<RowForm> {
        let mut form = RowForm::default();
        let since = (FIRST_FORM, false);
        form.add("purpose", &self.purpose, since)
            .and_then(|()| form.add("service_id", &self.service_id, since))
            .and_then(|()| form.add("change_id", &self.change_id, since))
            .and_then(|()| form.add("attempt", &self.attempt, since))
            .and_then(|()| form.add("created_at", &self.created_at, since))
            .map_err(sqlx::Error::Encode)?;
        Ok(form)
    }
}

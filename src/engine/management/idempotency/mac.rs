//! The MAC of an answer.

use super::{Claim, KeptAnswer};
use crate::seals::{FIRST_FORM, Forms, RowForm, RowName, Seals};

/// The columns have had one form.
const FORMS: Forms = Forms { newest: FIRST_FORM, written: FIRST_FORM };

/// An answer is written once.
const REVISION: i64 = 1;

/// A request and the answer to it.
#[derive(Debug)]
pub(super) struct AnsweredCall<'c> {
    claim: &'c Claim,
    answer: &'c KeptAnswer,
}

impl<'c> AnsweredCall<'c> {
    pub(super) fn of(claim: &'c Claim, answer: &'c KeptAnswer) -> Self {
        Self { claim, answer }
    }

    /// The MAC under the row key.
    pub(super) fn mac(&self, seals: &Seals) -> sqlx::Result<Vec<u8>> {
        Ok(seals.seal(self.row(), REVISION, (&self.form()?, FORMS))?.bytes)
    }

    /// Whether an instance wrote it, with this MAC.
    pub(super) fn is_authentic(&self, seals: &Seals, mac: Option<Vec<u8>>) -> sqlx::Result<bool> {
        let mac = mac.unwrap_or_default();
        Ok(seals.verify(self.row(), REVISION, (&self.form()?, FORMS), &mac)?)
    }

    fn row(&self) -> RowName {
        RowName { table: "idempotent_calls", id: self.claim.attempt }
    }

    fn form(&self) -> sqlx::Result<RowForm> {
        let (call, answer) = (&self.claim.call, self.answer);
        let mut form = RowForm::default();
        let since = (FIRST_FORM, false);
        form.add("caller", &call.caller.uuid(), since)
            .and_then(|()| form.add("path", &call.path, since))
            .and_then(|()| form.add("key", &call.key, since))
            .and_then(|()| form.add("fingerprint", &call.fingerprint.as_slice(), since))
            .and_then(|()| form.add("begun_at", &self.claim.begun_at, since))
            .and_then(|()| form.add("resource_type", &answer.resource_type, since))
            .and_then(|()| form.add("answer", &answer.resource, since))
            .and_then(|()| form.add("changed_to", &answer.changed_to, since))
            .map_err(sqlx::Error::Encode)?;
        Ok(form)
    }
}

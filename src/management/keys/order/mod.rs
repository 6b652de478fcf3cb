//! From what a client says of a new key to what is to be done.

mod length;
mod material;
mod said;
mod source;
mod token_object;
mod wrapped;

use self::said::Said;
pub(super) use self::source::Source;
use super::{NewKeyDraft, Rules};
use crate::clock::Timestamp;
use crate::ids::ServiceId;
use crate::management::{Error, Proposal, check};
use crate::problem::{Code, Problem};

/// A key that is to come.
pub(super) struct Order {
    pub(super) service_id: ServiceId,
    pub(super) name: Option<String>,
    pub(super) activate: bool,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) source: Source,
}

impl Order {
    /// Decides. This may take as long as a password hash.
    pub(super) fn of(
        proposal: Proposal<NewKeyDraft>,
        rules: Rules,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let (mut problems, draft) = (proposal.problems, proposal.draft);
        let in_plaintext = !draft.private_key.is_absent() || !draft.secret_key.is_absent();
        if in_plaintext && !rules.plaintext_import {
            return Err(Error::NotAllowed(
                "keys are not taken in plaintext; wrap it, or set keys.allow_plaintext_import",
            ));
        }
        let found = &mut problems;
        check::require(found, [("serviceId", draft.service_id.is_absent())]);
        let mut service_id = None;
        check::set(
            found,
            &mut service_id,
            draft.service_id.clone(),
            |found, id| {
                let known: Option<ServiceId> = id.parse().ok();
                if known.is_none() {
                    let message = "there is no such service";
                    found.note(Problem::new("serviceId", Code::Unknown, message));
                }
                known.map(Some)
            },
        );
        let mut name = None;
        check::set(found, &mut name, draft.name.clone(), |found, given| {
            check::name(found, given).map(Some)
        });
        let mut activate = true;
        check::set(found, &mut activate, draft.activate.clone(), |_, given| {
            Some(given)
        });
        let mut expires_at = None;
        check::set(
            found,
            &mut expires_at,
            draft.expires_at.clone(),
            |found, text| check::or_null(text, |text| check::expiry(found, now, None, &text)),
        );
        let said = Said::of(found, &draft);
        let source = Source::of(found, said, draft);
        match (service_id, source) {
            (Some(service_id), Some(source)) if problems.is_empty() => Ok(Self {
                service_id,
                name,
                activate,
                expires_at,
                source,
            }),
            _ => Err(problems.into()),
        }
    }
}

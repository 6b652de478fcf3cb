//! Requests that a client can send again: the first one makes the change, and the others get its answer.
//!
//! A request claims its key before it begins. The transaction of the change writes the answer, so that
//! a crash leaves either both or none. A claim without an answer ends after a time, as its request may
//! have ended with its instance. An answer has a MAC under the row key, so that somebody who writes to the
//! database cannot have the service send another one.

mod mac;
mod store;

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

use self::mac::AnsweredCall;
use super::changes::ChangeStatus;
use super::event::EventAnswer;
use super::{Error, ResourceType};
use crate::auth::{ApiKeyType, CallerId};
use crate::change_kind::ChangeKind;
use crate::db::Pool;
use crate::resource::Rows;
use crate::revision::Revision;
use formats::clock::{Entropy, Timestamp};

/// How long an answer is kept.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// A request with an `Idempotency-Key`.
#[derive(Clone, Debug)]
pub struct IdempotentCall {
    pub caller: CallerId,
    /// The path of the request.
    pub path: String,
    /// The `Idempotency-Key`.
    pub key: String,
    /// An HMAC of the body.
    pub fingerprint: [u8; 32],
}

/// A claim on the key of a request. Only its holder writes the answer.
#[derive(Clone, Debug)]
pub struct Claim {
    call: IdempotentCall,
    attempt: Uuid,
    begun_at: Timestamp,
}

/// The state of a request with an `Idempotency-Key`.
#[derive(Clone, Debug)]
pub enum ClaimState {
    /// It is the first one.
    First(Claim),
    /// It is sent again: the answer to the first one.
    Again(KeptAnswer),
    /// The first one is in progress.
    InProgress,
    /// The first one had another body.
    OtherBody,
    /// The answer to the first one does not count: the service did not write it, or has another row key now.
    Forged,
}

/// The outcome of a first request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptOutcome {
    /// It created the resource.
    Created,
    /// It changed the resource, which has this revision.
    Changed(Revision),
    /// It proposed the change.
    Proposed,
    /// It approved or rejected the change.
    Decided,
}

/// The answer to the first request: the resource that it created or changed, or the change that needs
/// approval.
#[derive(Clone, Debug)]
pub struct KeptAnswer {
    pub resource_type: ResourceType,
    /// The resource in JSON as the first answer showed it, without secrets.
    pub resource: String,
    /// The revision of a changed resource.
    changed_to: Option<Revision>,
}

impl KeptAnswer {
    /// Whether only owners read it: it is an admin key.
    pub fn is_admin_key(&self) -> bool {
        if self.resource_type == ResourceType::ApiKey {
            return self.text("type").as_deref() == Some(ApiKeyType::Admin.name());
        }
        self.is_change(ChangeKind::ApiKeyAdmin)
    }

    /// Whether it is the change of a credential, which requires the right to manage API keys.
    pub fn is_credential_change(&self) -> bool {
        self.is_change(ChangeKind::CredentialOpen)
    }

    fn is_change(&self, kind: ChangeKind) -> bool {
        // Of the types, only a change has this member.
        let kinds = self.member("action");
        let mut kinds = kinds.iter().filter_map(Value::as_array).flatten();
        kinds.any(|it| it == kind.name())
    }

    /// The outcome of the first request.
    pub fn outcome(&self) -> KeptOutcome {
        if self.resource_type != ResourceType::Change {
            return self.changed_to.map_or(KeptOutcome::Created, KeptOutcome::Changed);
        }
        let is_pending = self.text("status").as_deref() == Some(ChangeStatus::Pending.name());
        let has_approvals = self.member("approvals") != Some(json!([]));
        if is_pending && !has_approvals { KeptOutcome::Proposed } else { KeptOutcome::Decided }
    }

    /// Whether the first answer had the secret of a new API key.
    pub fn had_secret(&self) -> bool {
        match self.outcome() {
            KeptOutcome::Created => self.resource_type == ResourceType::ApiKey,
            KeptOutcome::Proposed => {
                let of_api_key =
                    self.text("resourceType").as_deref() == Some(ResourceType::ApiKey.name());
                of_api_key && self.member("before") == Some(Value::Null)
            }
            KeptOutcome::Changed(_) | KeptOutcome::Decided => false,
        }
    }

    /// A member of the resource that is a string.
    pub fn text(&self, member: &str) -> Option<String> {
        Some(self.member(member)?.as_str()?.to_owned())
    }

    fn member(&self, member: &str) -> Option<Value> {
        let mut resource: Value = serde_json::from_str(&self.resource).ok()?;
        Some(resource.get_mut(member)?.take())
    }
}

impl IdempotentCall {
    /// Claims the key. A claim without an answer ends after `patience`.
    pub async fn claim(
        self,
        pool: &Pool,
        entropy: &Entropy,
        now: Timestamp,
        patience: Duration,
    ) -> Result<ClaimState, Error> {
        let attempt = Uuid::from_bytes(entropy.bytes());
        loop {
            let claim = Claim { call: self.clone(), attempt, begun_at: now };
            if store::claim(pool, &claim, now.minus(KEPT), now.minus(patience)).await? {
                return Ok(ClaimState::First(claim));
            }
            // It may be released in the meantime.
            let Some(found) = store::find(pool, &self).await? else {
                continue;
            };
            if found.fingerprint != self.fingerprint {
                return Ok(ClaimState::OtherBody);
            }
            let Some((resource_type, resource)) = found.resource_type.zip(found.answer) else {
                return Ok(ClaimState::InProgress);
            };
            let answer = KeptAnswer { resource_type, resource, changed_to: found.changed_to };
            let claim = Claim { call: self, attempt: found.attempt, begun_at: found.begun_at };
            let is_ours =
                AnsweredCall::of(&claim, &answer).is_authentic(pool.seals(), found.mac)?;
            return Ok(if is_ours { ClaimState::Again(answer) } else { ClaimState::Forged });
        }
    }
}

impl Claim {
    /// The identifier of the attempt, which is in the database while this claim holds.
    pub(super) fn attempt(&self) -> Uuid {
        self.attempt
    }

    /// Keeps the resource that the answer shows, in the transaction of the change.
    pub(super) async fn keep(
        &self,
        rows: Rows<&mut PgConnection>,
        answer: Option<EventAnswer<'_>>,
    ) -> Result<(), Error> {
        let Some(answer) = answer else {
            return Ok(());
        };
        let answer = KeptAnswer {
            resource_type: answer.resource_type,
            resource: answer.resource.get().to_owned(),
            changed_to: answer.changed_to,
        };
        let mac = AnsweredCall::of(self, &answer).mac(&rows.seals)?;
        if store::keep(rows.executor, self, &answer, &mac).await? {
            return Ok(());
        }
        let message = "the request took too long: another request with its Idempotency-Key began";
        Err(Error::Conflict(message.to_owned()))
    }

    /// Gives the key back, unless an answer is kept: the request changed nothing.
    ///
    /// # Errors
    /// The database fails. The claim then ends by itself.
    pub async fn release(&self, pool: &Pool) -> Result<(), Error> {
        Ok(store::release(pool, self).await?)
    }
}

/// Deletes answers that are no longer kept.
pub(crate) async fn forget_old(pool: &Pool, now: Timestamp) -> Result<(), Error> {
    Ok(store::delete_before(pool, now.minus(KEPT)).await?)
}

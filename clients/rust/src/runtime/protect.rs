//! `POST /api/v1/protect`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::present;
use crate::error::Error;
use crate::transport::{Answer, Call};
use crate::{Client, Context, Envelope, Payload, Scope};

/// A protected payload.
#[derive(Clone, Debug, PartialEq)]
pub struct Protected {
    /// The envelope. Store it unchanged.
    pub envelope: Envelope,
    /// The ID of the request.
    pub request_id: String,
}

/// What became of a payload under a policy that can be inactive.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a payload that passed through is not protected"]
pub enum Protection {
    /// The payload is in the envelope.
    Protected(Protected),
    /// The policy is inactive. Sealward returned the payload unprotected.
    PassedThrough {
        /// The payload, unprotected.
        payload: Payload,
        /// A text for people.
        warning: String,
        /// The ID of the request.
        request_id: String,
    },
    /// The policy is inactive. Sealward dropped the payload.
    Dropped {
        /// A text for people.
        message: String,
        /// The ID of the request.
        request_id: String,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProtectRequest<'a> {
    payload: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_number: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a Context>,
}

impl<'a> ProtectRequest<'a> {
    pub(super) fn new(payload: &'a Payload, scope: &'a Scope) -> Result<Self, Error> {
        Ok(Self {
            payload: payload.as_raw()?,
            policy_number: scope.policy_number(),
            context: scope.bound_to(),
        })
    }
}

/// The answer of a call or, with a status, of an item of a batch.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProtectedPayload<'a> {
    #[serde(default)]
    request_id: String,
    #[expect(dead_code, reason = "always the same")]
    #[serde(default)]
    message_type: String,
    #[serde(default)]
    operations: Vec<String>,
    jwe: Option<Envelope>,
    #[serde(borrow, default, deserialize_with = "present")]
    payload: Option<&'a RawValue>,
    warning: Option<String>,
    dropped: Option<bool>,
    message: Option<String>,
}

impl ProtectedPayload<'_> {
    /// What became of the payload; none if the answer is not as documented.
    pub(super) fn protection(self, request_id: Option<&str>) -> Option<Protection> {
        let request_id = request_id.map_or(self.request_id, ToOwned::to_owned);
        let encrypted = self.operations == ["encrypt"];
        match (self.jwe, self.payload, self.dropped) {
            (Some(envelope), None, None) if encrypted => {
                Some(Protection::Protected(Protected { envelope, request_id }))
            }
            (None, Some(payload), None) if self.operations.is_empty() => {
                let warning = self.warning.unwrap_or_default();
                let payload = Payload::from_raw(payload);
                Some(Protection::PassedThrough { payload, warning, request_id })
            }
            (None, None, Some(true)) if self.operations.is_empty() => {
                let message = self.message.unwrap_or_default();
                Some(Protection::Dropped { message, request_id })
            }
            _ => None,
        }
    }
}

impl Protection {
    /// The envelope, or an error if the payload passed through or was dropped.
    pub fn only_protected(self) -> Result<Protected, Error> {
        match self {
            Self::Protected(protected) => Ok(protected),
            Self::PassedThrough { request_id, .. } => {
                Err(Error::NotProtected { dropped: false, request_id })
            }
            Self::Dropped { request_id, .. } => {
                Err(Error::NotProtected { dropped: true, request_id })
            }
        }
    }
}

impl Client {
    /// Protects a payload. A payload that passes through or is dropped is an error.
    pub async fn protect(&self, payload: &Payload, scope: &Scope) -> Result<Protected, Error> {
        self.protect_or_pass(payload, scope).await?.only_protected()
    }

    /// Protects a payload, or returns what the failure mode of an inactive policy made of it.
    pub async fn protect_or_pass(
        &self,
        payload: &Payload,
        scope: &Scope,
    ) -> Result<Protection, Error> {
        let request = ProtectRequest::new(payload, scope)?;
        let answer: Answer = self.answer(Call::post("/api/v1/protect", &request)?).await?;
        let protected: ProtectedPayload<'_> = answer.parse()?;
        protected.protection(None).ok_or_else(|| answer.unexpected())
    }
}

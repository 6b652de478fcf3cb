//! `POST /api/v1/unprotect`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::Error;
use crate::transport::Call;
use crate::{Client, Context, Envelope, Payload, Scope};

/// An envelope in one of the forms that Sealward opens.
#[derive(Clone, Copy, Debug)]
pub enum Sealed<'a> {
    /// An envelope.
    Envelope(&'a Envelope),
    /// The legacy string `protectedPayload`.
    Legacy(&'a str),
}

impl<'a> From<&'a Envelope> for Sealed<'a> {
    fn from(envelope: &'a Envelope) -> Self {
        Self::Envelope(envelope)
    }
}

impl<'a> Sealed<'a> {
    pub(super) fn jwe(self) -> Option<&'a Envelope> {
        match self {
            Self::Envelope(envelope) => Some(envelope),
            Self::Legacy(_) => None,
        }
    }

    pub(super) fn protected_payload(self) -> Option<&'a str> {
        match self {
            Self::Envelope(_) => None,
            Self::Legacy(text) => Some(text),
        }
    }
}

/// An opened payload.
#[derive(Clone, Debug, PartialEq)]
pub struct Unprotected {
    /// The payload.
    pub payload: Payload,
    /// The ID of the request.
    pub request_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UnprotectRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    jwe: Option<&'a Envelope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protected_payload: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_number: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a Context>,
}

impl<'a> UnprotectRequest<'a> {
    pub(super) fn new(sealed: Sealed<'a>, scope: &'a Scope) -> Self {
        Self {
            jwe: sealed.jwe(),
            protected_payload: sealed.protected_payload(),
            policy_number: scope.policy_number(),
            context: scope.bound_to(),
        }
    }
}

/// The answer of a call or, with a status, of an item of a batch.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UnprotectedPayload<'a> {
    #[serde(default)]
    request_id: String,
    #[expect(dead_code, reason = "always the same")]
    #[serde(default)]
    operations: Vec<String>,
    #[serde(borrow)]
    payload: &'a RawValue,
}

impl UnprotectedPayload<'_> {
    pub(super) fn into_unprotected(self, request_id: Option<&str>) -> Unprotected {
        Unprotected {
            payload: Payload::from_raw(self.payload),
            request_id: request_id.map_or(self.request_id, ToOwned::to_owned),
        }
    }
}

impl Client {
    /// Opens an envelope. A failure to decrypt is final.
    pub async fn unprotect(
        &self,
        sealed: impl Into<Sealed<'_>>,
        scope: &Scope,
    ) -> Result<Unprotected, Error> {
        let request = UnprotectRequest::new(sealed.into(), scope);
        let call = Call::post("/api/v1/unprotect", &request)?.opening();
        let answer = self.answer(call).await?;
        let opened: UnprotectedPayload<'_> = answer.parse()?;
        Ok(opened.into_unprotected(None))
    }
}

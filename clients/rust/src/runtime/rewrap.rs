//! `POST /api/v1/rewrap`.

use serde::{Deserialize, Serialize};

use super::{Protected, Sealed};
use crate::error::Error;
use crate::transport::Call;
use crate::{Client, Context, Envelope, Scope};

/// The policy and the context of the new envelope. The default is those of the former envelope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    policy_number: Option<String>,
    context: Option<Context>,
}

impl Target {
    /// The policy and the context of the former envelope.
    pub fn new() -> Self {
        Self::default()
    }

    /// With the policy that has this number.
    pub fn policy(mut self, number: impl Into<String>) -> Self {
        self.policy_number = Some(number.into());
        self
    }

    /// With this context.
    pub fn context(mut self, context: impl Into<Context>) -> Self {
        self.context = Some(context.into());
        self
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RewrapRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    jwe: Option<&'a Envelope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protected_payload: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_number: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_policy_number: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a Context>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_context: Option<&'a Context>,
}

impl<'a> RewrapRequest<'a> {
    pub(super) fn new(sealed: Sealed<'a>, scope: &'a Scope, target: &'a Target) -> Self {
        Self {
            jwe: sealed.jwe(),
            protected_payload: sealed.protected_payload(),
            policy_number: scope.policy_number(),
            to_policy_number: target.policy_number.as_deref(),
            context: scope.bound_to(),
            to_context: target.context.as_ref(),
        }
    }
}

/// The answer of a call or, with a status, of an item of a batch.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RewrappedPayload {
    #[serde(default)]
    request_id: String,
    #[expect(dead_code, reason = "always the same")]
    #[serde(default)]
    message_type: String,
    #[expect(dead_code, reason = "always the same")]
    #[serde(default)]
    operations: Vec<String>,
    jwe: Envelope,
}

impl RewrappedPayload {
    pub(super) fn into_protected(self, request_id: Option<&str>) -> Protected {
        let request_id = request_id.map_or(self.request_id, ToOwned::to_owned);
        Protected { envelope: self.jwe, request_id }
    }
}

impl Client {
    /// Opens an envelope and makes a new one of its payload, which does not leave Sealward.
    ///
    /// The default target is the newest key of the same policy.
    pub async fn rewrap(
        &self,
        sealed: impl Into<Sealed<'_>>,
        scope: &Scope,
        target: &Target,
    ) -> Result<Protected, Error> {
        let request = RewrapRequest::new(sealed.into(), scope, target);
        let answer = self.answer(Call::post("/api/v1/rewrap", &request)?.opening()).await?;
        let rewrapped: RewrappedPayload = answer.parse()?;
        Ok(rewrapped.into_protected(None))
    }
}

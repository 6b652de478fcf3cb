//! From a payload to an envelope for the destination of a policy.

use serde::Serialize;
use tracing::Instrument as _;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Array, ArrayBuilder, Object, ObjectBuilder, Type};

use super::body::{MessageType, Reference, borrowed_request, require_policy, written};
use super::long_work::Cost;
use super::sealing::Sealed;
use super::{Answer, Body, Call, Protection, Refusal};
use crate::audit::{Outcome, Unrecorded};
use crate::auth::Application;
use crate::body_memory::BodyBytes;
use crate::policy::{PolicyNumber, PolicyPermit, Verdict, to};
use crate::request_tag::RequestTag;
use crate::telemetry::step;
use formats::envelope::{Context, Envelope};
use formats::json::{Members, Text, Verbatim};
use formats::problem::Problems;

const WARNING: &str = "The policy is not active: the payload was passed through unprotected";
const DROPPED: &str = "The policy is not active: the payload was dropped";

borrowed_request! {
    /// A payload to protect.
    ProtectRequest<'a> {
        /// Any JSON value. `/unprotect` returns exactly this text.
        payload "payload": Text<'a>,
        /// The policy that protects the payload. Default: the policy that is bound to the API key.
        policy_number "policyNumber": Option<Reference<'a, PolicyNumber>>,
        /// The context of the envelope. `/unprotect` needs the same context.
        context "context": Option<Context>,
    }
}

/// The protected payload; or, under an inactive policy, the result of its failure mode.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProtectedPayload<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RequestTag, required)]
    request_id: Option<&'a RequestTag>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    status: Option<u16>,
    message_type: MessageType,
    #[schema(schema_with = operations)]
    operations: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Envelope)]
    jwe: Option<Verbatim<'a>>,
    /// The payload, unprotected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    payload: Option<Verbatim<'a>>,
    /// A warning that the payload is unprotected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    warning: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = always_true)]
    dropped: Option<bool>,
    /// A message that the payload was discarded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    message: Option<&'static str>,
}

impl<'a> ProtectedPayload<'a> {
    fn of(call: &'a Call) -> Self {
        Self {
            request_id: call.request_id(),
            status: call.item_status(),
            message_type: MessageType::ProtectedPayload,
            operations: &[],
            jwe: None,
            payload: None,
            warning: None,
            dropped: None,
            message: None,
        }
    }
}

fn operations() -> Array {
    let encrypt = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["encrypt"]));
    ArrayBuilder::new().items(encrypt).build()
}

fn always_true() -> Object {
    ObjectBuilder::new().schema_type(Type::Boolean).enum_values(Some([true])).build()
}

impl Protection {
    /// Protects the payload of `body` under the policy that it names.
    pub async fn protect(&self, mut call: Call, body: BodyBytes) -> Result<Answer, Unrecorded> {
        let this = self.clone();
        let recorded = self.run_to_completion(call.lane(), async move {
            let outcome = this.try_protect(&mut call, &body).await;
            this.record(call, outcome)
        });
        // The commit is awaited outside, so that with warm caches a small body needs no task of its own.
        recorded.await?.answer().await
    }

    async fn try_protect(&self, call: &mut Call, body: &[u8]) -> Result<Body, Refusal> {
        let (application, text) = self.admit(call, body).await?;
        self.protect_one(call, &application, text).await
    }

    /// One payload of a request or of a batch.
    pub(super) async fn protect_one(
        &self,
        call: &mut Call,
        application: &Application,
        text: Text<'_>,
    ) -> Result<Body, Refusal> {
        let is_bound = application.bound_policy().is_some();
        let (lane, size) = (call.lane(), text.as_str().len());
        let reading = || read(call, text, is_bound);
        let request = self.long_work.run(lane, Cost::Low, size, reading).await?;
        let number = request.policy_number.as_deref();
        let permit = self.permit(call, application, number, None).await?;
        let context = request.context.as_ref();
        permit.policy().check_context("context", context.is_some())?;
        let payload = request.payload.as_str();
        let answer = self.carry_out(call, &permit, context, payload).await?;
        self.check_again(call, application, Some(permit.grounds())).await?;
        Ok(answer)
    }

    /// Does with the payload what the state of the policy says.
    async fn carry_out(
        &self,
        call: &mut Call,
        permit: &PolicyPermit<to::Protect>,
        context: Option<&Context>,
        payload: &str,
    ) -> Result<Body, Refusal> {
        match permit.policy().verdict() {
            Verdict::Protect => {
                let sealed = self.seal(call, permit, context, payload);
                sealed.instrument(step!("crypto")).await
            }
            Verdict::Refuse => Err(Refusal::PolicyNotActive),
            Verdict::PassThrough => {
                call.note_outcome(Outcome::PassedThrough);
                let answer = ProtectedPayload {
                    payload: Some(Verbatim(payload)),
                    warning: Some(WARNING),
                    ..ProtectedPayload::of(call)
                };
                written(payload.len(), &answer)
            }
            Verdict::Drop => {
                call.note_outcome(Outcome::Dropped);
                let answer = ProtectedPayload {
                    dropped: Some(true),
                    message: Some(DROPPED),
                    ..ProtectedPayload::of(call)
                };
                written(0, &answer)
            }
        }
    }

    async fn seal(
        &self,
        call: &mut Call,
        permit: &PolicyPermit<to::Protect>,
        context: Option<&Context>,
        payload: &str,
    ) -> Result<Body, Refusal> {
        let key = self.dependencies.keyring.to_protect(permit).await;
        let key = key.map_err(Refusal::of_destination)?;
        call.note_key(key.id());
        let (lane, size) = (call.lane(), payload.len());
        let sealing = || {
            let sealed = Sealed::new(&key, &self.dependencies.entropy, context, payload)?;
            call.note_ctx(sealed.ctx);
            let answer = ProtectedPayload {
                operations: &["encrypt"],
                jwe: Some(sealed.jwe()),
                ..ProtectedPayload::of(call)
            };
            written(sealed.len(), &answer)
        };
        self.long_work.run(lane, Cost::Low, size, sealing).await
    }
}

fn read<'a>(
    call: &mut Call,
    text: Text<'a>,
    is_bound: bool,
) -> Result<ProtectRequest<'a>, Problems> {
    let mut members = Members::exactly(text, ProtectRequest::MEMBERS);
    call.note_payload(members.get("payload"));
    let request = ProtectRequest::read(&mut members);
    require_policy(&mut members, is_bound);
    members.finish(|| request)
}

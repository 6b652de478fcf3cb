//! From a payload to an envelope for the destination of a policy.

use std::cell::Cell;

use tracing::Instrument as _;

use super::body::{
    Encrypted, Head, Json, ProtectedPayloadType, Reference, True, Unchanged, answer, answer_of,
    request, require_policy, written,
};
use super::long_work::Cost;
use super::sealing::Sealing;
use super::{Answer, Body, Call, Protection, Refusal, caught};
use crate::audit::{Outcome, Unrecorded};
use crate::auth::Application;
use crate::policy::{PolicyNumber, PolicyPermit, Verdict, to};
use crate::telemetry::step;
use formats::envelope::Context;
use formats::json::{Members, Text};
use formats::problem::Problems;

const WARNING: &str = "The policy is not active: the payload was passed through unprotected";
const DROPPED: &str = "The policy is not active: the payload was dropped";

request! {
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

answer_of! {
    /// The protected payload; or, under an inactive policy, the result of its failure mode.
    ProtectedPayload<'a> { Protected<'a>, PassedThrough<'a>, Dropped<'a>, }
}

answer! {
    /// The payload is protected.
    Protected<'a> {
        head "requestId": Head<'a>,
        message_type "messageType": ProtectedPayloadType,
        operations "operations": Encrypted,
        jwe "jwe": Sealing<'a>,
    }
}

answer! {
    /// The policy is not active; its failure mode returns the payload unprotected.
    PassedThrough<'a> {
        head "requestId": Head<'a>,
        message_type "messageType": ProtectedPayloadType,
        operations "operations": Unchanged,
        /// The payload, unprotected.
        payload "payload": Json<'a>,
        /// A warning that the payload is unprotected.
        warning "warning": &'static str,
    }
}

answer! {
    /// The policy is not active; its failure mode discards the payload.
    Dropped<'a> {
        head "requestId": Head<'a>,
        message_type "messageType": ProtectedPayloadType,
        operations "operations": Unchanged,
        dropped "dropped": True,
        /// A message that the payload was discarded.
        message "message": &'static str,
    }
}

impl Protection {
    /// Protects the payload of `body` under the policy that it names.
    ///
    /// Needs no token, and nothing is awaited between sealing and handing over the record.
    ///
    /// # Errors
    /// The outcome could not be recorded, so no result is returned.
    pub async fn protect(&self, mut call: Call, body: &[u8]) -> Result<Answer, Unrecorded> {
        self.modules.recorder.ready()?;
        caught(async {
            let outcome = self.try_protect(&mut call, body).await;
            self.conclude(call, outcome).await
        })
        .await
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
        let permit = self.permit(call, application, number).await?;
        let context = request.context.as_ref();
        permit
            .policy()
            .check_context("context", context.is_some())?;
        let payload = request.payload.as_str();
        match permit.policy().verdict() {
            Verdict::Protect => {
                let sealed = self.seal(call, &permit, context, payload);
                sealed.instrument(step!("crypto")).await
            }
            Verdict::Refuse => Err(Refusal::PolicyNotActive),
            Verdict::PassThrough => {
                call.note_outcome(Outcome::PassedThrough);
                written(
                    payload.len(),
                    &ProtectedPayload::PassedThrough(PassedThrough {
                        head: call.head(),
                        message_type: ProtectedPayloadType,
                        operations: Unchanged,
                        payload: Json(payload),
                        warning: WARNING,
                    }),
                )
            }
            Verdict::Drop => {
                call.note_outcome(Outcome::Dropped);
                written(
                    0,
                    &ProtectedPayload::Dropped(Dropped {
                        head: call.head(),
                        message_type: ProtectedPayloadType,
                        operations: Unchanged,
                        dropped: True,
                        message: DROPPED,
                    }),
                )
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
        let key = self.modules.keyring.to_protect(permit).await;
        let key = key.map_err(Refusal::of_destination)?;
        call.note_key(key.id());
        let (lane, size) = (call.lane(), payload.len());
        let sealing = || {
            let ctx = Cell::default();
            let answer = ProtectedPayload::Protected(Protected {
                head: call.head(),
                message_type: ProtectedPayloadType,
                operations: Encrypted,
                jwe: Sealing {
                    key,
                    entropy: &self.modules.entropy,
                    context,
                    payload,
                    ctx: &ctx,
                },
            });
            let body = written(Sealing::capacity(payload), &answer);
            drop(answer);
            call.note_ctx(ctx.get());
            body
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

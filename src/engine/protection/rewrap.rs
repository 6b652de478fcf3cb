//! From an envelope to a new one with the same payload, which does not leave.

use std::borrow::Cow;

use serde::Serialize;
use tracing::Instrument as _;
use utoipa::ToSchema;

use super::body::{MessageType, Reference, borrowed_request, require_policy, written};
use super::form::EnvelopeForm;
use super::long_work::Cost;
use super::sealing::Sealed;
use super::{Answer, Body, Call, Dependencies, Protection, Refusal};
use crate::audit::Unrecorded;
use crate::auth::Application;
use crate::body_memory::BodyBytes;
use crate::policy::{KeyOwnership, Policy, PolicyNumber, RewrapPermit, Verdict};
use crate::request_tag::RequestTag;
use crate::telemetry::step;
use formats::envelope::{Context, Envelope};
use formats::json::{Members, Text, Verbatim};
use formats::problem::{Problem, Problems};

borrowed_request! {
    /// An envelope to rewrap, in exactly one of two forms.
    RewrapRequest<'a> {
        jwe "jwe": Option<Envelope>,
        /// The legacy form of `jwe`: the envelope's JSON or its compact serialization in base64url; or
        /// the compact serialization itself.
        protected_payload "protectedPayload": Option<Cow<'a, str>>,
        /// The policy of the envelope. Default: the policy that is bound to the API key.
        policy_number "policyNumber": Option<Reference<'a, PolicyNumber>>,
        /// The policy of the new envelope. Default: the policy of the envelope.
        to_policy_number "toPolicyNumber": Option<Reference<'a, PolicyNumber>>,
        /// The context with which the envelope was made; absent if it was made without one.
        context "context": Option<Context>,
        /// The context of the new envelope. Default: `context`.
        to_context "toContext": Option<Context>,
    } or answer
}

/// The payload in a new envelope.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RewrappedPayload<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RequestTag, required)]
    request_id: Option<&'a RequestTag>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    status: Option<u16>,
    message_type: MessageType,
    #[schema(min_items = 2, max_items = 2)]
    operations: Vec<RewrapOperation>,
    #[schema(value_type = Envelope)]
    jwe: Verbatim<'a>,
}

// Not documented: the schema of each member would repeat it.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum RewrapOperation {
    Decrypt,
    Encrypt,
}

/// The contexts of both envelopes.
struct Contexts<'a> {
    opening: Option<&'a Context>,
    sealing: Option<&'a Context>,
}

impl Protection {
    /// Creates a new envelope from the one in `body`.
    pub async fn rewrap(&self, mut call: Call, body: BodyBytes) -> Result<Answer, Unrecorded> {
        let this = self.clone();
        self.run_to_completion(call.lane(), async move {
            let outcome = this.try_rewrap(&mut call, &body).await;
            this.conclude(call, outcome).await
        })
        .await
    }

    async fn try_rewrap(&self, call: &mut Call, body: &[u8]) -> Result<Body, Refusal> {
        let (application, text) = self.admit(call, body).await?;
        self.rewrap_one(call, &application, text).await
    }

    /// One envelope of a request or of a batch.
    pub(super) async fn rewrap_one(
        &self,
        call: &mut Call,
        application: &Application,
        text: Text<'_>,
    ) -> Result<Body, Refusal> {
        let is_bound = application.bound_policy().is_some();
        let (lane, size) = (call.lane(), text.as_str().len());
        let reading = || read(call, text, is_bound);
        let (form, request) = self.long_work.run(lane, Cost::Low, size, reading).await?;
        let (envelope, member) = form.into_envelope(self.dependencies.post_quantum)?;
        call.note_ctx(envelope.ctx());
        let permit = self.permit_rewrapping(
            call,
            application,
            request.policy_number.as_deref(),
            request.to_policy_number.as_deref(),
            envelope,
        );
        let permit = permit.instrument(step!("permit")).await?;
        let contexts = Contexts {
            opening: request.context.as_ref(),
            sealing: new_context(
                permit.target(),
                request.context.as_ref(),
                request.to_context.as_ref(),
            )?,
        };
        let grounds = permit.grounds();
        let resealed = self.reseal(call, permit, contexts, member);
        let resealed = resealed.instrument(step!("crypto")).await?;
        self.check_again(call, application, Some(grounds)).await?;
        Ok(resealed)
    }

    async fn permit_rewrapping(
        &self,
        call: &mut Call,
        application: &Application,
        number: Option<&str>,
        target_number: Option<&str>,
        envelope: Envelope,
    ) -> Result<RewrapPermit, Refusal> {
        let Dependencies { policies, keyring, .. } = &self.dependencies;
        let from = self.resolve(call, application, number).await?;
        let target = match target_number {
            Some(_) => policies.resolve(application, target_number).await?,
            None => from.clone(),
        };
        call.sealing().policy_number = Some(target.policy_number.as_str().into());
        let key = keyring.receiving_algorithm(&target).await?;
        let permit = policies.permit_rewrapping(application, from, target, envelope, key);
        let permit = permit.await?;
        permit.source().unprotectable()?;
        Ok(permit)
    }

    async fn reseal(
        &self,
        call: &mut Call,
        permit: RewrapPermit,
        contexts: Contexts<'_>,
        member: &str,
    ) -> Result<Body, Refusal> {
        // No failure mode lets a payload out of an envelope, or loses it.
        match permit.target().verdict() {
            Verdict::Protect => {}
            Verdict::Refuse | Verdict::PassThrough | Verdict::Drop => {
                return Err(Refusal::PolicyNotActive);
            }
        }
        let (opening, sealing) = permit.into_parts();
        let old_key = self.dependencies.keyring.to_unprotect(opening).await;
        let old_key = old_key.map_err(Refusal::of_destination)?;
        call.note_key(old_key.id());
        let new_key = self.dependencies.keyring.to_protect(&sealing).await;
        let new_key = new_key.map_err(Refusal::of_destination)?;
        call.sealing().key_id = Some(new_key.id());
        let lane = call.lane();
        let plaintext = self.open(lane, old_key, contexts.opening, member).await?;
        let sealing = || {
            let payload = str::from_utf8(plaintext.as_bytes()).map_err(|_| Refusal::Unopenable)?;
            let entropy = &self.dependencies.entropy;
            let sealed = Sealed::new(&new_key, entropy, contexts.sealing, payload)?;
            call.sealing().ctx = sealed.ctx;
            let answer = RewrappedPayload {
                request_id: call.request_id(),
                status: call.item_status(),
                message_type: MessageType::ProtectedPayload,
                operations: vec![RewrapOperation::Decrypt, RewrapOperation::Encrypt],
                jwe: sealed.jwe(),
            };
            written(sealed.len(), &answer)
        };
        let size = plaintext.as_bytes().len();
        self.long_work.finish(lane, Cost::Low, size, sealing).await
    }
}

/// The context of an envelope under `target`. One that was only given for the old envelope does not
/// matter where new envelopes have none.
fn new_context<'a>(
    target: &Policy,
    context: Option<&'a Context>,
    to_context: Option<&'a Context>,
) -> Result<Option<&'a Context>, Problem> {
    let chosen = match target.key_ownership {
        KeyOwnership::ServiceManaged => to_context.or(context),
        KeyOwnership::DestinationManaged => to_context,
    };
    target.check_context("toContext", chosen.is_some())?;
    Ok(chosen)
}

fn read<'a>(
    call: &mut Call,
    text: Text<'a>,
    is_bound: bool,
) -> Result<(EnvelopeForm, RewrapRequest<'a>), Problems> {
    let names = [RewrapRequest::MEMBERS, call.ignored()].concat();
    let mut members = Members::exactly(text, &names);
    EnvelopeForm::note(call, &mut members);
    let request = RewrapRequest::read(&mut members);
    require_policy(&mut members, is_bound);
    if let Some(request) = &request {
        let number = request.policy_number.as_deref();
        let target = request.to_policy_number.as_deref().or(number);
        call.note_policy(number);
        call.sealing().policy_number = target.map(Into::into);
    }
    members.finish(|| {
        let mut request = request?;
        let form = EnvelopeForm::of(request.jwe.take(), request.protected_payload.as_deref())?;
        Some((form, request))
    })
}

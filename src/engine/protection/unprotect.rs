//! From an envelope back to the payload that was protected.

use std::borrow::Cow;

use serde::Serialize;
use tracing::Instrument as _;
use utoipa::ToSchema;

use super::body::{Reference, borrowed_request, require_policy, written};
use super::form::EnvelopeForm;
use super::long_work::Cost;
use super::{Answer, Body, Call, Dependencies, Protection, Refusal};
use crate::audit::Unrecorded;
use crate::auth::Application;
use crate::body_memory::BodyBytes;
use crate::keys::{NotOpened, Opener};
use crate::operation::Operation;
use crate::policy::{OpeningPermit, PolicyNumber};
use crate::request_tag::RequestTag;
use crate::telemetry::step;
use formats::envelope::{Context, Envelope, Plaintext};
use formats::json::{Members, Text, Verbatim};
use formats::problem::Problems;

borrowed_request! {
    /// An envelope to open, in exactly one of two forms.
    UnprotectRequest<'a> {
        jwe "jwe": Option<Envelope>,
        /// The legacy form of `jwe`: the envelope's JSON or its compact serialization in base64url; or
        /// the compact serialization itself.
        protected_payload "protectedPayload": Option<Cow<'a, str>>,
        /// The policy of the envelope. Default: the policy that is bound to the API key.
        policy_number "policyNumber": Option<Reference<'a, PolicyNumber>>,
        /// The context with which the envelope was made; absent if it was made without one.
        context "context": Option<Context>,
    } or answer
}

/// The payload of an envelope.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unprotected<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RequestTag, required)]
    request_id: Option<&'a RequestTag>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    status: Option<u16>,
    #[schema(min_items = 1, max_items = 1)]
    operations: Vec<UnprotectOperation>,
    /// The unchanged text of the protected payload.
    #[schema(value_type = Value)]
    payload: Verbatim<'a>,
}

// Not documented: the schema of each member would repeat it.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum UnprotectOperation {
    Decrypt,
}

impl Protection {
    /// Opens the envelope in `body` with the private key of its policy's destination.
    pub async fn unprotect(&self, mut call: Call, body: BodyBytes) -> Result<Answer, Unrecorded> {
        let this = self.clone();
        self.run_to_completion(call.lane(), async move {
            let outcome = this.try_unprotect(&mut call, &body).await;
            this.conclude(call, outcome).await
        })
        .await
    }

    async fn try_unprotect(&self, call: &mut Call, body: &[u8]) -> Result<Body, Refusal> {
        let (application, text) = self.admit(call, body).await?;
        self.unprotect_one(call, &application, text).await
    }

    /// One envelope of a request or of a batch.
    pub(super) async fn unprotect_one(
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
        let number = request.policy_number.as_deref();
        let permitted = async {
            let policy = self.resolve(call, application, number).await?;
            let policies = &self.dependencies.policies;
            Ok::<_, Refusal>(policies.permit_opening(application, policy, envelope).await?)
        };
        let permit = permitted.instrument(step!("permit")).await?;
        let grounds = permit.grounds();
        let recovered = self.recover(call, permit, request.context.as_ref(), member);
        let recovered = recovered.instrument(step!("crypto")).await?;
        self.check_again(call, application, Some(grounds)).await?;
        Ok(recovered)
    }

    async fn recover(
        &self,
        call: &mut Call,
        permit: OpeningPermit,
        context: Option<&Context>,
        member: &str,
    ) -> Result<Body, Refusal> {
        let key = self.dependencies.keyring.to_unprotect(permit).await;
        let key = key.map_err(Refusal::of_destination)?;
        call.note_key(key.id());
        let lane = call.lane();
        let plaintext = self.open(lane, key, context, member).await?;
        let writing = || {
            let payload = str::from_utf8(plaintext.as_bytes()).map_err(|_| Refusal::Unopenable)?;
            let answer = Unprotected {
                request_id: call.request_id(),
                status: call.item_status(),
                operations: vec![UnprotectOperation::Decrypt],
                payload: Verbatim(payload),
            };
            written(payload.len(), &answer)
        };
        let size = plaintext.as_bytes().len();
        self.long_work.finish(lane, Cost::Low, size, writing).await
    }

    /// Opens the envelope that the request has in `member`.
    pub(super) async fn open(
        &self,
        lane: u64,
        key: Opener<'_>,
        context: Option<&Context>,
        member: &str,
    ) -> Result<Plaintext, Refusal> {
        let Dependencies { entropy, keyring, .. } = &self.dependencies;
        let algorithms = key.algorithms();
        let opened = match key.ask(entropy).await {
            Ok(answered) => {
                let size = answered.size();
                let opening = || answered.open(entropy, context);
                self.long_work.finish(lane, Cost::Low, size, opening).await
            }
            Err(not_opened) => Err(not_opened),
        };
        if opened.is_ok() {
            keyring.count_legacy_use(Operation::Unprotect, algorithms);
        }
        opened.map_err(|not_opened| match not_opened {
            NotOpened::Problems(problems) => inside(member, problems).into(),
            NotOpened::Unopenable(_) => Refusal::Unopenable,
            NotOpened::KeyError(not_done) => not_done.into(),
        })
    }
}

fn read<'a>(
    call: &mut Call,
    text: Text<'a>,
    is_bound: bool,
) -> Result<(EnvelopeForm, UnprotectRequest<'a>), Problems> {
    let names = [UnprotectRequest::MEMBERS, call.ignored()].concat();
    let mut members = Members::exactly(text, &names);
    EnvelopeForm::note(call, &mut members);
    let request = UnprotectRequest::read(&mut members);
    require_policy(&mut members, is_bound);
    members.finish(|| {
        let mut request = request?;
        let form = EnvelopeForm::of(request.jwe.take(), request.protected_payload.as_deref())?;
        Some((form, request))
    })
}

fn inside(member: &str, problems: Problems) -> Problems {
    let mut seen_from_outside = Problems::default();
    seen_from_outside.note_inside(member, problems);
    seen_from_outside
}

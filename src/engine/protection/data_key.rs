//! Keys with which applications encrypt large data themselves.

use serde::Serialize;
use tracing::Instrument as _;
use utoipa::ToSchema;
use zeroize::Zeroizing;

use super::body::{Base64, Reference, borrowed_request, require_policy, written};
use super::sealing::Sealed;
use super::{Answer, Body, Call, Protection, Refusal};
use crate::audit::Unrecorded;
use crate::body_memory::BodyBytes;
use crate::closed_set::ClosedSet;
use crate::keys::PermittedKey;
use crate::policy::{PolicyNumber, PolicyPermit, Verdict, to};
use crate::request_tag::RequestTag;
use crate::telemetry::step;
use formats::binary::append_base64;
use formats::closed_set;
use formats::envelope::{Context, Envelope};
use formats::json::{Members, Text, Verbatim};
use formats::material::Algorithm;
use formats::problem::Problems;
use formats::wiped::Wiped;

borrowed_request! {
    /// A request for a data key.
    DataKeyRequest<'a> {
        /// The policy that protects the data key. Default: the policy that is bound to the API key.
        policy_number "policyNumber": Option<Reference<'a, PolicyNumber>>,
        /// The context of the envelope. `/unprotect` needs the same context.
        context "context": Option<Context>,
        /// The algorithm of the data key. Default: `AES-256`.
        algorithm "algorithm": Option<DataKeyAlgorithm>,
        /// Whether the response contains the data key itself. Default: true.
        plaintext "plaintext": Option<bool>,
    }
}

/// A data key and an envelope that contains it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataKey<'a> {
    request_id: &'a RequestTag,
    algorithm: DataKeyAlgorithm,
    /// The data key. Absent if the request has `plaintext` false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, content_encoding = "base64")]
    key: Option<Base64<&'a [u8]>>,
    /// The envelope. Its payload is `key` as a string.
    #[schema(value_type = Envelope)]
    jwe: Verbatim<'a>,
}

closed_set! {
    /// The algorithm of a data key.
    #[derive(Default)]
    pub(crate) enum DataKeyAlgorithm: "DataKeyAlgorithm" {
        /// 256 bits.
        #[default]
        Aes256 = "AES-256",
        /// 128 bits.
        Aes128 = "AES-128",
    }
}

impl ClosedSet for DataKeyAlgorithm {}

impl DataKeyAlgorithm {
    const fn algorithm(self) -> Algorithm {
        match self {
            Self::Aes256 => Algorithm::Aes256,
            Self::Aes128 => Algorithm::Aes128,
        }
    }

    const fn bytes(self) -> usize {
        match self {
            Self::Aes256 => 32,
            Self::Aes128 => 16,
        }
    }
}

impl Protection {
    /// Makes a data key under the policy that `body` names.
    pub async fn make_data_key(
        &self,
        mut call: Call,
        body: BodyBytes,
    ) -> Result<Answer, Unrecorded> {
        let this = self.clone();
        let recorded = self.run_to_completion(call.lane(), async move {
            let outcome = this.try_make_data_key(&mut call, &body).await;
            this.record(call, outcome)
        });
        recorded.await?.answer().await
    }

    async fn try_make_data_key(&self, call: &mut Call, body: &[u8]) -> Result<Body, Refusal> {
        let (application, text) = self.admit(call, body).await?;
        let is_bound = application.bound_policy().is_some();
        let request = read(text, is_bound)?;
        let number = request.policy_number.as_deref();
        let data_key = Some(request.algorithm.unwrap_or_default().algorithm());
        let permit = self.permit(call, &application, number, data_key).await?;
        let policy = permit.policy();
        policy.check_context("context", request.context.is_some())?;
        // No failure mode applies: a data key that is not protected would be lost.
        match policy.verdict() {
            Verdict::Protect => {}
            Verdict::Refuse | Verdict::PassThrough | Verdict::Drop => {
                return Err(Refusal::PolicyNotActive);
            }
        }
        let step = step!("crypto");
        let key = self.dependencies.keyring.to_protect(&permit).instrument(step.clone()).await;
        let key = key.map_err(Refusal::of_destination)?;
        call.note_key(key.id());
        let made = step.in_scope(|| self.new_data_key(call, &key, &request))?;
        self.check_again(call, &application, Some(permit.grounds())).await?;
        Ok(made)
    }

    fn new_data_key(
        &self,
        call: &mut Call,
        key: &PermittedKey<'_, PolicyPermit<to::Protect>>,
        request: &DataKeyRequest<'_>,
    ) -> Result<Body, Refusal> {
        let entropy = &self.dependencies.entropy;
        let algorithm = request.algorithm.unwrap_or_default();
        let mut bytes = Zeroizing::new([0; DataKeyAlgorithm::Aes256.bytes()]);
        entropy.fill(bytes.as_mut_slice());
        let data_key = bytes.get(..algorithm.bytes()).unwrap_or_default();
        let payload = string_of(data_key);
        let sealed = Sealed::new(key, entropy, request.context.as_ref(), &payload)?;
        call.note_ctx(sealed.ctx);
        let is_wanted = request.plaintext.unwrap_or(true);
        let answer = DataKey {
            request_id: call.tag(),
            algorithm,
            key: is_wanted.then_some(Base64(data_key)),
            jwe: sealed.jwe(),
        };
        written(sealed.len(), &answer)
    }
}

/// The JSON string of a data key in base64.
fn string_of(data_key: &[u8]) -> Wiped<String> {
    let mut string = Wiped::new(String::with_capacity(64));
    string.push('"');
    append_base64(&mut string, data_key);
    string.push('"');
    string
}

fn read(text: Text<'_>, is_bound: bool) -> Result<DataKeyRequest<'_>, Problems> {
    let mut members = Members::exactly(text, DataKeyRequest::MEMBERS);
    let request = DataKeyRequest::read(&mut members);
    require_policy(&mut members, is_bound);
    members.finish(|| request)
}

//! From a payload to an envelope for the destination of a policy.

use tracing::Instrument as _;

use super::writing::Writing;
use super::{Answer, Body, Call, Protection, Refusal, caught};
use crate::audit::Unrecorded;
use crate::json::{Members, Text};
use crate::policy::{PolicyPermit, Verdict, to};
use crate::problem::{Problem, Problems};
use crate::telemetry::step;

const WARNING: &str = "The policy is not active: the payload was passed through unprotected";
const DROPPED: &str = "The policy is not active: the payload was dropped";

struct Request<'a> {
    payload: Text<'a>,
    policy_number: Option<std::borrow::Cow<'a, str>>,
}

impl Protection {
    /// Protects the payload of `body` under the policy that it names.
    ///
    /// Needs no token, and nothing is awaited between sealing and handing over the record.
    ///
    /// # Errors
    /// When the outcome could not be recorded; then nothing leaves.
    pub async fn protect(&self, mut call: Call, body: &[u8]) -> Result<Answer, Unrecorded> {
        self.rooms.recorder.ready()?;
        caught(async {
            let outcome = self.try_protect(&mut call, body).await;
            self.conclude(call, outcome).await
        })
        .await
    }

    async fn try_protect(&self, call: &mut Call, body: &[u8]) -> Result<Body, Refusal> {
        let (application, text) = call.admit(body)?;
        let is_bound = application.bound_policy().is_some();
        let request = read(call, text, is_bound)?;
        let number = request.policy_number.as_deref();
        let permit = self.permit(call, &application, number).await?;
        let payload = request.payload.as_str();
        match permit.policy().verdict() {
            Verdict::Protect => {
                let sealed = self.seal(call, &permit, payload);
                sealed.instrument(step!("crypto")).await
            }
            Verdict::Refuse => Err(Refusal::PolicyNotActive),
            Verdict::PassThrough => Ok(begin(call, payload.len())
                .json("operations", "[]")
                .json("payload", payload)
                .plain("warning", WARNING)
                .finish()),
            Verdict::Drop => Ok(begin(call, 0)
                .json("operations", "[]")
                .json("dropped", "true")
                .plain("message", DROPPED)
                .finish()),
        }
    }

    async fn seal(
        &self,
        call: &mut Call,
        permit: &PolicyPermit<to::Protect>,
        payload: &str,
    ) -> Result<Body, Refusal> {
        let key = self.rooms.keyring.to_protect(permit).await;
        let key = key.map_err(Refusal::of_destination)?;
        call.note_key(key.id());
        // The five members take about 1,200 bytes beside the payload in base64.
        let answer = begin(call, payload.len() / 3 * 4 + 1_200)
            .json("operations", r#"["encrypt"]"#)
            .written("jwe", |out| {
                key.seal(&self.rooms.entropy, payload.as_bytes(), out)
            })?;
        Ok(answer.finish())
    }
}

fn begin(call: &Call, length: usize) -> Writing {
    Writing::answer_to(call.tag(), length).plain("messageType", "ProtectedPayload")
}

fn read<'a>(call: &mut Call, text: Text<'a>, is_bound: bool) -> Result<Request<'a>, Problems> {
    let mut members = Members::of(text, &["payload", "policyNumber"]);
    let payload = members.required("payload");
    call.note_payload(payload);
    let policy_number = members.optional_string("policyNumber");
    if policy_number == Some(None) && !is_bound {
        members.note(Problem::required("policyNumber"));
    }
    members.finish(|| {
        Some(Request {
            payload: payload?,
            policy_number: policy_number?,
        })
    })
}

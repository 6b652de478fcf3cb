//! From an envelope back to the payload that was protected.

use std::borrow::Cow;

use tracing::Instrument as _;

use super::writing::Writing;
use super::{Answer, Body, Call, Protection, Refusal};
use crate::audit::Unrecorded;
use crate::envelope::{Envelope, NotAnEnvelope};
use crate::json::{Members, Text};
use crate::keys::NotOpened;
use crate::policy::{PolicyPermit, to};
use crate::problem::{Code, Problem, Problems};
use crate::telemetry::step;
use crate::wiped::Wiped;

struct Request<'a> {
    form: Form,
    policy_number: Option<Cow<'a, str>>,
}

/// The two forms of an envelope.
enum Form {
    Members(Envelope),
    Legacy(Result<Envelope, NotAnEnvelope>),
}

impl Protection {
    /// Opens the envelope in `body` with the private key of its policy's destination.
    ///
    /// # Errors
    /// When the outcome could not be recorded; then nothing leaves.
    pub async fn unprotect(
        &self,
        mut call: Call,
        body: Wiped<Vec<u8>>,
    ) -> Result<Answer, Unrecorded> {
        let this = self.clone();
        self.unabandoned(call.lane(), async move {
            let outcome = this.try_unprotect(&mut call, &body).await;
            this.conclude(call, outcome).await
        })
        .await
    }

    async fn try_unprotect(&self, call: &mut Call, body: &[u8]) -> Result<Body, Refusal> {
        let (application, text) = call.admit(body)?;
        let is_bound = application.bound_policy().is_some();
        let request = read(call, text, is_bound)?;
        let (envelope, member) = match request.form {
            Form::Members(envelope) => (envelope, "jwe"),
            Form::Legacy(envelope) => (envelope?, "protectedPayload"),
        };
        let number = request.policy_number.as_deref();
        let permit = self.permit(call, &application, number).await?;
        let recovered = self.recover(call, &permit, envelope, member);
        recovered.instrument(step!("crypto")).await
    }

    async fn recover(
        &self,
        call: &mut Call,
        permit: &PolicyPermit<to::Unprotect>,
        envelope: Envelope,
        member: &str,
    ) -> Result<Body, Refusal> {
        let key = self.rooms.keyring.to_unprotect(permit, &envelope).await;
        let key = key.map_err(Refusal::of_destination)?;
        call.note_key(key.id());
        let opened = key.open(&self.rooms.entropy, envelope).await;
        let plaintext = opened.map_err(|not_opened| match not_opened {
            NotOpened::Problems(problems) => inside(member, problems).into(),
            NotOpened::Unopenable(_) => Refusal::Unopenable,
            NotOpened::NotDone(not_done) => not_done.into(),
        })?;
        let payload = str::from_utf8(plaintext.as_bytes()).map_err(|_| Refusal::Unopenable)?;
        Ok(Writing::answer_to(call.tag(), payload.len())
            .json("operations", r#"["decrypt"]"#)
            .json("payload", payload)
            .finish())
    }
}

fn read<'a>(call: &mut Call, text: Text<'a>, is_bound: bool) -> Result<Request<'a>, Problems> {
    let mut members = Members::of(text, &["jwe", "protectedPayload", "policyNumber"]);
    let policy_number = members.optional_string("policyNumber");
    let (jwe, legacy) = (members.get("jwe"), members.get("protectedPayload"));
    call.note_payload(jwe.or(legacy));
    let form = match (jwe, legacy) {
        (Some(jwe), None) => match Envelope::parse(jwe) {
            Ok(envelope) => Some(Form::Members(envelope)),
            Err(problems) => {
                members.note_inside("jwe", problems);
                None
            }
        },
        (None, Some(_)) => members
            .required_string("protectedPayload")
            .map(|text| Form::Legacy(Envelope::parse_legacy(&text))),
        (Some(_), Some(_)) => {
            let message = "must be absent when jwe is present";
            members.note(Problem::new("protectedPayload", Code::Conflict, message));
            None
        }
        (None, None) => {
            let message = "is required (or protectedPayload, the legacy form)";
            members.note(Problem::new("jwe", Code::Required, message));
            None
        }
    };
    if policy_number == Some(None) && !is_bound {
        members.note(Problem::required("policyNumber"));
    }
    members.finish(|| {
        Some(Request {
            form: form?,
            policy_number: policy_number?,
        })
    })
}

fn inside(member: &str, problems: Problems) -> Problems {
    let mut seen_from_outside = Problems::default();
    seen_from_outside.note_inside(member, problems);
    seen_from_outside
}

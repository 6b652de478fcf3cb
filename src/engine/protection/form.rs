//! The two forms of an envelope in a request.

use super::{Call, Refusal};
use formats::envelope::{Envelope, NotAnEnvelope};
use formats::json::Members;
use formats::problem::{Code, Problem, Problems};

/// An envelope in one of the two forms.
#[derive(Debug)]
pub(super) enum EnvelopeForm {
    Members(Envelope),
    Legacy(Result<Envelope, NotAnEnvelope>),
}

impl EnvelopeForm {
    /// Notes the envelope of a request as its payload. Notes a problem unless it has exactly one form.
    pub(super) fn note(call: &mut Call, members: &mut Members<'_>) {
        let jwe = members.optional("jwe");
        let legacy = members.optional("protectedPayload");
        call.note_payload(jwe.or(legacy));
        if jwe.is_some() == legacy.is_some() {
            members.note(not_one_form(jwe.is_some()));
        }
    }

    /// The form of the members `jwe` and `protectedPayload`; `None` unless there is exactly one.
    pub(super) fn of(jwe: Option<Envelope>, legacy: Option<&str>) -> Option<Self> {
        match (jwe, legacy) {
            (Some(envelope), None) => Some(Self::Members(envelope)),
            (None, Some(text)) => Some(Self::Legacy(Envelope::parse_legacy(text))),
            (None, None) | (Some(_), Some(_)) => None,
        }
    }

    /// The envelope, and the member that has it. Envelopes of HPKE need `post_quantum`.
    pub(super) fn into_envelope(
        self,
        post_quantum: bool,
    ) -> Result<(Envelope, &'static str), Refusal> {
        let is_allowed = |envelope: &Envelope| post_quantum || !envelope.is_hpke();
        match self {
            Self::Members(envelope) if is_allowed(&envelope) => Ok((envelope, "jwe")),
            Self::Members(_) => Err(Problems::from(not_allowed()).into()),
            Self::Legacy(envelope) => {
                let envelope = envelope?;
                let envelope = is_allowed(&envelope).then_some(envelope);
                Ok((envelope.ok_or(NotAnEnvelope)?, "protectedPayload"))
            }
        }
    }
}

/// The settings do not allow envelopes of HPKE.
fn not_allowed() -> Problem {
    let message = "must be RSA-OAEP or ECDH-ES: the setting envelopes.post_quantum is off";
    Problem::new("jwe.protected.alg", Code::Unsupported, message)
}

/// A request has both forms of an envelope, or neither.
fn not_one_form(has_both: bool) -> Problem {
    if has_both {
        let message = "send either jwe or protectedPayload, not both";
        Problem::new("protectedPayload", Code::Conflict, message)
    } else {
        let message = "send the envelope as jwe (or, in its legacy form, as protectedPayload)";
        Problem::new("jwe", Code::Required, message)
    }
}

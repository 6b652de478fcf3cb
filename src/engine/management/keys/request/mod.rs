//! Requests for new keys: the body and the requested key.

mod body;
mod choose;
mod jwk_intent;
mod jwk_members;
mod kind;
mod length;
mod material;
mod partner_kid;
mod source;
mod token_object;
mod wrapped;

use self::body::KeyText;
pub use self::body::{KeyRequest, TokenObjectRequest, WrappedKeyRequest};
use self::kind::StatedKind;
use self::partner_kid::partner_kid;
pub(super) use self::source::KeySource;
use super::rules::KeyRules;
use crate::ids::ServiceId;
use crate::keys::{KeyVersion, RotationDays};
use crate::management::Error;
use crate::management::check::{self, checked};
use crate::resource::{Name, Printable, ResourceRequest};
use formats::clock::Timestamp;
use formats::material::Algorithm;
use formats::problem::{Code, Problem, Problems};

/// A key to obtain from its source, and to record.
pub(super) struct RequestedKey {
    pub(super) allow_extractable: bool,
    pub(super) service_id: ServiceId,
    pub(super) partner_kid: Option<Printable>,
    pub(super) name: Option<Name>,
    /// The version that the request states.
    pub(super) version: Option<KeyVersion>,
    pub(super) activate: bool,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) rotation_days: Option<RotationDays>,
    pub(super) source: KeySource,
}

impl RequestedKey {
    /// Checks a request. This may take as long as a password hash.
    pub(super) fn check(
        request: ResourceRequest<KeyRequest>,
        rules: KeyRules,
        post_quantum: bool,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let (mut problems, body) = (request.problems, request.body);
        if body.is_in_plaintext() && !rules.plaintext_import {
            return Err(Error::NotAllowed(
                "the settings do not allow keys in plaintext: wrap the key, or set \
                 keys.allow_plaintext_import",
            ));
        }
        let service_id = body.service_id.clone().or_default("serviceId", None, &mut problems);
        check::expiry(&mut problems, now, None, &body.expires_at);
        let expires_at = body.expires_at.clone().or_keep(&None);
        let (usage, algorithm) = (body.r#use.given().copied(), body.algorithm.given().copied());
        let kind = StatedKind::new(usage, algorithm, &mut problems);
        if !post_quantum {
            refuse_encapsulation(&mut problems, "algorithm", algorithm);
        }
        let rotation_days = body.rotation_days.clone().or_keep(&None);
        let is_generated = body.generate.given() == Some(&true);
        check_rotation(&mut problems, is_generated, rotation_days);
        let version = body.version.given().copied();
        if version.is_some() && is_generated {
            let message = "is only supported for keys that are imported or adopted";
            problems.note(Problem::new("version", Code::Unsupported, message));
        }
        let (name, activate) = (body.name.given().cloned(), body.activate.clone().or_keep(&true));
        let partner_kid = partner_kid(&body, &mut problems);
        let is_jwk = body.public_key.given().is_some_and(KeyText::is_jwk);
        let source = KeySource::of(kind, body, &mut problems);
        if let (false, Some(KeySource::Public { key, .. })) = (post_quantum, &source) {
            let member = if is_jwk { "publicKey.alg" } else { "publicKey" };
            refuse_encapsulation(&mut problems, member, Some(key.algorithm()));
        }
        let requested = service_id.zip(source).map(|(service_id, source)| Self {
            service_id,
            allow_extractable: rules.extractable,
            partner_kid,
            name,
            version,
            activate,
            expires_at,
            rotation_days,
            source,
        });
        checked(problems, requested)
    }
}

/// Refuses a key for key encapsulation, whose algorithm the request has in `member`.
fn refuse_encapsulation(problems: &mut Problems, member: &str, algorithm: Option<Algorithm>) {
    if algorithm.is_some_and(|algorithm| algorithm.kem().is_some()) {
        let message = "must be another algorithm: the setting envelopes.post_quantum is off";
        problems.note(Problem::new(member, Code::Unsupported, message));
    }
}

/// Checks that a key with a rotation is one that the token generates.
pub(super) fn check_rotation(
    problems: &mut Problems,
    is_generated: bool,
    days: Option<RotationDays>,
) {
    if days.is_some() && !is_generated {
        let message = "is only supported for keys that the token generates";
        problems.note(Problem::new("rotationDays", Code::Unsupported, message));
    }
}

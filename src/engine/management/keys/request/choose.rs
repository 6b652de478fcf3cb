//! Finds the source that a request names.

use super::body::KeyRequest;
use super::kind::StatedKind;
use super::material::{private_key, public_key, secret_source};
use super::source::KeySource;
use super::token_object::token_object;
use super::wrapped::wrapped_source;
use crate::keys::Usage;
use crate::resource::Member;
use formats::problem::{Code, Problem, Problems};

impl KeySource {
    /// The source that the request names.
    pub(super) fn of(kind: StatedKind, body: KeyRequest, problems: &mut Problems) -> Option<Self> {
        if !members_fit(&body, problems) {
            return None;
        }
        let public = match &body.public_key {
            Member::Absent => None,
            Member::Wrong => return None,
            Member::Given(text) => Some(public_key(kind, text, problems)?),
        };
        if let Member::Given(Some(wrapped)) = body.wrapped_key {
            return wrapped_source(kind, &wrapped, public, problems);
        }
        if let Member::Given(Some(object)) = body.token_object {
            return token_object(kind, object, public, problems);
        }
        if let Member::Given(text) = body.private_key {
            let key = private_key(kind, &text.0, body.passphrase, problems)?;
            let usage = kind.usage_of(key.algorithm(), problems)?;
            return Some(Self::Private { usage, key });
        }
        if let Member::Given(text) = body.secret_key {
            return secret_source(kind, &text, problems);
        }
        if let Some(key) = public {
            let usage = kind.usage_of(key.algorithm(), problems)?;
            return Some(Self::Public { usage, key });
        }
        let algorithm =
            kind.algorithm.unwrap_or_else(|| kind.usage.unwrap_or(Usage::Enc).likely_algorithm());
        let usage = kind.usage_for(algorithm, problems)?;
        Some(Self::Generated { usage, algorithm })
    }
}

/// Checks that the request has one source, and no members that belong to another.
fn members_fit(body: &KeyRequest, problems: &mut Problems) -> bool {
    let is_wrong = body.generate == Member::Wrong
        || matches!(body.wrapped_key, Member::Wrong)
        || matches!(body.private_key, Member::Wrong)
        || matches!(body.secret_key, Member::Wrong)
        || matches!(body.token_object, Member::Wrong)
        || matches!(body.public_key, Member::Wrong);
    let sources = [
        ("generate", body.generate.given() == Some(&true)),
        ("wrappedKey", matches!(body.wrapped_key, Member::Given(Some(_)))),
        ("privateKey", body.private_key.given().is_some()),
        ("secretKey", body.secret_key.given().is_some()),
        ("tokenObject", matches!(body.token_object, Member::Given(Some(_)))),
    ];
    let given: Vec<_> =
        sources.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)).collect();
    let has_public = body.public_key.given().is_some();
    let mut found = Vec::new();
    match given.as_slice() {
        [] if has_public || is_wrong => {}
        [] => found.push(Problem::of_body(
            Code::Required,
            "must have one source: generate, publicKey, wrappedKey, privateKey, secretKey or \
             tokenObject",
        )),
        [source] if has_public && !matches!(*source, "wrappedKey" | "tokenObject") => {
            let message = format!("must be left out with {source}");
            found.push(Problem::new("publicKey", Code::Conflict, message));
        }
        [_] => {}
        [first, others @ ..] => found.extend(others.iter().map(|other| {
            let message = format!("must be left out with {first}: a key has one source");
            Problem::new(*other, Code::Conflict, message)
        })),
    }
    if !body.passphrase.is_absent() && body.private_key.is_absent() {
        let message = "must be left out without an encrypted privateKey";
        found.push(Problem::new("passphrase", Code::Conflict, message));
    }
    let fit = !is_wrong && found.is_empty();
    for problem in found {
        problems.note(problem);
    }
    fit
}

//! Keys that a request has wrapped for the token.

use super::body::WrappedKeyRequest;
use super::kind::StatedKind;
use super::length::likely_algorithm;
use super::source::KeySource;
use crate::keys::Wrapped;
use formats::material::{Algorithm, PublicKey};
use formats::problem::{Code, Problem, Problems};

pub(super) fn wrapped_source(
    kind: StatedKind,
    body: &WrappedKeyRequest,
    public: Option<PublicKey>,
    problems: &mut Problems,
) -> Option<KeySource> {
    let import_key = *body.import_key_id.given()?;
    let mechanism = *body.mechanism.given()?;
    let ciphertext = body.ciphertext.given()?.0.clone();
    let algorithm = kind
        .algorithm
        .or(public.as_ref().map(PublicKey::algorithm))
        .or_else(|| likely_algorithm(ciphertext.len(), kind.usage));
    let Some(algorithm) = algorithm else {
        let message = "must be given, because the length of the wrapped key does not determine it; \
                       for an elliptic curve, publicKey determines it";
        problems.note(Problem::new("algorithm", Code::Required, message));
        return None;
    };
    if !algorithm.is_importable() {
        let message =
            "must be an algorithm whose keys can be imported; generate the key in the token";
        problems.note(Problem::new("algorithm", Code::Unsupported, message));
        return None;
    }
    if let Some(public) = &public {
        kind.usage_of(public.algorithm(), problems)?;
    } else if algorithm.curve().is_some() || algorithm == Algorithm::Ed25519 {
        let message = "is required for a wrapped key of an elliptic curve";
        problems.note(Problem::new("publicKey", Code::Required, message));
        return None;
    }
    let usage = kind.usage_for(algorithm, problems)?;
    Some(KeySource::Wrapped {
        usage,
        wrapped: Wrapped { import_key, mechanism, ciphertext, algorithm, public },
    })
}

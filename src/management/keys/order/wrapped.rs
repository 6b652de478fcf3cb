//! A key that came wrapped for the token.

use super::length::likely_algorithm;
use super::said::Said;
use super::source::Source;
use crate::binary::from_base64;
use crate::keys::{Mechanism, Wrapped};
use crate::management::keys::WrappedKeyDraft;
use crate::management::{Member, check};
use crate::material::{Algorithm, PublicKey};
use crate::problem::{Code, Problem, Problems};

pub(super) fn wrapped_source(
    found: &mut Problems,
    said: Said,
    draft: WrappedKeyDraft,
    public: Option<PublicKey>,
) -> Option<Source> {
    check::require(
        found,
        [
            ("wrappedKey.importKeyId", draft.import_key_id.is_absent()),
            ("wrappedKey.mechanism", draft.mechanism.is_absent()),
            ("wrappedKey.ciphertext", draft.ciphertext.is_absent()),
        ],
    );
    let (Member::Given(id), Member::Given(mechanism), Member::Given(ciphertext)) =
        (draft.import_key_id, draft.mechanism, draft.ciphertext)
    else {
        return None;
    };
    let import_key = id.parse().ok();
    if import_key.is_none() {
        let message = "there is no such import key";
        found.note(Problem::new(
            "wrappedKey.importKeyId",
            Code::Unknown,
            message,
        ));
    }
    let mechanisms = Mechanism::ALL.map(Mechanism::name);
    let known: Option<Mechanism> =
        check::one_of(found, "wrappedKey.mechanism", &mechanism, &mechanisms);
    let ciphertext = from_base64(&ciphertext).ok();
    if ciphertext.is_none() {
        found.note(Problem::new(
            "wrappedKey.ciphertext",
            Code::Format,
            "must be base64",
        ));
    }
    let length = ciphertext.as_ref().map(Vec::len);
    let algorithm = said
        .algorithm
        .or(public.as_ref().map(PublicKey::algorithm))
        .or_else(|| likely_algorithm(length?, said.usage));
    let Some(algorithm) = algorithm else {
        // Without its length nothing is known of it, and that is told already.
        length?;
        let message = "the length of this wrapped key does not show its algorithm: name it, or \
                       send its publicKey";
        found.note(Problem::new("algorithm", Code::Required, message));
        return None;
    };
    if let Some(public) = &public {
        said.of_key(found, public.algorithm())?;
    } else if algorithm.curve().is_some() || algorithm == Algorithm::Ed25519 {
        let message = "a wrapped key on a curve needs its public half beside it";
        found.note(Problem::new("publicKey", Code::Required, message));
        return None;
    }
    let usage = said.usage_for(found, algorithm)?;
    Some(Source::Wrapped {
        usage,
        wrapped: Wrapped {
            import_key: import_key?,
            mechanism: known?,
            ciphertext: ciphertext?,
            algorithm,
            public,
        },
    })
}

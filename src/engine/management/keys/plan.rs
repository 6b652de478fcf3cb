//! The creation of a key, as approvers see it before the token makes the key.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::judge;
use super::request::{KeySource, RequestedKey};
use crate::keys::{Key, KeyOrigin, Usage};
use crate::management::Event;
use crate::management::changes::StoredRequest;
use formats::material::{Algorithm, PublicKey};

/// The creation of the requested key.
pub(super) fn planned(requested: &RequestedKey, call: Option<&StoredRequest>) -> Event {
    let source = &requested.source;
    let origin = match source {
        KeySource::Generated { .. } => KeyOrigin::Generated,
        KeySource::TokenObject(_) => KeyOrigin::Adopted,
        KeySource::Public { .. }
        | KeySource::Wrapped { .. }
        | KeySource::Private { .. }
        | KeySource::Secret { .. } => KeyOrigin::Imported,
    };
    let only_verifies = matches!(source, KeySource::Public { usage, .. } if *usage != Usage::Enc);
    let judgement = judge::of_creation(origin, requested.activate && !only_verifies);
    Event::planned::<Key>(judgement, &shown(source, call))
}

/// The request, with what follows from it. A digest replaces a wrapped key.
fn shown(source: &KeySource, call: Option<&StoredRequest>) -> Value {
    let mut shown = call.and_then(StoredRequest::body).unwrap_or_default();
    let (usage, algorithm, public) = known(source);
    if let Value::Object(members) = &mut shown {
        members.extend(usage.map(|usage| ("use".to_owned(), json!(usage))));
        members.extend(algorithm.map(|algorithm| ("algorithm".to_owned(), json!(algorithm))));
        let thumbprint = public.map(PublicKey::thumbprint);
        members.extend(thumbprint.map(|thumbprint| ("thumbprint".to_owned(), json!(thumbprint))));
    }
    if let (KeySource::Wrapped { wrapped, .. }, Some(Value::Object(members))) =
        (source, shown.get_mut("wrappedKey"))
    {
        members.remove("ciphertext");
        let digest = Sha256::digest(&wrapped.ciphertext);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        members.insert("ciphertextSha256".to_owned(), json!(digest));
    }
    shown
}

/// The algorithm of the key; none of a key in the token, which can be known only later.
pub(super) fn algorithm_of(source: &KeySource) -> Option<Algorithm> {
    match source {
        KeySource::Private { key, .. } => Some(key.algorithm()),
        KeySource::Secret { algorithm, .. } => Some(*algorithm),
        KeySource::TokenObject(object) => {
            object.algorithm.or_else(|| object.public.as_ref().map(PublicKey::algorithm))
        }
        KeySource::Generated { .. } | KeySource::Public { .. } | KeySource::Wrapped { .. } => {
            known(source).1
        }
    }
}

pub(super) fn known(source: &KeySource) -> (Option<Usage>, Option<Algorithm>, Option<&PublicKey>) {
    match source {
        KeySource::Generated { usage, algorithm } => (Some(*usage), Some(*algorithm), None),
        KeySource::Public { usage, key } => (Some(*usage), Some(key.algorithm()), Some(key)),
        KeySource::Wrapped { usage, wrapped } => {
            let public = wrapped.public.as_ref();
            (Some(*usage), Some(wrapped.algorithm), public)
        }
        KeySource::TokenObject(object) => (object.usage, object.algorithm, object.public.as_ref()),
        // Their requests are not stored.
        KeySource::Private { .. } | KeySource::Secret { .. } => (None, None, None),
    }
}
